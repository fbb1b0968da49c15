"""A ladder: one row a version, compared with what is right, in one table."""

import numpy as np
import pytest

from helpers import Launch, cp, cuda, ladder

N = 1000
CODE = r"""
extern "C" __global__ void strided(const float* x, float* out, int n, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = (int)((long long)i * step % n);
    if (i < n) out[at] = x[at] + 1;
}
"""
strided = cp.RawKernel(CODE, "strided")


@cuda.jit
def plus_one(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


@cuda.jit
def plus_two(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 2 if i == 7 else x[i] + 1


@pytest.fixture
def arrays():
    return cp.arange(N, dtype="float32"), cp.zeros(N, dtype="float32")


def rungs(x, out):
    return {
        "1 jumps": Launch(strided, 8, 128, (x, out, np.int32(N), np.int32(7)), "neighbouring lanes lie 7 apart", out),
        "2 in order": Launch(plus_one, (8,), (128,), (x, out), "lane i takes element i", out),
    }


def test_each_rung_is_counted_as_profile_counts_it(arrays):
    found = ladder(rungs(*arrays), expected=np.arange(N) + 1.0)
    assert found["1 jumps"]["global_load_sectors"] > 6 * found["2 in order"]["global_load_sectors"]
    assert found.values("global_load_sectors") == {
        name: launch.profile()["global_load_sectors"] for name, launch in rungs(*arrays).items()
    }


def test_the_table_shows_what_differs_and_says_of_which_kind_it_is(arrays):
    found = ladder(rungs(*arrays), gpus=("A100",))
    headings = dict(found.columns)
    assert headings["load sectors"] == "counted" and headings["A100"] == "modelled"
    assert "barriers" not in headings
    for text in (repr(found), found._repr_html_()):
        assert "2 in order" in text and "lane i takes element i" in text and "modelled" in text


def test_counters_can_be_chosen_in_order(arrays):
    found = ladder(rungs(*arrays), counters=("registers", "global_store_requests"), gpus=())
    assert found.columns == (("registers", "compiler"), ("global store requests", "counted"))
    assert found.rows[1][2][1] == "32"


def test_a_wrong_rung_is_named_with_its_first_wrong_element(arrays):
    x, out = arrays
    wrong = {**rungs(x, out), "3 wrong": Launch(plus_two, 8, 128, (x, out), out=out)}
    with pytest.raises(
        ValueError, match=r"'3 wrong' is wrong in 1 of 1,000 elements, first at 7: it gives 9.0, .* 8.0$"
    ):
        ladder(wrong, expected=np.arange(N) + 1.0)


RACY = """
extern "C" __global__ void total(const float* x, float* out) {
    out[0] += x[threadIdx.x];
}
extern "C" __global__ void late(const float* x, float* out) {
    __shared__ float s[65];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) for (int i = 0; i < 66; ++i) out[0] += s[i % 65];
}"""
WRONG = {
    "total": (
        "race: a read and a write",
        "line 3: out[0] += x[threadIdx.x];",
    ),
    "late": ("uninitialised", "line 9: "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rung_says_what_the_sanitizer_finds_first(arrays, name):
    x, _ = arrays
    out = cp.full(1, 7, "float32")
    with pytest.raises(ValueError, match=f"'{name}' is wrong in 1 of 1 elements") as caught:
        ladder({name: Launch(cp.RawKernel(RACY, name), 1, 64, (x, out), out=out, before=0)}, expected=[2016.0])
    for words in ("The sanitizer says: error: ", *WRONG[name]):
        assert words in str(caught.value)
    assert f"it gives {float(out[0])}," in str(caught.value)  # the result is still the one that was compared


def test_a_rung_that_writes_nothing_does_not_pass_on_the_rung_before(arrays):
    x, out = arrays
    idle = {**rungs(x, out), "3 idle": Launch(plus_one, 1, 1, (x, out), out=out)}
    with pytest.raises(ValueError, match="'3 idle' is wrong in 999 of"):
        ladder(idle, expected=np.arange(N) + 1.0)


def test_what_cannot_be_compared_is_said(arrays):
    x, out = arrays
    with pytest.raises(ValueError, match="at least one rung"):
        ladder({})
    with pytest.raises(ValueError, match="give its Launch out="):
        ladder({"1": Launch(plus_one, 8, 128, (x, out))}, expected=np.arange(N))
    with pytest.raises(ValueError, match="shape"):
        ladder({"1": Launch(plus_one, 8, 128, (x, out), out=out)}, expected=np.arange(3))


def test_a_launch_runs_as_a_program_runs_it(arrays):
    x, out = arrays
    for launch in rungs(x, out).values():
        out.fill(0)
        launch.run()
        assert np.array_equal(out.get(), np.arange(N) + 1)


def test_a_kernel_that_adds_to_its_result_starts_from_what_is_given(arrays):
    x, _ = arrays
    out = cp.full(1, 7, "float32")

    @cuda.jit
    def total(x, out):
        cuda.atomic.add(out, 0, x[cuda.grid(1)])

    launch = Launch(total, 10, 100, (x, out), out=out, before=0)
    assert ladder({"1": launch, "2": launch}, expected=[499_500.0])["2"]["global_atomic_requests"] == 40
    assert float(out[0]) == 499_500.0
