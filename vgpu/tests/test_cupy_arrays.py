"""CuPy's arrays on the virtual GPU: NumPy's results, in device memory, with CuPy's strictness."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from vgpu.base.errors import Unsupported
from vgpu.standins import cupy as cp
from vgpu.storage import memory


def check(result, expected):
    """`result` is an array on the device, equal to what NumPy says in value, shape and dtype."""
    expected = np.asarray(expected)
    assert isinstance(result, cp.ndarray)
    assert memory.owner(result._host) is not None
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(result.get(), expected)


@pytest.fixture
def x():
    return cp.arange(12, dtype=cp.float32).reshape(3, 4)


# --- between host and device ---


def test_implicit_conversion_raises(x):
    for convert in (np.asarray, np.array, lambda a: np.zeros((3, 4)).__setitem__(..., a)):
        with pytest.raises(TypeError, match=r"Implicit conversion to a NumPy array is not allowed.*x\.get\(\)"):
            convert(x)


@pytest.mark.parametrize(
    "mix",
    [
        lambda x, h: x + h,
        lambda x, h: h + x,
        lambda x, h: h * x,
        lambda x, h: x < h,
        lambda x, h: x @ h.T,
        lambda x, h: x.__iadd__(h),
        lambda x, h: h.__iadd__(x),
        lambda x, h: cp.add(x, h),
        lambda x, h: np.add(h, x),
        lambda x, h: cp.where(h > 0, x, x),
        lambda x, h: cp.concatenate([x, h]),
        lambda x, h: np.concatenate([h, x]),
        lambda x, h: cp.dot(x, h.T),
        lambda x, h: cp.sum(h),
        lambda x, h: cp.linalg.norm(h),
        lambda x, h: x.dot(h.T),
    ],
)
def test_mixing_with_numpy_raises(x, mix):
    with pytest.raises(TypeError, match=r"Unsupported type <class 'numpy.ndarray'>.*cp\.asarray"):
        mix(x, x.get())


@pytest.mark.parametrize("call", [cp.sqrt, cp.sum, cp.sort, lambda v: cp.arange(3) + v])
def test_lists_are_no_arrays(call):
    with pytest.raises(TypeError, match=r"Unsupported type <class 'list'>.*cp\.array"):
        call([1.0, 2.0, 3.0])


def test_round_trips(x):
    host = x.get()
    assert type(host) is np.ndarray and memory.owner(host) is None
    check(cp.asarray(host), host)
    check(cp.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    check(cp.array([x[0], x[1]]), host[:2])
    check(cp.array(5), np.array(5))
    np.testing.assert_array_equal(cp.asnumpy(x), host)
    assert cp.asnumpy(host) is host
    assert cp.asarray(x) is x and cp.array(x) is not x
    assert x.get(order="F").flags.f_contiguous
    out = np.empty_like(host)
    assert x.get(out=out) is out and (out == host).all()
    x.set(host * 2)
    check(x, host * 2)
    check(pickle.loads(pickle.dumps(x)), host * 2)
    check(copy.deepcopy(x), host * 2)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.zeros((3, 4)), TypeError, "float64 array cannot be set to float32 array"),
        (np.zeros((4, 3), np.float32), ValueError, "Shape mismatch"),
        ([1, 2], TypeError, "Only numpy.ndarray can be set"),
    ],
)
def test_set_is_strict(x, value, error, message):
    with pytest.raises(error, match=message):
        x.set(value)


@pytest.mark.parametrize("bad", ["text", object(), np.datetime64("2026-01-01"), np.longdouble(1)])
def test_dtypes_a_device_lacks(bad):
    with pytest.raises(TypeError, match="Unsupported dtype"):
        cp.array([bad])


def test_scalars_of_one_element():
    one = cp.array([2.5])
    assert (float(one), int(one), complex(one), bool(one), one.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(cp.arange(3))
    with pytest.raises(TypeError):
        hash(one)
    assert not hasattr(one, "__index__")


# --- what an array looks like ---


def test_attributes(x):
    x = x.copy()
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes, x.strides) == ((3, 4), 2, 12, 4, 48, (16, 4))
    assert len(x) == 3
    assert x.data.ptr % 256 == 0 and x.data.mem.size == 48
    assert x[1:].data.ptr == x.data.ptr + 16
    assert x.device == cp.cuda.Device(0)
    assert x.flags.c_contiguous and not x.flags["F_CONTIGUOUS"] and x.flags.owndata
    assert x.T.flags.f_contiguous and not x.T.flags.owndata
    assert x.T.base is x and x[0].base is x and x[0][1:].base is x
    assert "C_CONTIGUOUS : True" in repr(x.flags)


def test_reprs():
    assert repr(cp.arange(3)) == "array([0, 1, 2])"
    assert repr(cp.array(1.5, dtype=cp.float32)) == "array(1.5, dtype=float32)"
    assert str(cp.zeros(2)) == "[0. 0.]"
    assert f"{cp.array(3.14159):.2f}" == "3.14"


def test_views_share_memory(x):
    start, end = x.data.ptr, x.data.ptr + x.nbytes
    for view in (x[1], x[:, ::2], x.T, x.reshape(4, 3), x.ravel(), x[::-1], x[None], cp.transpose(x), x.view(cp.int32)):
        assert start <= view.data.ptr < end
    x.T[0, 1] = 99
    assert x[1, 0].item() == 99
    assert not start <= x.T.ravel().data.ptr < end  # this one has to copy
    x.flat[2:4] = -5
    assert x.flat[3].item() == -5 and len(list(x.flat)) == 12
    x.shape = (12,)
    assert x.shape == (12,)


def test_scalar_index_is_a_0d_view(x):
    element = x[1, 2]
    assert element.shape == () and element.item() == 6
    x[1, 2] = -1
    assert element.item() == -1
    assert [type(row) for row in x] == [cp.ndarray] * 3
    with pytest.raises(TypeError, match="0-d"):
        iter(element)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (1, slice(None)),
        (slice(None), 2),
        (slice(None, None, -1), slice(1, 3)),
        (Ellipsis, 1),
        (None, 1),
        [0, 2],
        ([0, 1], [2, 3]),
        (slice(None), [3, 0, 0]),
        (),
    ],
)
def test_indexing_agrees_with_numpy(x, key):
    check(x[key], x.get()[key])


def test_indexing_with_device_arrays(x):
    host = x.get()
    check(x[cp.array([2, 0])], host[[2, 0]])
    check(x[x > 5], host[host > 5])
    check(x[:, cp.array([True, False, True, False])], host[:, [0, 2]])
    x[x > 5] = 0
    check(x, np.where(host > 5, 0, host).astype(np.float32))
    x[cp.array([0, 1])] += 1
    x[0] = cp.ones(4)
    assert x[0].sum().item() == 4
    x[...] = 7
    assert (x == 7).all()


def test_integer_arrays_wrap_around():
    y = cp.arange(3)
    check(y[[1, 3]], [1, 0])
    check(y[cp.array([-1, -4, 7])], [2, 2, 1])
    y[[1, 3]] = 10
    check(y, [10, 10, 2])
    with pytest.raises(IndexError):
        y[3]


def test_assigning_host_data_raises(x):
    with pytest.raises(ValueError, match=r"non-scalar numpy.ndarray cannot be used for fill.*x\.set"):
        x[...] = np.zeros((3, 4))
    with pytest.raises(TypeError, match="Unsupported type <class 'list'>"):
        x[0] = [1, 2, 3, 4]
    x[0] = np.float32(3)
    x[1] = np.array(4)
    assert x[:2].sum().item() == 28


# --- operators and functions ---

BINARY = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">="]
DTYPES = [np.int8, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("symbol", BINARY)
def test_operators_agree_with_numpy(symbol, dtype):
    a, b = np.arange(1, 7, dtype=dtype).reshape(2, 3), np.array([3, 1, 2], dtype=dtype)
    da, db = cp.asarray(a), cp.asarray(b)
    names = {"a": a, "b": b, "da": da, "db": db}
    for left, right in (("a", "b"), ("a", "2"), ("2", "a")):
        on_device = f"{left.replace('a', 'da')} {symbol} {right.replace('b', 'db').replace('a', 'da')}"
        check(eval(on_device, names), eval(f"{left} {symbol} {right}", names))


def test_in_place_operators_keep_the_memory(x):
    where, host = x.data.ptr, x.get()
    x += 1
    x *= cp.float32(2)
    x -= cp.ones(4, cp.float32)
    assert x.data.ptr == where
    check(x, (host + 1) * 2 - 1)
    with pytest.raises(TypeError):  # float into integer
        cp.arange(3).__iadd__(0.5)


def test_more_operators():
    a = cp.array([5, 6, 7])
    check(a & 3, [1, 2, 3])
    check(a | 8, [13, 14, 15])
    check(a ^ 1, [4, 7, 6])
    check(~a, [-6, -7, -8])
    check(-a, [-5, -6, -7])
    check(abs(-a), [5, 6, 7])
    check(a << 1, [10, 12, 14])
    check(2 - a, [-3, -4, -5])
    quotient, rest = divmod(a, 3)
    check(quotient, [1, 2, 2])
    check(rest, [2, 0, 1])
    check(np.float32(2) * cp.ones(2, cp.float32), np.full(2, 2, np.float32))
    check(cp.eye(2) @ cp.eye(2), np.eye(2))


REDUCTIONS = ["sum", "prod", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_give_arrays(x, name, axis):
    expected = getattr(np, name)(x.get(), axis=axis)
    check(getattr(cp, name)(x, axis=axis), expected)
    check(getattr(x, name)(axis=axis), expected)
    check(getattr(np, name)(x, axis=axis), expected)  # NumPy's function hands over to CuPy's
    if axis is None:
        assert getattr(x, name)().shape == ()


FUNCTIONS = [
    lambda m, a: m.sqrt(a),
    lambda m, a: m.exp(a, dtype="f8"),
    lambda m, a: m.where(a > 3, a, 0),
    lambda m, a: m.clip(a, 2, 5),
    lambda m, a: m.stack([a, a], axis=1),
    lambda m, a: m.vstack([a, a]),
    lambda m, a: m.concatenate((a, a), axis=1),
    lambda m, a: m.einsum("ij,kj->ik", a, a),
    lambda m, a: m.tensordot(a, a, 2),
    lambda m, a: m.cumsum(a, axis=1),
    lambda m, a: m.sort(-a, axis=None),
    lambda m, a: m.argsort(-a, axis=1),
    lambda m, a: m.pad(a, 1),
    lambda m, a: m.tile(a, (2, 1)),
    lambda m, a: m.roll(a, 1, axis=0),
    lambda m, a: m.take(a, m.asarray([1, 0]), axis=1),
    lambda m, a: m.unique(a % 3),
    lambda m, a: m.bincount(a.astype("i8").ravel()),
    lambda m, a: m.histogram(a, bins=3)[0],
    lambda m, a: m.maximum(a, 4),
    lambda m, a: m.maximum.reduce(a),
    lambda m, a: m.add.outer(a[0], a[1]),
    lambda m, a: m.nonzero(a)[1],
    lambda m, a: m.outer(a[0], a[1]),
    lambda m, a: m.expand_dims(a, 1),
    lambda m, a: m.broadcast_to(a[0], (2, 4)),
    lambda m, a: m.split(a, 2, axis=1)[1],
    lambda m, a: m.meshgrid(a[0], a[1])[0],
    lambda m, a: m.apply_along_axis(lambda row: row.sum(), 1, a),
    lambda m, a: m.linalg.norm(a, axis=1),
    lambda m, a: m.fft.fft(a, axis=1),
    lambda m, a: m.isnan(a).any(),
    lambda m, a: m.diff(a),
    lambda m, a: m.flip(a, 0),
    lambda m, a: m.percentile(a, 30),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_agree_with_numpy(x, function):
    check(function(cp, x), function(np, x.get()))


CREATION = [
    lambda m: m.arange(5),
    lambda m: m.arange(1, 2, 0.25, dtype="f4"),
    lambda m: m.linspace(0, 1, 7),
    lambda m: m.zeros((2, 3)),
    lambda m: m.ones(4, dtype="i4"),
    lambda m: m.full((2, 2), 7),
    lambda m: m.full((2,), 1.5, dtype="f4"),
    lambda m: m.eye(3, k=1),
    lambda m: m.identity(2),
    lambda m: m.tri(3),
    lambda m: m.mgrid[0:3, 0:2],
    lambda m: m.indices((2, 2)),
    lambda m: m.zeros_like(m.ones((2, 3), "f4")),
    lambda m: m.full_like(m.arange(3), 9),
    lambda m: m.ones_like(m.arange(3), dtype="f8"),
    lambda m: m.logspace(0, 2, 3),
    lambda m: m.array([1, 2], ndmin=3),
    lambda m: m.array(True),
]


@pytest.mark.parametrize("make", CREATION)
def test_creation_agrees_with_numpy(make):
    check(make(cp), make(np))


def test_empty_is_poisoned_and_keeps_its_layout(x):
    assert cp.isnan(cp.empty(5)).all() and (cp.empty(5, "i4") == -1).all()
    assert cp.empty_like(x.T).flags.f_contiguous
    assert cp.asfortranarray(x).flags.f_contiguous and cp.ascontiguousarray(x.T).flags.c_contiguous

    # CuPy's fresh arrays are in C order where NumPy's follow their arguments: kernels that are given them see that.
    for fresh in (cp.sort(x.T, axis=0), x.T + 1, -x.T, cp.where(x.T > 3, x.T, 0), x[:, [0, 1]], x.T.clip(1, 5)):
        assert fresh.flags.c_contiguous
    assert x.T.astype("f8").flags.f_contiguous and x.reshape((4, 3), order="F").flags.f_contiguous


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("given", "dtype", "values", "expected"),
    [
        ("f4", "u4", [-1, -INF, 2.0**32, NAN], [0, 0, 2**32 - 1, 0]),
        ("f4", "i4", [INF, -(2.0**40), -1.9, NAN], [2**31 - 1, -(2**31), -1, 0]),
        ("f8", "i4", [1e300, NAN], [2**31 - 1, -(2**31)]),
        ("f4", "i8", [1e30, NAN], [2**63 - 1, -(2**63)]),
        ("f8", "u8", [-1, 1e30, NAN], [0, 2**64 - 1, 2**63]),
        ("f2", "u4", [-1, INF, 2], [0, 2**32 - 1, 2]),
        ("f4", "i1", [300, 2.0**31, -129], [44, -1, 127]),  # through 32 bits, of which the lowest 8 are kept
        ("f4", "u1", [-1, 256, 257], [0, 0, 1]),
    ],
)
def test_floats_beyond_integers_become_what_a_gpu_makes_of_them(given, dtype, values, expected):
    x = cp.array(values, dtype=given)
    assert x.astype(dtype).tolist() == expected and cp.asarray(x, dtype).tolist() == expected
    y = cp.zeros(len(values), dtype)
    y[...] = x
    assert y.tolist() == expected


def test_out_is_written_to_and_returned(x):
    out = cp.empty_like(x)
    assert cp.multiply(x, 2, out=out) is out and cp.sqrt(x, out) is out
    check(out, np.sqrt(x.get()))
    assert cp.sum(x, axis=0, out=out[0]).shape == (4,)
    check(out[0], x.get().sum(axis=0))


def test_answers_stay_plain_or_come_as_arrays(x):
    assert cp.ndim(x) == 2 and cp.shape(x) == (3, 4) and cp.result_type(x, cp.float64) == np.float64
    assert cp.float32 is np.float32 and cp.pi == np.pi and cp.newaxis is None
    check(cp.allclose(x, x), np.array(True))
    check(cp.array_equal(x, x + 1), np.array(False))
    assert cp.may_share_memory(x, x.T) is True
    assert cp.get_array_module(x, 1) is cp and cp.get_array_module(np.ones(1), 1) is np


def test_functions_in_place(x):
    cp.fill_diagonal(x, -1)
    cp.copyto(x[2], cp.zeros(4, cp.float32))
    x[0].fill(5)
    y = cp.array([3, 1, 2])
    y.sort()
    check(y, [1, 2, 3])
    y.scatter_add(cp.array([0, 0]), 10)
    cp.add.at(y, cp.array([1, 1]), 5)
    check(y, [21, 12, 3])
    assert x.sum().item() == 20 + (4 - 1 + 6 + 7)


def test_cuda_array_interface_both_ways(x):
    class Foreign:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__
            self.array = array

    interface = x.T.__cuda_array_interface__
    assert interface["version"] == 3 and interface["shape"] == (4, 3) and interface["strides"] == (4, 16)
    assert interface["data"] == (x.data.ptr, False) and x.__cuda_array_interface__["strides"] is None
    same = cp.asarray(Foreign(x.T))
    same[0, 1] = 50
    assert x[1, 0].item() == 50
    check(x + Foreign(x), x.get() * 2)
    freed = Foreign(cp.ones(3))
    freed.array = None
    with pytest.raises(ValueError, match="freed"):
        cp.asarray(freed)


def test_structured_arrays():
    points = cp.zeros(4, dtype=[("x", np.float32), ("y", np.float32)])
    points["x"] = cp.arange(4, dtype=cp.float32)
    check(points["x"], np.arange(4, dtype=np.float32))
    assert points["y"].strides == (8,)


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("vectorize", "ElementwiseKernel"),
        ("broadcast", "broadcast_to"),
        ("cuda.ManagedMemory", "explicit copies"),
        ("linalg.nothing_of_the_kind", "If CuPy has it"),
    ],
)
def test_what_is_missing_says_so(path, instead):
    *modules, name = path.split(".")
    place = cp
    for module in modules:
        place = getattr(place, module)
    assert not hasattr(place, name)
    with pytest.raises(Unsupported, match=rf"cupy\.{path} is not on the virtual GPU.*{instead}"):
        getattr(place, name)


def test_integers_keep_their_digits_on_the_way_to_the_device():
    assert cp.array([2**64 - 1, np.int64(1)], dtype=cp.uint64).tolist() == [2**64 - 1, 1]
    with pytest.raises(OverflowError):
        cp.array([-1], dtype=cp.uint32)


def test_grids_between_arrays():
    assert cp.ogrid[cp.array(2) : cp.array(5)].tolist() == [2, 3, 4]


def test_where_results_go():
    x, first, second = cp.array([7.0, 8]), cp.zeros(2), cp.zeros(2)
    assert cp.sqrt(x, out=(first,)) is first and cp.sqrt(x, second) is second
    assert cp.divmod(x, 3, first, second) == (first, second)
    assert (first.tolist(), second.tolist()) == ([2, 2], [1, 2])
    quotient, rest = cp.divmod(x, 2, None, second)
    assert rest is second and second.tolist() == [1, 0] and quotient.tolist() == [3, 4]
    assert "ff->f" in cp.add.types and not any("g" in types or "O" in types for types in cp.add.types)


def test_indices_from_elsewhere():
    x = cp.arange(300)
    assert x[cp.array([-1, 100], dtype=cp.int8)].tolist() == [299, 100]  # 300 is no int8, by which they wrap around
    picked = cp.array([3, 5])
    foreign = SimpleNamespace(__cuda_array_interface__=picked.__cuda_array_interface__)
    assert x[foreign].tolist() == [3, 5]
    cp.add.at(x, np.array([1, 1]), np.array([10, 20]))
    assert x[1].item() == 31


def test_a_callback_may_write_into_what_it_is_given():
    def border(vector, width, axis, kwargs):
        vector[: width[0]] = vector[-width[1] :] = 9

    assert cp.pad(cp.array([1, 2]), 1, border).tolist() == [9, 1, 2, 9]


def test_bytes_of_an_array(tmp_path):
    x = cp.array([1, 2], dtype=cp.int16)
    x.tofile(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == bytes(x) == x.get().tobytes()
    assert pickle.loads(x.dumps()).tolist() == [1, 2]
    swapped = x.byteswap()
    assert swapped.tolist() == [256, 512] and x.byteswap(True) is x and x.tolist() == [256, 512]


def test_the_interface_names_the_current_stream():
    x, stream = cp.ones(2), cp.cuda.Stream()
    assert x.__cuda_array_interface__["stream"] == 1
    with stream:
        assert x.__cuda_array_interface__["stream"] == stream.ptr


@pytest.mark.parametrize(
    ("make", "error"), [(lambda: cp.zeros(3.0), TypeError), (lambda: cp.ndarray((2,), strides=(8,)), ValueError)]
)
def test_shapes_and_strides_that_are_none(make, error):
    with pytest.raises(error):
        make()


def test_a_tensor_and_an_array_share_memory_by_dlpack(x):
    tensor = pytest.importorskip("torch").from_dlpack(x)
    tensor[0, 1] = 70
    assert x[0, 1].item() == 70 and tensor.data_ptr() == x.data.ptr
    before = memory.usage("cupy")[0]
    again = cp.from_dlpack(tensor.T)
    assert again.data.ptr == tensor.data_ptr() and again.strides == (4, 16) and memory.usage("cupy")[0] == before


def test_kernels_work_on_a_tensor_where_it_lies():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(8, dtype=torch.float32)
    x = cp.from_dlpack(tensor)
    double = cp.RawKernel('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }', "twice")
    double((1,), (8,), (x,))
    assert tensor.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
    with pytest.raises(IndexError, match=r"x\[8\]"):
        double((1,), (9,), (x,))
    part = cp.from_dlpack(tensor[2:])
    assert part.data.ptr == x.data.ptr + 8 and memory.usage("adopted") == (32, 1)
    del x
    assert memory.usage("adopted") == (32, 1)
    del part
    assert memory.usage("adopted") == (0, 0)
    assert cp.from_dlpack(torch.zeros(0)).shape == (0,)


def test_a_tensor_joins_those_of_its_rows_that_kernels_use_already():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(8, dtype=torch.float32)
    rows = [cp.from_dlpack(tensor[2:4]), cp.from_dlpack(tensor[5:])]
    assert memory.usage("adopted") == (20, 2)
    assert cp.from_dlpack(tensor[2:4], copy=True).data.ptr != rows[0].data.ptr
    whole = cp.from_dlpack(tensor)
    assert memory.usage("adopted") == (32, 1) and rows[1].data.ptr == whole.data.ptr + 20
    add = cp.RawKernel('extern "C" __global__ void add(float* x, float* y) { x[threadIdx.x] += y[0]; }', "add")
    add((1,), (8,), (whole, rows[1]))
    del whole
    assert memory.usage("adopted") == (32, 1)
    add((1,), (2,), (rows[0], rows[1]))
    assert tensor.tolist() == [5, 6, 17, 18, 9, 10, 11, 12]
    rows.clear()
    assert memory.usage("adopted") == (0, 0)


def test_what_goes_past_an_array_of_the_virtual_gpu_is_not_adopted(x):
    past = np.lib.stride_tricks.as_strided(x._host, (x.size + 1,), (x.itemsize,))
    with pytest.raises(ValueError, match="take only what lies within"):
        memory.adopt(past)


def test_dlpack_makes_no_host_array_unasked(x):
    with pytest.raises(BufferError, match=r"Implicit conversion.*device='cpu'"):
        np.from_dlpack(x)
    copied = np.from_dlpack(x, device="cpu")
    assert (copied == x.get()).all() and not np.shares_memory(copied, x._host)
    for wrong in (np.ones(3), [1]):
        with pytest.raises(TypeError, match=r"is on the host: cp\.asarray"):
            cp.from_dlpack(wrong)


def test_save_and_load(x, tmp_path):
    cp.save(tmp_path / "x.npy", x)
    check(cp.load(tmp_path / "x.npy"), x.get())


def test_memory_is_given_back():
    before = memory.usage("cupy")[0]
    y = cp.zeros((1000, 1000), cp.float32)
    assert memory.usage("cupy")[0] == before + 4_000_000
    z = y[:, 0]
    del y
    assert memory.usage("cupy")[0] == before + 4_000_000
    del z
    assert memory.usage("cupy")[0] == before


def test_names_that_are_shared_with_numpy_are_all_forwarded():
    """CuPy's own list, asked of the installed CuPy: nothing may fall through the table unnoticed."""
    real = pytest.importorskip("cupy", reason="CuPy is not published for this system; pip install cupy-cuda13x")
    shared = {name for name in dir(real) if not name.startswith("_") and hasattr(np, name)}
    left_out = {"broadcast", "flatiter", "poly1d", "polynomial", "show_config", "typing", "vectorize", "row_stack"}
    assert {name for name in shared if not hasattr(cp, name)} == left_out
