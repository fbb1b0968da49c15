"""The table of exercises: what is asked, on which data, within which budget, and how wrong answers are known.

A chapter or lab is a book: a folder of `helpers.exercises` called after it, such as `ch04`, with a folder an exercise,
which `helpers.checking.exercise_files` reads; `ORDER` in the book's `__init__` names them in the order of the book.
Those of a lab have no `solution` here: it is in the lab's source. Other projects have books of their own (`books`).
"""

from __future__ import annotations

import difflib
import importlib
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from helpers.checking import books
from helpers.checking.exercise_files import BadExercise, BudgetTable, Folder, Way, one_line
from helpers.checking.exercise_files import Patch as Patch
from vgpu.base.words import plural as plural
from vgpu.launch.counters import Footprint

_BOOKS = importlib.import_module("helpers.exercises")  # content, looked up by name: it stands on this room
FOLDER, OWN = books.COURSE, books.own()
"""The folder of the course's books; that of another project's books, or None."""
_BOOKS.__path__[1:] = [str(OWN)] if OWN else []
BOOKS = (*books.course(), *(books.names(OWN) if OWN else ()))
"""The names of all books."""

SECTOR = 32  # bytes


@dataclass(frozen=True, eq=False)
class Out:
    """An argument that the kernel must fill: what it must hold afterwards, and what it holds before.

    Without `initial` the array starts as bytes 0xFF (NaN, or -1), so an element that no thread writes shows.
    """

    expected: np.ndarray
    initial: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Form:
    """What stands for the right result where there are many, as of a trained network: any array of such a form.

    `shape`; `kind`, "f" for fractions or "i" for whole numbers; every element finite, and from `low` to `high`. How
    good it is budgets measure, of "answer", by `truth`, which is what the answer's author does not get to know. `tell`:
    a word for what an array is like that rounding on another machine does not change; by it mistakes are recognised.
    `also`: what else it lacks, in words.
    """

    shape: tuple[int, ...]
    kind: str = "f"
    low: float = -math.inf
    high: float = math.inf
    truth: Any = None
    tell: Callable[[np.ndarray, Any], str] = lambda got, truth: ""
    also: Callable[[np.ndarray], str] = lambda got: ""

    def __str__(self) -> str:
        sort = "fractions" if self.kind == "f" else "whole numbers"
        within = "" if math.isinf(self.low) else f" from {self.low:g} to {self.high:g}"
        return f"an array of {sort}{within} of shape {self.shape}"

    def lacks(self, got: object) -> str:
        """What makes `got` another thing than was asked for, in words; "" where nothing does."""
        if not isinstance(got, np.ndarray):
            return f"a {type(got).__name__} and no NumPy array"
        if got.shape != self.shape:
            return f"an array of shape {got.shape}"
        if got.dtype.kind not in ("f" if self.kind == "f" else "iu"):
            return f"an array of {got.dtype}"
        if not np.isfinite(got).all():
            return "an array that is not finite everywhere"
        beyond = []
        if (got < self.low).any():
            beyond.append(f"below {self.low:g}")
        if (got > self.high).any():
            beyond.append(f"above {self.high:g}")
        return f"an array with elements {' and '.join(beyond)}" if beyond else self.also(got)


@dataclass(frozen=True, eq=False)
class Case:
    """One launch: `arguments` are arrays, scalars and one `Out`, in the kernel's order.

    For an exercise whose answer is a Python function, `expected` is what the function must return, or the `Form` of
    it. `watched`: the block and the warp in it that are followed where a budget is about one warp. `hidden`: drawn by a
    secret seed, so that nothing of what an answer does with it may be told but that it is wrong. `reads`: bytes of
    global memory that have to be read, where that isn't all of the inputs. `plays`: where a
    function returns a plan, what carries it out, on data that the function has not seen. It gives what is to be
    compared with `expected`, and what budgets count, and raises where the plan cannot be carried out.
    """

    name: str
    arguments: tuple
    grid: tuple[int, ...] = (1,)
    block: tuple[int, ...] = (1,)
    expected: Any = None
    watched: tuple[int, int] = (0, 0)
    hidden: bool = False
    reads: int | None = None
    plays: Callable[[Any], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        """A grid that says nothing of a direction which the block has, has one block there."""
        object.__setattr__(self, "grid", (*self.grid, *(1,) * (len(self.block) - len(self.grid))))

    @property
    def out(self) -> Out:
        """The first output; of a function, what it returns."""
        return next((argument for argument in self.arguments if isinstance(argument, Out)), Out(self.expected))

    @cached_property
    def needed(self) -> Footprint:
        """The global memory that any right kernel touches, in whole sectors: what budgets divide by.

        It follows from the arguments alone, so nothing that a kernel does makes it larger. Of inputs every sector
        counts that holds more than NaN, which fills gaps; of outputs every sector in which an element changes.
        """
        outs = [argument for argument in self.arguments if isinstance(argument, Out)]
        reads = sum(_sectors(a, a == a) for a in self.arguments if isinstance(a, np.ndarray))
        writes = sum(
            _sectors(out.expected, np.True_ if out.initial is None else out.expected != out.initial) for out in outs
        )
        return Footprint(reads if self.reads is None else self.reads, writes)


def _sectors(array: np.ndarray, counts: np.ndarray | np.bool_) -> int:
    """The bytes of the sectors of an array in which an element counts; arrays begin at the start of a sector."""
    flags = np.repeat(np.broadcast_to(counts, array.shape).ravel(), array.itemsize)
    return SECTOR * len(np.unique(np.flatnonzero(flags) // SECTOR))


@dataclass(frozen=True, eq=False)
class Budget:
    """A limit on counters: `measure(profile)` may be `at_most`, or a little explanation follows.

    Of stream work it is `measure(timeline)`, of a Python function `measure(outcome)`, by what it returned: then `of`
    is "answer", but of a plan that was played, whose counts are exact. `line_by` names the counter whose worst source
    line is shown. `of`:
    "launch", or "warp" where `measure` takes the `Chain` of the warp that the case names, which knows what waits for
    what, instead of the profile, or "warps" where it takes what each warp does (`Shares`). All come from one launch.
    In a chapter it may be "machine code": `measure` takes the pair of that `Chain` and a function that gives the
    machine instructions for a GPU.
    Measures go by `vgpu.tools.counter_sums`, so that no other instruction is a way around them, and divide by what the
    case needs (`profile.needed`) or by the launch, never by what the kernel touched.
    """

    label: str
    measure: Callable[[Any], float]
    at_most: float
    teach: str
    line_by: str = "global_load_sectors"
    of: str = "launch"


@dataclass(frozen=True)
class Mistake:
    """A misconception: its name, the words that help, and the ways to make it, by which it is recognised.

    An answer that does what one of these ways does made this mistake (`helpers.checking.fingerprint`). `seen`: facts
    of the very answer, which are told of public cases. `finding`: the one of the sanitizer's that they are about.
    """

    name: str
    teach: str
    ways: tuple[Way, ...] = ()
    seen: str = ""
    finding: Any = None


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise.

    `language`: "numba", "cuda", "python" for a plain function that returns its result, "tensors" for one whose result
    its own kernels compute (see `replayed`), or "streams" for one that issues stream work (see `stream_work`).
    `cases()`: the launches, smallest first. `right`: names of right answers by other routes than the solution's, and
    the answers.
    `measured()`: the launch whose counters meet the budgets, or None. `mistakes`: in the order they are
    tried.
    `hints`: three, from a nudge to nearly the answer. `solution`: source text, explained by `why`.
    `thread_of(index, case)`: the (block, thread) that should write an element, where the launch fixes it.
    `sanitize`: whether the sanitizer has to find nothing in any case, in shared or global memory; of stream work,
    whether no two operations may be without an order that they need. `also_wrong`: kinds of the sanitizer's hints that
    fail this exercise as errors do. `shared_out`: whether costs count only where no block or warp does most of the
    work, as counters are sums and do not tell. `drawn(generator)`: of a lab, cases like those of
    `cases()` as a seed draws them; a right answer for the public cases alone is none for these. `equivalent`: patches
    as mutants make them that leave the answer right, and why. `patience`: how many times as long as
    others the cell of a lab's answer may take where it is graded, as one that trains a network. `gpu`: the one that is
    modelled while a chapter's answer is checked, where it asks for what others lack; "" for the learner's choice.
    `options`: the compiler's, for the solution's CUDA C.
    """

    key: str
    title: str
    language: str
    name: str
    cases: Callable[[], list[Case]]
    hints: tuple[str, str, str]
    solution: str = ""
    why: str = ""
    stretch: str = ""
    mistakes: tuple[Mistake, ...] = ()
    budgets: tuple[Budget, ...] = ()
    measured: Callable[[], Case] | None = None
    thread_of: Callable | None = None
    tolerance: float = field(default=1e-5)
    sanitize: bool = False
    also_wrong: tuple[str, ...] = ()
    shared_out: bool = False
    drawn: Callable[[np.random.Generator], list[Case]] | None = None
    equivalent: tuple[tuple[Patch, str], ...] = ()
    patience: float = 1.0
    gpu: str = ""
    options: tuple[str, ...] = ()
    right: tuple[tuple[str, Way], ...] = ()

    @property
    def asks_for_a_kernel(self) -> bool:
        """Whether the answer is a kernel, and no plain function."""
        return self.language in ("numba", "cuda")

    @property
    def asks_for_a_function(self) -> bool:
        """Whether the answer is a plain function that returns its result."""
        return self.language in ("python", "tensors")

    @property
    def of_a_lab(self) -> bool:
        """Whether the answer gets marks, and is to be found."""
        return self.drawn is not None

    def with_cases_of(self, seed: int) -> Exercise:
        """The same exercise on the cases that a seed draws; the last of them is the one that is counted."""
        drawn = self.drawn
        assert drawn is not None  # it is of a lab
        return replace(self, cases=lambda: drawn(np.random.default_rng(seed)), measured=None)

    def for_marks(self, seed: int) -> Exercise:
        """The same exercise on its own cases and then on those that a secret seed draws."""
        drawn = self.with_cases_of(seed).cases
        return replace(self, cases=lambda: [*self.cases(), *(replace(case, hidden=True) for case in drawn())])

    def build(self, source: str) -> Any:
        """The callable that `source` defines: a kernel, or a plain function."""
        if self.language == "cuda":
            from helpers import cp

            return cp.RawKernel(source, self.name, options=self.options)
        names: dict[str, object] = {"__name__": "exercise"}
        if self.language in ("numba", "streams"):
            from helpers import cuda

            names["cuda"] = cuda
        if self.language == "streams":
            from helpers import cp

            names |= {"cp": cp, "np": np}
        filename = f"<{self.key}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)  # for messages
        exec(compile(source, filename, "exec"), names)
        return names[self.name]


def book_folder(book: str) -> Path:
    """The folder of a book, the course's or another project's."""
    return OWN / book if OWN and (OWN / book).is_dir() else FOLDER / book


class _Table(Mapping):
    """Every exercise by its key, in the order of the books. Each is read when it is asked for, and then kept."""

    def __init__(self) -> None:
        orders = {book: importlib.import_module(f"{_BOOKS.__name__}.{book}").ORDER for book in BOOKS}
        self._keys = {f"{book}.{name}": (book, name) for book, order in orders.items() for name in order}

    def __getitem__(self, key: str) -> Exercise:
        return _read(*self._keys[key])

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@cache
def exercises() -> Mapping[str, Exercise]:
    """Every exercise by its key, in the order of the books."""
    return _Table()


def exercise(key: str | Exercise) -> Exercise:
    """The exercise called `key`; a KeyError names the nearest when there is none."""
    if isinstance(key, Exercise):
        return key
    table = exercises()
    if key not in table:
        near = difflib.get_close_matches(str(key), table, n=1) or ["one of " + ", ".join(table)]
        raise KeyError(f"no exercise {key!r}; did you mean {near[0]}?")
    return table[key]


@cache
def _read(book: str, name: str) -> Exercise:
    """The exercise in a folder."""
    folder = Folder(book_folder(book) / name)
    sheet = folder.sheet
    cases = importlib.import_module(f"{_BOOKS.__name__}.{book}.{name}.cases")
    first, second, third = map(one_line, sheet.hints)
    mistakes = (
        Mistake(
            each.name,
            one_line(each.teach),
            tuple(folder.way(way, "wrong", f"mistakes {each.name!r}") for way in each.ways),
        )
        for each in sheet.mistakes
    )
    return Exercise(
        key=f"{book}.{name}",
        title=sheet.title,
        language=sheet.language,
        name=sheet.name,
        cases=cases.cases,
        hints=(first, second, third),
        solution=folder.solution,
        why=one_line(sheet.why),
        stretch=one_line(sheet.stretch),
        mistakes=tuple(mistakes),
        budgets=tuple(_budget(table, cases, folder.path) for table in sheet.budgets),
        measured=getattr(cases, "measured", None),
        thread_of=getattr(cases, "thread_of", None),
        tolerance=sheet.tolerance,
        sanitize=sheet.sanitize,
        also_wrong=sheet.also_wrong,
        shared_out=sheet.shared_out,
        drawn=getattr(cases, "drawn", None),
        equivalent=tuple((patch, one_line(each.why)) for each in sheet.equivalent for patch in each.patches),
        patience=sheet.patience,
        gpu=sheet.gpu,
        options=sheet.options,
        right=tuple((each.name, folder.way(each.way, "right", f"right {each.name!r}")) for each in sheet.right),
    )


def _budget(table: BudgetTable, cases: ModuleType, folder: Path) -> Budget:
    """A budget of `exercise.toml`, with the measure of `cases.py`, or with what a shared one has."""
    place = f"{folder}/exercise.toml: budgets {table.label or table.shared!r}"
    words = {name: getattr(table, name) for name in ("label", "at_most", "teach", "line_by", "of")}
    given: dict[str, Any] = {
        name: value if name == "at_most" else one_line(value) for name, value in words.items() if value is not None
    }
    if table.shared:
        places = (f"{_BOOKS.__name__}.{folder.parent.name}.budgets", "helpers.checking.budgets")
        modules = [importlib.import_module(name) for name in places if find_spec(name)]
        shared = next((vars(module)[table.shared] for module in modules if table.shared in vars(module)), None)
        if not isinstance(shared, Budget):
            raise BadExercise(f"{place}: no budget has the name {table.shared} in {' or '.join(places)}")
        budget = replace(shared, **given)
        measure = getattr(cases, "MEASURES", {}).get(budget.label)
        return replace(budget, measure=measure) if measure else budget
    if missing := {"label", "at_most", "teach"} - given.keys():
        raise BadExercise(f"{place}: write {', '.join(sorted(missing))} too, or `shared`, the name of a budget")
    measure = getattr(cases, "MEASURES", {}).get(table.label)
    if measure is None:
        raise BadExercise(f"{place}: MEASURES in cases.py has no measure of this label")
    return Budget(measure=measure, **given)


def alike(got: object, wanted: object, tolerance: float) -> bool:
    """Whether a function returned what it should: numbers with a fraction to a tolerance, anything else exactly.

    A list is alike to a tuple of the same pieces, and the other way round.
    An array, alone or in a tuple or list, is alike to one of its shape, element by element; one of some `Form` is alike
    to that.
    """
    if isinstance(wanted, Form):
        return not wanted.lacks(got)
    return _equal(got, wanted, tolerance)


def differing(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> np.ndarray:
    """Which elements of two arrays of one shape differ: whole numbers by anything, others by more than that."""
    if got.dtype.kind in "bui" and wanted.dtype.kind in "bui":
        return got != wanted  # a tolerance would hide the low part of a large number
    with np.errstate(invalid="ignore"):
        return ~np.isclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def comparable(got: Any, wanted: Any) -> bool:
    """Whether both are arrays of numbers, of one shape."""
    both = isinstance(got, np.ndarray) and isinstance(wanted, np.ndarray)
    return both and got.shape == wanted.shape and got.dtype.kind in "biufc"


def _equal(got: Any, wanted: Any, tolerance: float) -> bool:
    """The same piece by piece; NumPy would compare a number, and an array, with every piece of a tuple."""
    if isinstance(wanted, np.ndarray):
        return comparable(got, wanted) and not differing(got, wanted, tolerance).any()
    if isinstance(wanted, tuple | list):
        return (
            isinstance(got, tuple | list)
            and len(got) == len(wanted)
            and all(_equal(*each, tolerance) for each in zip(got, wanted, strict=True))
        )
    if isinstance(wanted, float) and isinstance(got, int | float | np.integer | np.floating):
        try:
            return math.isclose(got, wanted, rel_tol=tolerance)
        except OverflowError:  # a whole number beyond all fractions
            return False
    return not isinstance(got, np.ndarray | tuple | list) and bool(got == wanted)


# --- data that finds mistakes
# ------------------------------------------------------------------------------------


def numbers(shape: int | Sequence[int], seed: int = 0) -> np.ndarray:
    """float32 values in quarters from -8 to 8, about half of them negative, many repeated, none zero by
    chance."""
    quarters = np.random.default_rng(seed).integers(-32, 32, shape)
    return (np.where(quarters == 0, 7, quarters) / 4).astype(np.float32)


def fractions(shape: int | Sequence[int], seed: int = 0) -> np.ndarray:
    """The same with all the digits that float32 has: no small integers stand for them, and no table holds their
    products."""
    return numbers(shape, seed) + np.random.default_rng(seed + 1).uniform(-0.125, 0.125, shape).astype(np.float32)


def seeds(dice: np.random.Generator, count: int) -> list[int]:
    """Seeds for the cases that a generator draws; none is 0."""
    return [int(seed) for seed in dice.integers(1, 10**6, count)]


def cover(size: int, threads: int) -> int:
    """The blocks of `threads` that cover `size` elements."""
    return -(-size // threads)


def thread_1d(index: tuple[int, ...], case: Case) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(block, thread) for a launch with one thread an element, x along the last axis of the data."""
    places = [divmod(i, b) for i, b in zip(reversed(index), case.block, strict=False)]
    return tuple(block for block, _ in places), tuple(thread for _, thread in places)
