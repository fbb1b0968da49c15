"""Evidence of an answer is judged as the answer itself would be, and says nothing of what is right."""

import json

import numpy as np
import pytest

from helpers import gpus
from helpers.checking import evidence
from helpers.checking.evidence import NoEvidence, answer_in, inputs_of, taken
from helpers.checking.examine import examine
from helpers.checking.exercise import Budget, Case, Exercise, Out, cover, exercises, plural
from helpers.checking.kernel_as_json import Portable
from helpers.checking.measures import loaded_for_needed, stored_for_needed
from helpers.checking.probe import MIME, RESULTS, Probe, parts, probe
from helpers.checking.solutions import built, patched
from helpers.checking.trial import Blank, Here, Trial
from helpers.checking.trial_as_json import NotSeen, resources_as_json, seen_as_json, seen_of, trial_of
from helpers.checking.values_as_json import plain
from helpers.checking.verdicts import named
from helpers.grading import judge
from vgpu.standins import cupy as cp
from vgpu.standins import numba_cuda as cuda

SECTORS = "sectors a load request"
HINTS = ("first", "second", "third")


def double_case(n: int) -> Case:
    x = np.arange(1, n + 1, dtype=np.float32)
    return Case(plural(n, "element"), (x, Out(2 * x), np.int32(n)), (cover(n, 64),), (64,))


def double(**changes) -> Exercise:
    made = dict(
        key="lab99.double",
        title="double it",
        language="cuda",
        name="double_it",
        cases=lambda: [double_case(n) for n in (1, 64, 97)],
        drawn=lambda rng: [double_case(int(n)) for n in rng.integers(200, 900, 2)],
        hints=HINTS,
        why="because",
        sanitize=True,
        budgets=(Budget(SECTORS, lambda profile: profile["sectors_per_load_request"], 4.1, "Side by side."),),
    )
    return Exercise(**made | changes)


def mean(**changes) -> Exercise:
    def case(values) -> Case:
        return Case(f"{len(values)} values", (list(values),), expected=float(np.mean(values)))

    made = dict(
        key="lab99.mean",
        title="the mean",
        language="python",
        name="mean",
        cases=lambda: [case([1]), case([2, 4])],
        drawn=lambda rng: [case(rng.integers(0, 9, 5).tolist())],
        hints=HINTS,
        why="because",
    )
    return Exercise(**made | changes)


@pytest.fixture(autouse=True)
def known_exercises(monkeypatch):
    table = {task.key: task for task in (double(), mean())}
    monkeypatch.setattr("helpers.checking.exercise.exercises", lambda: table)
    return table


def kernel(body: str):
    code = 'extern "C" __global__ void double_it(const float* x, float* out, int n) {' + body + "}"
    return cp.RawKernel(code, "double_it")


INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
RIGHT = f"{INDEX} if (i < n) out[i] = 2 * x[i];"
ANSWERS = {
    "right": RIGHT,
    "copies": f"{INDEX} if (i < n) out[i] = x[i];",
    "no guard": f"{INDEX} out[i] = 2 * x[i];",
    "spread": "int i = (threadIdx.x * 37 % 64) + 64 * blockIdx.x; if (i < n) out[i] = 2 * x[i];",
    "public sizes only": f"{INDEX} if (i < n && n < 100) out[i] = 2 * x[i];",
    "public data only": f"{INDEX} if (i < n) out[i] = x[i] < 99 ? 2 * x[i] : 1;",
    "race": f"{INDEX} if (i < n) {{ out[0] = 2 * x[0]; out[i] = 2 * x[i]; }}",
    "does not compile": "nonsense",
    "nothing": "",
}


def judged(task: Exercise, answer, seed: int = 3) -> dict:
    found = taken(answer, inputs_of(task.for_marks(seed)))
    return judge.answer({"exercise": task.key, "seed": seed, "evidence": json.loads(json.dumps(found))})


@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_what_is_seen_of_evidence_is_what_is_seen_of_the_answer(body):
    task, answer = double().for_marks(3), kernel(body)
    mine = examine(answer, task)
    its = examine(answer_in(json.loads(json.dumps(taken(answer, inputs_of(task)))), task), task)
    assert [outcome.ok for outcome in mine.outcomes] == [outcome.ok for outcome in its.outcomes]
    assert [(f.kind, f.line) for f in mine.findings] == [(f.kind, f.line) for f in its.findings]
    assert [(b.label, b.value, b.where) for b in mine.budgets] == [(b.label, b.value, b.where) for b in its.budgets]
    assert named(mine) == named(its)


@pytest.mark.parametrize(
    ("which", "right", "cheap", "mistake"),
    [
        ("right", True, True, None),
        ("copies", False, False, "an unchanged input"),
        ("no guard", False, False, "a thread without an element goes on"),
        ("spread", True, False, "right, but over budget"),
        ("public sizes only", False, False, judge.PUBLIC_ONLY),
        ("public data only", False, False, judge.PUBLIC_ONLY),
        ("does not compile", False, False, "it does not compile"),
        ("nothing", False, False, "nothing is written yet"),
    ],
)
def test_the_verdict_goes_part_by_part(which, right, cheap, mistake):
    found = judged(double(), kernel(ANSWERS[which]))
    assert list(found) == list(parts(double())) == [RESULTS, SECTORS]
    assert (found[RESULTS]["right"], found[SECTORS]["right"]) == (right, cheap)
    assert (found[RESULTS]["mistake"] or found[SECTORS]["mistake"]) == mistake


def test_words_on_secret_cases_do_not_tell_them():
    for seed in range(5):
        secret = [case.name for case in double().with_cases_of(seed).cases()]
        why = judged(double(), kernel(ANSWERS["public sizes only"]), seed)[RESULTS]["why"]
        assert judge.HIDDEN in why and not any(name.split()[0] in why for name in secret)


def test_words_on_public_cases_are_those_of_check():
    assert "1 element" in judged(double(), kernel(ANSWERS["no guard"]))[RESULTS]["why"]


def test_inputs_hold_nothing_of_what_is_right():
    secret = double().with_cases_of(3).cases()[-1]
    text = json.dumps(inputs_of(double().for_marks(3)))
    assert len(text) < 300 and str(secret.arguments[2]) not in text
    assert "expected" not in json.dumps(inputs_of(mean().for_marks(3)))


@pytest.mark.parametrize("language", ["numba", "cuda"])
def test_a_numba_kernel_will_do_too(language):
    @cuda.jit
    def twice(x, out, n):
        i = cuda.grid(1)
        if i < n:
            out[i] = 2 * x[i]

    found = judged(double(), twice)
    assert found[RESULTS]["right"] and found[SECTORS]["right"]


# --- functions --------------------------------------------------------------------------------------------------------


class EqualToAll(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


def raising(values):
    raise ValueError("no idea")


@pytest.mark.parametrize(
    ("function", "right"),
    [
        (lambda values: sum(values) / len(values), True),
        (lambda values: {1: 1.0, 2: 3.0}.get(len(values), 0.0), False),
        (lambda values: EqualToAll(0), False),
        (lambda values: None, False),
        (lambda values: float("nan"), False),
        (raising, False),
    ],
    ids=["right", "hard-coded", "equal to all", "None", "NaN", "raises"],
)
def test_functions_are_judged_by_what_they_returned(function, right):
    assert judged(mean(), function)[RESULTS]["right"] is right


def test_what_a_function_raised_is_told():
    assert "ValueError: no idea" in judged(mean(), raising)[RESULTS]["why"]


# --- evidence of unknown origin ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        None, [], "right", {}, {"language": "cuda"}, {"language": "cuda", "kernel": {"name": "x"}},
        {"language": "python", "results": [{"value": 1}]}, {"language": "cuda", "kernel": None, "right": True},
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_evidence_earns_nothing(data):
    with pytest.raises(NoEvidence):
        answer_in(data, double())
    verdict = judge.answer({"exercise": "lab99.double", "seed": 1, "evidence": data})
    assert not any(part["right"] for part in verdict.values()) and verdict[RESULTS]["why"]


@pytest.mark.parametrize("results", [[], [{"value": 1.0}], [{"value": {"float": "x"}}] * 3, [None] * 3, ["right"] * 3])
def test_too_few_or_broken_results_earn_nothing(results):
    data = {"language": "python", "results": results}
    verdict = judge.answer({"exercise": "lab99.mean", "seed": 1, "evidence": data})
    assert not verdict[RESULTS]["right"]


# --- the graded cell --------------------------------------------------------------------------------------------------


def test_a_probe_has_numbers_and_no_verdict():
    seen = probe(kernel(RIGHT), "lab99.double", SECTORS)
    assert seen == Probe("lab99.double", SECTORS, 3, 0, 0, 3.25)
    assert not any(isinstance(value, bool) for value in seen.as_json().values())


def test_a_probe_of_a_wrong_answer_has_no_cost(capsys):
    seen = probe(kernel(ANSWERS["copies"]), "lab99.double", SECTORS)
    assert (seen.wrong, seen.value, seen.says) == (3, None, "an unchanged input")
    assert "right in 0 of 3 cases (an unchanged input)" in capsys.readouterr().out


def test_a_seed_takes_the_place_of_public_cases():
    answer = kernel(ANSWERS["public sizes only"])
    assert probe(answer, "lab99.double").wrong == 0
    assert probe(answer, "lab99.double", seed=5).wrong == 2


def test_a_function_is_tried_again_each_time():
    offset = [0.0]

    def function(values):
        return sum(values) / len(values) + offset[0]

    assert probe(function, "lab99.mean").wrong == 0
    offset[0] = 1.0
    assert probe(function, "lab99.mean").wrong == 2


def test_with_inputs_a_probe_shows_evidence_and_returns_nothing(monkeypatch):
    from IPython import display

    shown = []
    monkeypatch.setattr("IPython.get_ipython", lambda: object())
    monkeypatch.setattr(display, "publish_display_data", shown.append)
    inputs = inputs_of(double().for_marks(8))
    assert probe(kernel(RIGHT), "lab99.double", RESULTS, inputs=inputs) is None
    (bundle,) = shown
    assert bundle[MIME]["evidence"] == evidence.taken(kernel(RIGHT), inputs)
    assert json.loads(json.dumps(bundle)) == bundle


def test_what_an_answer_prints_and_warns_of_stays_inside(capsys):
    import sys
    import warnings

    def loud(values):
        print("PASSED 10/10")
        print("oops", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return sum(values) / len(values)

    assert probe(loud, "lab99.mean").wrong == 0
    said = capsys.readouterr()
    assert "PASSED" not in said.out and not said.err


def test_an_unknown_part_names_those_there_are():
    with pytest.raises(KeyError, match=SECTORS):
        probe(kernel(RIGHT), "lab99.double", "speed")


def test_a_warp_that_is_not_followed_to_its_end_is_over_budget(known_exercises):
    alone = """if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < n; ++i) { volatile int k = 0; while (k < 30) k = k + 1; out[i] = 2 * x[i]; }"""
    task = double(budgets=(Budget("waits", lambda chain: chain.waits, 4, "At once.", of="warp"),))
    known_exercises[task.key] = task
    seen = probe(kernel(alone), task.key, "waits", seed=3)
    assert seen.wrong == 0 and not seen.value <= 4
    assert json.loads(json.dumps(seen.as_json(), allow_nan=False))["value"] is None
    assert not judged(task, kernel(alone))["waits"]["right"]


COUNTS_LAUNCHES = r"""
__device__ int blocks;
extern "C" __global__ void double_it(const float* x, float* y, int n) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&blocks, 1);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (ticket < 2 && i < n) y[i] = 2 * x[i];
}
"""


PADDED = r"""
__device__ float pad[1 << 16];
extern "C" __global__ void double_it(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = i; k < 1 << 16; k += gridDim.x * blockDim.x) { sum += pad[k]; pad[k] = 0; }
    if (i < n) y[i] = 2 * x[i * 17 % n] + sum;
}
"""


def test_what_a_kernel_reads_of_its_own_was_not_needed():
    """It reads x as badly as can be, and a large variable as well as can be: on the whole it looks sparing."""
    loaded, stored = (Budget(of.__name__, of, 1.1, "") for of in (loaded_for_needed, stored_for_needed))
    x = np.full(1000, 3, np.float32)
    case = Case("1,000 elements", (x, Out(2 * x), np.int32(1000)), (16,), (64,))
    task = double(cases=lambda: [case], sanitize=False, budgets=(loaded, stored))
    seen = examine(
        answer_in(json.loads(json.dumps(taken(cp.RawKernel(PADDED, "double_it"), inputs_of(task)))), task), task
    )
    assert seen.right and [spent.ok for spent in seen.budgets] == [False, False]
    assert seen.budgets[0].value > 10


def test_a_kernel_that_counts_its_launches_is_counted_as_at_its_first():
    """It works twice and then no more: in the judge's three launches it would come to be counted for nothing."""
    task = double(cases=lambda: [double_case(1)])
    made = answer_in(json.loads(json.dumps(taken(cp.RawKernel(COUNTS_LAUNCHES, "double_it"), inputs_of(task)))), task)
    seen = examine(made, task)
    assert seen.right and [spent.value for spent in seen.budgets] == [1.0]


# --- where kernels run ------------------------------------------------------------------------------------------------

NEWER = 'asm volatile("fence.proxy.async;");'


def on_hopper(body: str):
    code = 'extern "C" __global__ void double_it(const float* x, float* out, int n) {' + body + "}"
    return cp.RawKernel(code, "double_it", options=("-arch=sm_90",))


def test_a_kernel_that_needs_a_newer_gpu_loses_only_what_is_asked_of_older_ones(known_exercises):
    registers = Budget("registers on an A100", lambda cost: cost.on("A100").resources.registers, 32, "Few.")
    task = double(budgets=(*double().budgets, registers))
    known_exercises[task.key] = task
    found = judged(task, on_hopper(NEWER + RIGHT))
    assert [part["right"] for part in found.values()] == [True, True, False]
    assert "sm_80" in found[registers.label]["why"]
    assert all(part["right"] for part in judged(task, on_hopper(RIGHT)).values())


def through_json(task: Exercise, answer, seed: int = 3) -> tuple[dict, list[dict]]:
    """The verdict where all that passes between judge and runner is JSON, and what the runner was asked."""
    asked, held = [], {}

    def ask(request: dict) -> dict:
        request = json.loads(json.dumps(request))
        asked.append(request)
        if "kernel" in request:
            held["runs"] = Here(Portable.from_json(request["kernel"][0]))
            return {"ready": True}
        if "trial" in request:
            return json.loads(json.dumps({"seen": seen_as_json(held["runs"].run(trial_of(request["trial"])))}))
        return {"resources": resources_as_json(held["runs"].resources(gpus.find(request["resources"])))}

    proof = json.loads(json.dumps(taken(answer, inputs_of(task.for_marks(seed)))))
    return judge.answer({"exercise": task.key, "seed": seed, "evidence": proof}, ask), asked


@pytest.mark.parametrize("body", ANSWERS.values(), ids=ANSWERS)
def test_a_kernel_that_runs_elsewhere_is_told_the_same(body):
    assert through_json(double(), kernel(body))[0] == judged(double(), kernel(body))


def test_chains_and_compilers_numbers_come_through_json_too(known_exercises):
    budgets = (
        Budget("waits", lambda chain: chain.waits, 1, "At once.", of="warp"),
        Budget("busiest", lambda shares: shares.instructions.max(), 100, "All.", of="warps"),
        Budget("registers", lambda cost: cost.on("H100").resources.registers, 32, "Few."),
    )
    task = known_exercises["lab99.double"] = double(budgets=budgets)
    found, _ = through_json(task, kernel(RIGHT))
    assert found == judged(task, kernel(RIGHT)) and all(part["right"] for part in found.values())


def test_what_runs_a_kernel_is_told_nothing_of_what_is_right():
    task = double()
    _, asked = through_json(task, kernel(RIGHT), seed=987_654_321)
    for case in task.for_marks(987_654_321).cases():
        wanted = plain(case.out.expected)["data"]
        assert wanted not in json.dumps(asked), case.name
    assert "987654321" not in json.dumps(asked) and "expected" not in json.dumps(asked)
    assert len([each for each in asked if "trial" in each]) == 5  # what is counted is what was compared


@pytest.mark.parametrize("why", ["words", "counter", "array", "chain", "finding", "error", "nothing"])
def test_a_runner_that_says_something_else_is_not_believed(why):
    x = np.ones(4, np.float32)
    seen = Here(kernel("out[threadIdx.x] = x[threadIdx.x];")).run(
        Trial((x, Blank(x.dtype, x.shape), np.int32(4)), (1,), (4,), True, (0, 0))
    )
    said = seen_as_json(seen)
    assert seen_of(json.loads(json.dumps(said))).counters.total == seen.counters.total
    spoilt = {
        "words": {"findings": "none"},
        "counter": {"counters": {**said["counters"], "total": {"global_load_sectors": -1}}},
        "array": {"output": {"array": "|O", "shape": [1], "data": ""}},
        "chain": {"chain": {"kernel": "k", "links": [["ld", 1, [7], "global", "load", 1]]}},
        "finding": {"findings": [{"kind": "race"}]},
        "error": {"error": {"type": "KernelTimeout", "words": 7}},
        "nothing": {"counters": {}},
    }
    with pytest.raises(NotSeen):
        seen_of(said | spoilt[why])


BY_DATA = (
    f"{INDEX} if (i < n && (n < 100 || x[i] < 0)) out[i] = 2 * x[i]; if (i >= n - 1 && n > 100) out[777000000 + n] = 1;"
)


def test_feedback_of_hidden_cases_has_names_and_no_numbers():
    found = judged(double(), kernel(BY_DATA))
    assert found[RESULTS]["mistake"] == judge.PUBLIC_ONLY
    assert judge.HIDDEN in found[RESULTS]["why"] and not any(sign.isdigit() for sign in found[RESULTS]["why"])
    spread = judged(double(), kernel("int i = n < 100 ? threadIdx.x + 64 * blockIdx.x : " + ANSWERS["spread"][8:]))
    assert not spread[SECTORS]["right"]
    assert f"{SECTORS}: over the limit (at most 4.1) in a case that is not public" in spread[SECTORS]["why"]


def failing(error):
    """The words for an answer that raises `error`, from a process that has seen hidden inputs."""

    def function(values):
        raise error

    proof = json.loads(json.dumps(taken(function, inputs_of(mean().for_marks(3)))))
    return judge.answer({"exercise": "lab99.mean", "seed": 3, "evidence": proof, "open": False})


@pytest.mark.parametrize(
    "error",
    [ValueError("secret 17"), type("secret_17", (Exception,), {})(), ConnectionRefusedError(), NotImplementedError()],
    ids=lambda error: type(error).__name__,
)
def test_of_a_process_that_has_seen_hidden_inputs_every_exception_is_told_in_the_same_words(error):
    """Else the name of a built-in one could say what the inputs were."""
    assert failing(error) == failing(RuntimeError())


def test_what_stopped_ranks_is_told_by_no_name(known_exercises):
    task = exercises()["lab16.scatter"]
    known_exercises[task.key] = task
    alone = built(task, patched(task, next(each for each in task.mistakes if each.name.startswith("all send")).ways[0]))
    request = {"exercise": task.key, "seed": 3, "evidence": taken(alone, inputs_of(task.for_marks(3))), "open": False}
    why = judge.answer(json.loads(json.dumps(request)))[RESULTS]["why"]
    assert why.startswith("`send` waits until the message is taken.")
    assert "ranks, " not in why and "Stuck" not in why


@pytest.mark.parametrize("wrong", [0, 1, -1])
def test_which_public_case_is_wrong_says_nothing_of_hidden_inputs(wrong):
    """A function that has seen them can choose in which public case it fails."""
    task = mean().for_marks(3)
    proof = json.loads(json.dumps(taken(lambda values: 0.0, inputs_of(task))))
    proof["results"] = [{"value": plain(case.expected)} for case in task.cases()]
    public = [number for number, case in enumerate(task.cases()) if not case.hidden]
    proof["results"][public[wrong]] = {"error": "RuntimeError"}
    request = {"exercise": "lab99.mean", "seed": 3, "evidence": proof, "open": False}
    assert judge.answer(request) == failing(RuntimeError())
