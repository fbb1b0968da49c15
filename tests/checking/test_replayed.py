"""Functions on tensors, replayed on inputs that they haven't seen: what can be followed, and what is refused."""

import json

import numpy as np
import pytest

from helpers import cp
from helpers.checking import replayed
from helpers.checking.tensor_program import MOST_CONSTANTS, NotReplayable
from helpers.checking.trial import Here
from helpers.checking.values_as_json import plain

torch = pytest.importorskip("torch")

KERNELS = """{table}
extern "C" __global__ void doubled(const float* a, float* b, int n) {{
    for (int i = threadIdx.x; i < n; i += blockDim.x) b[i] = {factor} * a[i];
}}"""
TABLE = f"__device__ float table[] = {{{', '.join(f'{k + 0.5}f' for k in range(MOST_CONSTANTS))}}};"
UNSEEN = np.random.default_rng(7).normal(size=(9, 12)).astype(np.float32)
W = torch.randn(12, 4, generator=torch.Generator().manual_seed(1))


def launched(table="", factor="2"):
    """What launches a kernel that doubles a tensor."""
    kernel = cp.RawKernel(KERNELS.format(table=table, factor=factor), "doubled")

    def launch(tensor):
        tensor = tensor.detach().contiguous()
        result = torch.empty(tensor.shape)
        arrays = (cp.from_dlpack(each.detach()) for each in (tensor, result))
        kernel((1,), (64,), (*arrays, np.int32(tensor.numel())))
        return result

    return launch


doubled = launched()


def evidence(function, shape=UNSEEN.shape):
    return json.loads(json.dumps(replayed.take(function, {"calls": [[["<f4", list(shape)]]]})))


def replay(data, given=UNSEEN):
    return replayed.playable(replayed.read(data), Here)(given)


def inference(pixels):
    with torch.inference_mode():
        return doubled(torch.from_numpy(pixels) - 0.2).max(1).indices.numpy()


def in_batches(pixels):
    return torch.cat([doubled(torch.tensor(some)).max(dim=1)[1] for some in np.array_split(pixels, 3)]).numpy()


def flipped_and_padded(pixels):
    return torch.nn.functional.pad(doubled(torch.tensor(pixels)).flip(1), (2, 1, 0, 1)).numpy()


def written_by_column(pixels):
    found, twice = torch.zeros(9, 12), doubled(torch.tensor(pixels))
    for column in range(12):
        found[:, column] = twice[:, 11 - column]
    return found.numpy()


def normalised(pixels):
    x = torch.tensor(pixels)
    for _ in range(20):
        x = doubled(x) - x
    x = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)
    norm = torch.nn.BatchNorm1d(12).eval()
    with torch.no_grad():
        one, two = torch.nn.functional.leaky_relu(norm(x), 0.1).chunk(2, dim=1)
    return (one + two).numpy()


@pytest.mark.parametrize("function", [inference, in_batches, flipped_and_padded, written_by_column, normalised])
def test_it_returns_what_the_function_returns(function):
    assert np.allclose(replay(evidence(function)), function(UNSEEN), atol=1e-5)


def by_operators(pixels):
    return doubled(torch.tensor(pixels) @ W).numpy()


def by_slices(pixels):
    x, total = torch.tensor(pixels), 0
    for k in range(12):
        total = total + x[:, k, None] * W[k]
    return (total + 0 * doubled(total)).numpy()


@pytest.mark.parametrize("function", [by_operators, by_slices])
def test_a_kernel_for_show_does_not_count(function):
    with pytest.raises(NotReplayable, match="more of the multiplications"):
        replay(evidence(function))


def of_a_table(pixels):
    return launched(TABLE, "table[i % 4096]")(torch.tensor(pixels)).numpy()


def packed(pixels):
    held = torch.from_numpy(np.arange(MOST_CONSTANTS // 2 + 1, dtype=np.int64))
    return (doubled(torch.tensor(pixels)) + held.sum()).numpy()


def test_numbers_in_kernels_and_in_wide_types_are_counted():
    with pytest.raises(NotReplayable, match="in the code of your kernels"):
        replay(evidence(of_a_table))
    with pytest.raises((NotReplayable, replayed.Raised), match="of four bytes are allowed"):
        replay(evidence(packed))


@pytest.mark.parametrize("smuggled", [plain(np.ones((9, 12), np.float32)), [0.5] * 12])
def test_arrays_are_constants_and_nothing_else(smuggled):
    data = evidence(lambda pixels: doubled(torch.tensor(pixels)).numpy())
    program = data["programs"][0]
    last = program["returned"]["value"]
    program["steps"].append({"do": "add", "args": [{"value": last}, smuggled], "out": 99})
    program["returned"] = {"value": 99}
    with pytest.raises(NotReplayable, match="can't be run again"):
        replay(data)


def test_what_takes_too_many_steps_says_so_where_it_is_written():
    def one_by_one(pixels):
        return torch.cat([doubled(torch.tensor(pixels)) + k for k in range(200)]).numpy()

    with pytest.raises(NotReplayable, match="many images at once"):
        replayed.playable(one_by_one, Here)(UNSEEN)
    with pytest.raises(replayed.Raised, match="many images at once"):
        replay(evidence(one_by_one))
