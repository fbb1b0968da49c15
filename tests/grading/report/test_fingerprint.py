"""Fingerprints: the same for what differs in names, comments and white space only, and for nothing else."""

import pytest

from helpers.grading.report import fingerprint

PYTHON = '''
@cuda.jit
def total(x, out, n):
    """Sum it."""
    i = cuda.grid(1)  # which element
    if i < n:
        cuda.atomic.add(out, 0, x[i])
'''
RENAMED = """
@cuda.jit
def total(values,result,count):

   # a thought
   index=cuda.grid( 1 )
   if index<count:
           cuda.atomic.add(result,0,values[index])
"""
CUDA = '''source = r"""
extern "C" __global__ void total(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;  // which element
    if (i < n) atomicAdd(out, x[i]);
}
"""
total = cp.RawKernel(source, "total")
'''
CUDA_RENAMED = '''code = """
/* mine */
extern "C" __global__
void reduce(const float *values, float *sum, int count)
{
  int me = blockIdx.x*blockDim.x+threadIdx.x;
  if (me < count)
      atomicAdd(sum, values[me]);
}"""
reduce = cp.RawKernel(code, 'reduce')
'''


def test_renamed_and_reformatted_is_the_same():
    assert fingerprint([PYTHON]) == fingerprint([RENAMED])
    assert fingerprint([CUDA]) == fingerprint([CUDA_RENAMED.replace("'reduce'", '"reduce"')])
    assert fingerprint([PYTHON, CUDA]) == fingerprint([RENAMED, CUDA_RENAMED])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i < n", "i <= n"),
        ("cuda.grid(1)", "cuda.grid(2)"),
        ("atomic.add", "atomic.max"),
        ("x[i]", "x[n]"),
        ("out, 0", "out, 1"),
        ("if i < n:\n        cuda", "if i < n:\n        pass\n    cuda"),
    ],
)
def test_another_python_answer_is_another(old, new):
    assert old in PYTHON
    assert fingerprint([PYTHON]) != fingerprint([PYTHON.replace(old, new)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i < n", "i > n"),
        ("threadIdx.x", "threadIdx.y"),
        ("atomicAdd", "atomicMax"),
        ("x[i]", "x[n]"),
        ("float*", "int*"),
    ],
)
def test_another_answer_in_cuda_is_another(old, new):
    assert old in CUDA
    assert fingerprint([CUDA]) != fingerprint([CUDA.replace(old, new)])


def test_names_are_told_apart_by_place():
    assert fingerprint(["a = b\nc = a"]) == fingerprint(["x = y\nz = x"])
    assert fingerprint(["a = b\nc = a"]) != fingerprint(["a = b\nc = b"])


def test_which_cell_holds_what_counts():
    assert fingerprint(["a = 1", "b = 2"]) != fingerprint(["a = 1\nb = 2", ""])


@pytest.mark.parametrize("sources", [[], [""], ["# only a comment\n\n"], ["pass", "  # nothing"], ['"""words"""']])
def test_no_code_has_no_fingerprint(sources):
    assert fingerprint(sources) == ""


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n  '''never closed",
        "x = (((1",
        "  indented\nout\n   in",
        "%%bash\nls $HOME `date`",
        "\x00\ud800 ?",
        "x = 'never closed\ny = 2",
        'source = """__global__ void f( { /* never closed',
        "if x:\n\ty\n        z",
        "\f\v",
        "(" * 2000,
    ],
)
def test_what_does_not_parse_has_one_all_the_same(source):
    found = fingerprint([source])
    assert found == fingerprint([source])
    assert len(found) in (0, 32)


def test_comments_do_not_count_where_it_does_not_parse():
    assert fingerprint(["x = (1  # one\n"]) == fingerprint(["y = ( 1\n"])
    assert fingerprint(["x = (1\n"]) != fingerprint(["x = (2\n"])
