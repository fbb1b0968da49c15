"""What a function did with tensors and kernels, as a program that can be run again on other inputs.

A `Program` is a list of steps on numbered values: inputs, constants, operators of PyTorch and launches of kernels.
`tracing` writes one down while a function runs, and `play` runs one: launches wherever `runs` says, operators in NumPy.
So a function's result on inputs that it has never seen is computed by the function's own kernels, away from its author.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers.checking import tensor_operators
from helpers.checking.trial import Blank, Runs, Trial
from helpers.checking.values_as_json import NotPlain, plain, unplain
from vgpu.tools.roofline import flops_by_unit

MOST_CONSTANTS = 4_096
"""Numbers of four bytes that a program may hold besides its inputs, such as a network's weights, those in the code of
its kernels among them."""
LEAST_SHARE = 0.75
"""Of all multiplications, those that its kernels do."""
MOST_IN_A_LIST = 8
MOST_STEPS = 1_000
MOST_ARRAYS = 64
INPUT, CONSTANT, LAUNCH = "input", "constant", "launch"


class NotReplayable(ValueError):
    """A function did something that cannot be run again, or a program is none; the message says what."""


@dataclass(frozen=True)
class Program:
    """`steps`: JSON objects, see `play`. `constants`: arrays. `returned`: what to return, as JSON: {"value": number},
    a list of such, or {"tuple": […]}."""

    steps: list
    constants: list
    returned: object

    def __post_init__(self) -> None:
        if len(self.steps) > MOST_STEPS:
            raise NotReplayable(
                f"it takes {len(self.steps):,} operators and launches, and at most {MOST_STEPS:,} can be run again: "
                "let each work on many images at once"
            )

    def as_json(self) -> dict:
        return {"steps": self.steps, "constants": [plain(each) for each in self.constants], "returned": self.returned}

    @classmethod
    def from_json(cls, data: object) -> Program:
        """The inverse of `as_json`, for data of unknown origin; raises NotReplayable."""
        if not isinstance(data, dict) or set(data) != {"steps", "constants", "returned"}:
            raise NotReplayable("a program has steps, constants and what it returns")
        steps, constants = data["steps"], data["constants"]
        if not all(isinstance(each, list) for each in (steps, constants)) or not all(map(_is_step, steps)):
            raise NotReplayable("a program's steps and constants are lists")
        if len(constants) > MOST_ARRAYS:
            raise NotReplayable(f"a program has at most {MOST_ARRAYS} constants")
        try:
            held = [unplain(each) for each in constants]
        except NotPlain as error:
            raise NotReplayable(str(error)) from None
        if not all(isinstance(each, np.ndarray) and np.isfinite(each).all() for each in held):
            raise NotReplayable("a program's constants are arrays of finite numbers")
        return cls(steps, held, data["returned"])


def _is_step(step: object) -> bool:
    return isinstance(step, dict) and isinstance(step.get("do"), str) and isinstance(step.get("args"), list)


def too_many(constants: list, in_code: int = 0) -> str:
    """What to say of numbers beyond the limit, in constants and in the code of kernels; "" within it."""
    count = sum(max(each.size, each.nbytes // 4) for each in constants)
    if count + in_code <= MOST_CONSTANTS:
        return ""
    kernels = f" and {in_code:,} that stand in the code of your kernels" if in_code else ""
    return (
        f"it uses {count:,} numbers that come neither from its arguments nor from your kernels{kernels}; at most "
        f"{MOST_CONSTANTS:,} of four bytes are allowed. Weights are such numbers. So are results of NumPy: use "
        "PyTorch's operators."
    )


def play(program: Program, arguments: tuple, runs: list[Runs], in_code: int = 0) -> object:
    """What the program returns for these arrays; `runs` launches its kernels, by their numbers. `in_code`: how many
    numbers stand in the code of these kernels.

    A step is {"do": a name, "args": […], "out": number, or a list of such}. "input" and "constant" make a copy of the
    array of that number. "launch" has `kernel`, `grid`, `block`, and the positions of the arguments that it `writes`.
    Other steps are operators of `tensor_operators`, with `named` arguments. Raises NotReplayable, or what a launch
    raises.
    """
    if words := too_many(program.constants, in_code):
        raise NotReplayable(words)
    return _Player(program, arguments, runs).play()


@dataclass(frozen=True)
class _Lost:
    """The result of an operator that isn't replayed."""

    operator: str


class _Player:
    def __init__(self, program: Program, arguments: tuple, runs: list[Runs]):
        self._program, self._arguments, self._runs = program, arguments, runs
        self._values: dict[int, object] = {}
        self._launched: set[int] = set()  # values that depend on a launch
        self._products = {"kernels": 0.0, "operators": 0.0}

    def play(self) -> object:
        try:
            for step in self._program.steps:
                self._step(step)
            result = self._returned(self._program.returned)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
            if isinstance(error, NotReplayable):
                raise
            raise NotReplayable(f"its steps can't be run again: {type(error).__name__}: {error}"[:300]) from None
        if self._products["kernels"] < LEAST_SHARE * sum(self._products.values()):
            raise NotReplayable(
                f"PyTorch's operators do more of the multiplications than they may: your kernels have to do at least "
                f"{100 * LEAST_SHARE:g} of 100"
            )
        return result

    def _step(self, step: dict) -> None:
        do, args = step["do"], step["args"]
        if do == LAUNCH:
            self._launch(step, [self._read(each) for each in args], [_number(each) for each in args])
            return
        outs = [_index(each) for each in (step["out"] if isinstance(step["out"], list) else [step["out"]])]
        if do == INPUT:
            results = [np.array(self._arguments[_index(args[0])])]
        elif do == CONSTANT:
            results = [np.array(self._program.constants[_index(args[0])])]
        else:
            results = self._operate(do, args, step.get("named") or {})
        lost = [_Lost(do)] * (len(outs) - len(results))
        self._values |= zip(outs, [*results, *lost], strict=False)
        if any(number in self._launched for number in map(_number, _flat(args))):
            for number in outs:
                self._depends_on_a_launch(number)

    def _operate(self, do: str, args: list, named: dict) -> list:
        operands, named = [self._read(each) for each in args], {key: self._read(each) for key, each in named.items()}
        lost = next((each for each in _flat(operands) if isinstance(each, _Lost)), None)
        if lost is not None or do not in tensor_operators.TABLE:
            return [lost or _Lost(do)]
        results = tensor_operators.run(do, operands, named)
        self._products["operators"] += tensor_operators.products(do, operands, results)
        return results

    def _launch(self, step: dict, arguments: list, numbers: list) -> None:
        for each in arguments:
            if isinstance(each, _Lost):
                raise NotReplayable(_not_yours(each.operator))
        runs = self._runs[_index(step["kernel"])]
        grid, block = (tuple(map(_index, step[name])) for name in ("grid", "block"))
        results, counters = {}, None
        for position in map(_index, step["writes"]):
            target = arguments[position]
            given = list(arguments)
            given[position] = Blank(target.dtype, target.shape, target)
            seen = runs.run(Trial(tuple(given), grid, block))
            if seen.error is not None:
                raise seen.error
            results[position], counters = seen.output, seen.counters
        if counters is not None:  # the last launch, as each repeats the same work for another output
            self._products["kernels"] += sum(flops_by_unit(counters.total).values()) / 2
        for position, result in results.items():
            arguments[position][...] = result
            self._depends_on_a_launch(numbers[position])

    def _depends_on_a_launch(self, number: int) -> None:
        """A value does, and so do those whose memory it shares."""
        arrays = {n: each for n, each in self._values.items() if isinstance(each, np.ndarray)}
        self._launched.update(n for n, each in arrays.items() if np.may_share_memory(each, arrays.get(number)))

    def _read(self, arg: object) -> Any:
        """An argument: a value, a number, a text, or a list of such. Arrays are constants, which are counted."""
        if isinstance(arg, list):
            found = [self._read(each) for each in arg]
            if len(arg) > MOST_IN_A_LIST and not all(isinstance(each, dict) and "value" in each for each in arg):
                raise ValueError(f"a list has more than {MOST_IN_A_LIST} numbers")
            return found
        if not isinstance(arg, dict):
            return arg
        if "value" in arg:
            return self._values[arg["value"]]
        number = unplain(arg)
        if np.ndim(number) or isinstance(number, str | dict):
            raise ValueError("an array that isn't among the constants")
        return number

    def _returned(self, data: object) -> object:
        if isinstance(data, list):
            return [self._returned(each) for each in data]
        if isinstance(data, dict) and "tuple" in data:
            return tuple(self._returned(each) for each in data["tuple"])
        if not isinstance(data, dict) or "value" not in data:
            return unplain(data)
        value = self._values[data["value"]]
        if isinstance(value, _Lost):
            raise NotReplayable(_not_yours(value.operator))
        if data["value"] not in self._launched:
            raise NotReplayable("none of your kernels had a part in what it returned")
        return np.array(value)


def _not_yours(operator: str) -> str:
    return (
        f"PyTorch's own `{operator}` had a part in what it returned, where only your kernels and simple operators may"
    )


def _flat(args: list) -> list:
    return [inner for each in args for inner in (_flat(each) if isinstance(each, list) else [each])]


def _number(arg: object) -> int | None:
    return arg.get("value") if isinstance(arg, dict) else None


def _index(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError(f"{str(value)[:40]} is no index")
    return value
