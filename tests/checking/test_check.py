"""`check` reports, and never raises for a wrong answer."""

import dataclasses

import numba
import numpy as np
import pytest

from helpers import check as checking
from helpers import cp, cuda
from helpers.checking.check import Report, check, hint, solution
from helpers.checking.examine import trial
from helpers.checking.exercise import Budget, Case, Exercise, Out, alike, exercise, exercises, numbers, thread_1d
from helpers.checking.trial import POISON, Blank, Here, Trial, place
from vgpu.base.errors import OutOfBounds
from vgpu.launch.grid import Grid


def double_cases():
    x = numbers(10)
    return [Case("10 elements", (x, Out(2 * x), np.int32(10)), (3,), (4,))]


def make(**changes):
    base = Exercise(
        key="t.double",
        title="double it",
        language="cuda",
        name="twice",
        cases=double_cases,
        thread_of=thread_1d,
        hints=("one", "two", "three"),
        solution="",
        why="",
        stretch="halve it",
    )
    return dataclasses.replace(base, **changes)


def kernel(body):
    head = 'extern "C" __global__ void twice(const float* x, float* out, int n)'
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    return make().build(f"{head} {{ {index}\n{body}\n}}")


def test_a_grid_has_one_block_in_a_direction_that_it_says_nothing_of():
    assert Case("3 blocks", (), (3,), (32, 8)).grid == (3, 1) and Case("3 blocks", (), (3, 1), (32,)).grid == (3, 1)


def test_a_right_answer_passes_and_is_offered_more():
    report = check(kernel("if (i < n) out[i] = 2 * x[i];"), make())
    assert report.passed
    assert repr(report) == "✓ double it: right in every case.\n  To go further: halve it"


@pytest.mark.filterwarnings("error")
def test_infinite_results_are_looked_at_without_a_warning():
    masked = np.where(np.arange(10) % 2, numbers(10), -np.inf).astype(np.float32)
    task = make(cases=lambda: [Case("10 elements", (numbers(10), Out(masked), np.int32(10)), (3,), (4,))])
    report = check(kernel("if (i < n) out[i] = i % 2 ? -1.0f / 0 : x[i];"), task)
    assert not report.passed and report.message


def test_a_wrong_element_is_named_with_its_thread():
    report = check(kernel("if (i < n) out[i] = i == 6 ? 99 : 2 * x[i];"), make())
    assert not report.passed
    (name, ok, note) = report.cases[0]
    assert (name, ok) == ("10 elements", False)
    assert note.startswith("1 of 10 wrong; element 6 is 99, should be ")
    assert "thread 2 of block 1" in report.message


# what a function returned, what it should return, how the two are written
RETURNED = (
    (1.0, 4 / 3, "1", "1.33333"),
    (300.625, 0.8225034199726402, "300.625", "0.822503"),
    (33554432.0, 256 / 3, "33554432", "85.3333"),
    (1234567, 1234568, "1234567", "1234568"),
    (np.float64(1e-9), 0.5, "1e-09", "0.5"),
    (float("nan"), float("inf"), "nan", "inf"),
    (1.3333, 4 / 3, "1.3333", "1.33333"),
    (1.3333334, 1.3333333333333333, "1.3333334", "1.33333333"),  # more digits where six are the same
    ((0.0, 0.0), (1274.2, 250 / 3.2), "(0, 0)", "(1274.2, 78.125)"),
    ([1 / 3, 2], (1,), "[0.333333, 2]", "(1,)"),
    ((1, (2 / 3, "b")), 7, "(1, (0.666667, 'b'))", "7"),
    (None, 2.5, "None", "2.5"),
    (True, 0, "True", "0"),
    ("2", 2, "'2'", "2"),
    (np.array(1.0), 1.0, "an array of float64 of shape ()", "1"),
    (np.array([1.0, 2.0]), 1.5, "an array of float64 of shape (2,)", "1.5"),
    ((np.arange(2), 1), (3, 1), "(an array of int64 of shape (2,), 1)", "(3, 1)"),
)


@pytest.mark.parametrize(("got", "wanted", "said", "should"), RETURNED, ids=str)
def test_what_a_function_returned_reads_well(got, wanted, said, should):
    asked = make(language="python", cases=lambda: [Case("one", (), expected=wanted)], tolerance=1e-9)
    report = check(lambda: got, asked)
    assert report.cases == (("one", False, f"returned {said}, should be {should}"),)


def test_a_number_of_numpy_is_as_good_as_one_of_python():
    asked = make(language="python", cases=lambda: [Case("one", (), expected=1 / 3)], tolerance=1e-5)
    assert check(lambda: np.float32(1 / 3), asked).passed


def test_numbers_of_arrays_read_well_too():
    report = check(kernel("if (i < n) out[i] = 2 * x[i] + 1000049.25f;"), make(cases=lambda: [shifted()]))
    assert report.cases[0][2].endswith("element 0 is 1000050, should be 1000000")


def shifted():
    x = np.full(10, 0.5, np.float32)
    return Case("10 elements", (x, Out(np.full(10, 1e6, np.float32)), np.int32(10)), (3,), (4,))


def test_an_element_that_no_thread_writes_is_told_from_a_wrong_one():
    report = check(kernel("if (i < n && i != 3) out[i] = 2 * x[i];"), make())
    assert report.mistake == "some elements are never written"
    assert "element 3 is still as it was" in report.cases[0][2]


def test_an_error_of_the_kernel_becomes_a_report_with_the_line():
    report = check(kernel("out[i] = 2 * x[i];"), make())
    assert report.mistake == "a thread without an element goes on"
    assert "out[i] = 2 * x[i];" in report.message


def test_a_kernel_that_does_not_compile_is_tried_once():
    report = check(kernel("out[i] = ;"), make(cases=lambda: double_cases() * 5))
    assert report.mistake == "it does not compile"
    assert len(report.cases) == 1


def plain(x, out):
    out[0] = x[0]


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (None, "as a launch returns it"),
        (3, "It was given 3"),
        ("twice", "by cp.RawKernel"),
        (plain, "`plain` is a plain Python function, which no GPU runs: write @cuda.jit"),
        (cuda.jit(plain)[1, 32], "without them"),
        (numba.njit(plain), "compiled for the CPU: write @cuda.jit"),
        (cp.RawModule(code=""), "module.get_function"),
    ],
)
def test_something_that_is_no_kernel_is_said_to_be_none(thing, words):
    report = check(thing, make())
    assert not report.passed and report.mistake == "nothing to run"
    assert words in report.message


@pytest.mark.parametrize("thing", [cuda.jit(plain), kernel("")])
def test_a_kernel_is_no_answer_where_a_function_is_asked_for(thing):
    report = check(thing, make(language="python"))
    assert report.mistake == "nothing to run" and "without a decorator" in report.message


def test_a_budget_is_spent_and_named_with_the_line_that_spends_it():
    budget = Budget(
        "load requests", lambda profile: profile["global_load_requests"], 3, "Load once.", "global_load_requests"
    )
    good = check(kernel("if (i < n) out[i] = 2 * x[i];"), make(budgets=(budget,)))
    assert good.passed and good.budgets == (("load requests: 3 (at most 3)", True),)
    twice = kernel("if (i < n)\nout[i] = *(volatile float*)(x + i) + *(volatile float*)(x + i);")
    bad = check(twice, make(budgets=(budget,)))
    assert not bad.passed and bad.mistake == "right, but over budget"
    assert bad.budgets == (("load requests: 6 (at most 3)", False),)
    assert "Load once." in bad.message and "line 3: out[i] =" in bad.message
    both = kernel("if (i < n)\nout[i] = *(volatile float*)(x + i)\n + *(volatile float*)(x + i);")
    assert "line" not in check(both, make(budgets=(budget,))).message, "neither line breaks the limit by itself"


def test_what_is_counted_has_to_be_right_too():
    x = numbers(500)
    large = Case("500 elements", (x, Out(2 * x), np.int32(500)), (5,), (100,))
    budget = Budget("load requests", lambda profile: profile["global_load_requests"], 100, "Load once.")
    task = make(budgets=(budget,), measured=lambda: large)
    assert check(kernel("if (i < n) out[i] = 2 * x[i];"), task).passed
    lazy = check(kernel("if (i < n && n < 500) out[i] = 2 * x[i];"), task)
    assert not lazy.passed and lazy.budgets == () and "500 elements" in str(lazy)


def test_budgets_wait_until_the_answer_is_right():
    budget = Budget("anything", lambda profile: 0, 1, "")
    assert check(kernel(""), make(budgets=(budget,))).budgets == ()


def test_outputs_start_poisoned_and_inputs_are_copies():
    x = numbers(5)
    arguments, (out,) = place(Trial((x, Blank(x.dtype, x.shape)), (1,), (1,)))
    assert (out.get().view(np.uint8) == POISON).all()
    arguments[0][...] = 0
    assert x.any()


def test_an_output_may_start_with_values():
    _, (out,) = place(Trial((Blank(np.dtype(float), (3,), np.zeros(3)),), (1,), (1,)))
    assert not out.get().any()


def test_reports_are_frozen_deterministic_and_escaped():
    first, second = (check(kernel("out[i] = 1 < 2;"), make()) for _ in range(2))
    assert repr(first) == repr(second)
    assert "1 &lt; 2" in first._repr_html_() and "1 < 2" not in first._repr_html_()
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.passed = True


@pytest.mark.parametrize(
    ("right", "rows"),
    [((True, True), []), ((True, False), ["right in 1 of 2 cases", "1: bad"]), ((False,), ["0: bad"])],
)
def test_a_report_counts_right_cases_beside_wrong_ones_and_shows_three_findings(right, rows):
    cases = tuple((str(number), ok, "bad") for number, ok in enumerate(right))
    report = Report("k", "t", all(right), cases, (), None, "", tuple("abcd"))
    assert [text for _, text in report._rows()] == [*rows, "sanitizer: a", "sanitizer: b", "sanitizer: c"]


def test_source_and_calls_in_a_report_are_in_code_font():
    html = check(kernel("if (i <= n) out[i] = 1;"), make())._repr_html_()
    assert "line 2: <code>if (i &lt;= n) out[i] = 1;</code>" in html
    assert "Stuck? <code>check.hint(&quot;t.double&quot;, 1)</code>" in html


def test_an_unknown_exercise_names_the_nearest():
    with pytest.raises(KeyError, match=r"did you mean ch00\.relu"):
        exercise("ch00.rellu")


def test_large_numbers_of_a_budget_are_written_out():
    budget = Budget("loads", lambda profile: 30_720, 4000, "fewer")
    report = check(kernel("if (i < n) out[i] = 2 * x[i];"), make(budgets=(budget,)))
    assert report.budgets == (("loads: 30,720 (at most 4,000)", False),)


def test_hints_are_three_and_solutions_explain():
    assert repr(hint("ch00.relu", 2)).startswith("Hint 2 of 3: ")
    with pytest.raises(ValueError, match="1, 2 and 3"):
        hint("ch00.relu", 4)
    assert "cuda.grid(1)" in repr(solution("ch00.relu"))


def test_the_module_is_called_as_its_function():
    assert checking(kernel("if (i < n) out[i] = 2 * x[i];"), make()).passed


def test_data_hold_what_hides_no_mistake():
    for seed in range(5):
        values = numbers(200, seed)
        assert (values < 0).any() and (values > 0).any() and values.all()
        assert len(np.unique(values)) < values.size  # repeated values, too


PROMISED = {
    "ch11.fill": 4,
    "ch13.wide": 32,
    "ch13.tensor": 16,
    "ch13.turned": 32,
    "ch16.announced": 4,
    "ch16.row_sums": 128,
    "ch16.linear_int8": 64,
    "ch17.fragment": 1,  # any number of heads, all of them 16 × 16
    "lab09.ring": 64,
    "lab11.nvfp4": 16,
    "lab11.quantise": 32,
    "lab11.linear": 32,
    "lab11.unscale": 4,
}
"""Exercises whose statement promises sizes that are multiples of a number, and that number."""


@pytest.mark.parametrize("key", PROMISED)
def test_promised_sizes_hold_the_smallest_and_more_than_one_multiple(key):
    given = [getattr(each, "expected", each) for case in exercises()[key].cases() for each in case.arguments]
    sizes = {size for each in given for size in np.shape(each)}
    assert PROMISED[key] in sizes and len({size for size in sizes if size % PROMISED[key] == 0}) > 2


OF_KERNELS = {key for key, task in exercises().items() if not task.asks_for_a_function}


@pytest.mark.parametrize("key", sorted(OF_KERNELS - PROMISED.keys()))
def test_shapes_hold_one_a_prime_and_no_multiple_of_the_block(key):
    task = exercises()[key]
    data = [case.out.expected for case in task.cases()]
    if len({out.shape for out in data}) == 1:  # a sum, or bins: what is summed or counted has the sizes
        data = [case.arguments[0] for case in task.cases()]
    sizes = [each.size for each in data]
    given = [
        getattr(each, "expected", getattr(each, "array", each)) for case in task.cases() for each in case.arguments
    ]
    # One element, or one row of a kernel of rows, whose sizes may be numbers beside an array in one dimension.
    assert any(1 in each.shape if np.ndim(each) else each == 1 for each in (*data, *given))
    blocks = {int(np.prod(case.block)) for case in task.cases()}
    # Where the block is as large as the data, a warp is what it may not fill.
    threads = blocks.pop() if len(blocks) == 1 else 32
    assert any(size % threads for size in sizes)
    if task.cases()[0].out.expected.ndim == 2:
        arrays = [getattr(each, "expected", each) for case in task.cases() for each in case.arguments]
        assert any(array.shape[0] != array.shape[1] for array in arrays if np.ndim(array) == 2)


RACY = make(
    cases=lambda: [
        Case("64 threads", (np.arange(64, dtype=np.float32), Out(np.arange(64, dtype=np.float32)), 64), (1,), (64,))
    ],
    sanitize=True,
)


def shift(between):
    return RACY.build(f"""extern "C" __global__ void twice(const float* x, float* out, int n) {{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    {between}
    out[threadIdx.x] = s[threadIdx.x] + 0 * s[0];
}}""")


def test_the_sanitizer_fails_an_answer_that_came_out_right():
    unwatched = check(shift(""), dataclasses.replace(RACY, sanitize=False))
    assert unwatched.passed and unwatched.findings is None
    asked = check(shift(""), RACY)
    assert not asked.passed and asked.mistake == "a race in shared memory"
    assert asked.findings == ("race: a read and a write, lines 3 and 5",)
    assert "✗ sanitizer: race: a read and a write, lines 3 and 5" in repr(asked)
    assert "nothing orders the two" in asked.message


def test_a_kernel_is_launched_once_to_be_counted_and_watched(monkeypatch):
    """A second launch under the sanitizer would differ in addresses, by which a kernel could tell it apart."""
    launches, go = [], Grid.run
    monkeypatch.setattr(Grid, "run", lambda run, threads: (launches.append(run), go(run, threads)))
    seen = Here(shift("")).run(dataclasses.replace(trial(RACY.cases()[0]), watch=True, follow=(0, 1)))
    assert len(launches) == 1
    assert seen.counters["shared_load_requests"] == 2 and seen.chain is not None
    assert [found.kind for found in seen.findings] == ["race_read_write"]


def test_a_fault_in_a_watched_launch_is_the_answers_error():
    seen = Here(shift("if (threadIdx.x > 9) out[100 * n] = 1;")).run(
        dataclasses.replace(trial(RACY.cases()[0]), watch=True)
    )
    assert isinstance(seen.error, OutOfBounds) and "out[6400]" in str(seen.error) and not seen.findings


def test_a_wrong_result_that_nothing_explains_is_shown_to_the_sanitizer():
    unasked = dataclasses.replace(RACY, sanitize=False)
    racy = check(shift("if (threadIdx.x > 0) s[threadIdx.x / 2] = threadIdx.x;"), unasked)
    assert not racy.passed and racy.mistake == "different values are stored to one element"
    assert racy.findings and "✗ sanitizer: race" in repr(racy)
    wrong = check(shift("s[threadIdx.x] = 7; __syncthreads();"), unasked)
    assert (wrong.passed, wrong.mistake, wrong.findings) == (False, "the same everywhere", None)


def test_a_clean_answer_is_told_so():
    report = check(shift("__syncthreads();"), RACY)
    assert report.passed and report.findings == ()
    assert report.verdict == "✓ double it: right in every case, and the sanitizer finds nothing."


def test_threads_at_different_barriers_are_told_so():
    parted = shift("if (threadIdx.x < 40) { __syncthreads(); s[0] = 0; } else { __syncthreads(); s[63] = 63; }")
    assert check(parted, RACY).mistake == "threads wait at different barriers"


# ---------------------------------------------------------------- functions that ask for stream work


def streams_task(**changes):
    from helpers.checking.stream_work import OnDevice, waits

    x = numbers(64)
    return make(
        language="streams",
        name="there_and_back",
        cases=lambda: [Case("64 elements", (x, OnDevice(64), Out(x)))],
        sanitize=True,
        budgets=(Budget("waits", waits, 0, "Do not wait."),),
        **changes,
    )


def there_and_back(body):
    lines = "\n".join(f"    {line}" for line in ["one, two = cp.cuda.Stream(), cp.cuda.Stream()", *body])
    return streams_task().build(f"def there_and_back(x, device, out):\n{lines}\n")


COPIES = ("device.set(x, one)", "device.get({}, out=out, blocking=False)")


def test_stream_work_is_judged_by_its_recording():
    report = check(there_and_back([COPIES[0], COPIES[1].format("one")]), streams_task())
    assert report.passed
    assert report.verdict.endswith("right in every case, within budget, and the recording finds nothing.")


def test_stream_work_without_an_order_fails_though_its_result_is_right():
    report = check(there_and_back([COPIES[0], COPIES[1].format("two")]), streams_task())
    assert not report.passed and all(ok for _, ok, _ in report.cases)
    assert "recording: read after write: D2H 256 bytes in stream 2 and H2D 256 bytes in stream 1" in repr(report)
    assert "wait_event" in report.message and "line None" not in report.message


def test_stream_work_that_waits_is_over_budget():
    report = check(there_and_back([COPIES[0], COPIES[1].format("one"), "one.synchronize()"]), streams_task())
    assert (report.passed, report.mistake) == (False, "the host waits")


def test_stream_work_that_writes_nothing_or_fails_says_so():
    assert check(there_and_back(["pass"]), streams_task()).mistake == "nothing is written yet"
    report = check(there_and_back(["device.set(x[:3], one)"]), streams_task())
    assert report.mistake == "it stops with an error"
    assert "the function itself" in check("text", streams_task()).message


@pytest.mark.parametrize(
    ("got", "wanted", "right"),
    [
        (((1, 2), (3, 4)), ((1, 2), (3, 4)), True),
        ((np.int64(1), 2), (1, 2), True),
        ([1, 2], (1, 2), True),
        ([1, 3], (1, 2), False),
        ((1, 2, 3), (1, 2), False),
        (np.int64(1), (1,), False),
        (np.int64(1), (1, 1), False),
        (np.ones(2), (1, 1), False),
        ((np.ones(2), 1), ((1, 1), 1), False),
        ((np.int64(1), 1), ((1, 1), 1), False),
        (np.float32(0.1), 0.1, True),
        ((2, 0.1 + 0.2), (2, 0.3), True),
        ((2, 0.301), (2, 0.3), False),
        (10**4000, 1.0, False),
        (True, "yes", False),
        ("yes", "yes", True),
    ],
)
def test_what_a_function_returns_is_compared_piece_by_piece(got, wanted, right):
    """NumPy's own == has no single answer for a number and a tuple, or arrays."""
    assert alike(got, wanted, 1e-5) is right


def test_a_hint_is_words_on_a_page():
    shown = hint("ch00.relu", 1)._repr_html_()
    assert "<b>Hint 1 of 3</b>" in shown and "`" not in shown
