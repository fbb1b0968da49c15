"""What a function did with tensors and kernels, as a program that can be run again on other inputs.

A `Program` is a list of steps on numbered values: inputs, constants, operators of PyTorch and launches of kernels.
`tracing` writes one down while a function runs, and `play` runs one: launches wherever `runs` says, operators in NumPy.
So a function's result on inputs that it has never seen is computed by the function's own kernels, away from its author.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from helpers.checking import tensor_operators
from helpers.checking.trial import Blank, Runs, Trial
from helpers.checking.values_as_json import NotPlain, plain, unplain

MOST_CONSTANTS = 4_096
"""Numbers that a program may hold besides its inputs, such as a network's weights."""
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
        if len(steps) > MOST_STEPS or len(constants) > MOST_ARRAYS:
            raise NotReplayable(f"a program has at most {MOST_STEPS:,} steps and {MOST_ARRAYS} constants")
        try:
            held = [unplain(each) for each in constants]
        except NotPlain as error:
            raise NotReplayable(str(error)) from None
        if not all(isinstance(each, np.ndarray) and np.isfinite(each).all() for each in held):
            raise NotReplayable("a program's constants are arrays of finite numbers")
        return cls(steps, held, data["returned"])


def _is_step(step: object) -> bool:
    return isinstance(step, dict) and isinstance(step.get("do"), str) and isinstance(step.get("args"), list)


def too_many(constants: list) -> str:
    """What to say of constants beyond the limit; "" within it."""
    count = sum(each.size for each in constants)
    if count <= MOST_CONSTANTS:
        return ""
    return (
        f"it uses {count:,} numbers that come neither from its arguments nor from your kernels, and at most "
        f"{MOST_CONSTANTS:,} are allowed. Weights are such numbers. So are results of NumPy: use PyTorch's operators."
    )


def play(program: Program, arguments: tuple, runs: list[Runs]) -> object:
    """What the program returns for these arrays; `runs` launches its kernels, by their numbers.

    A step is {"do": a name, "args": […], "out": number}. "input" and "constant" make a copy of the array of that
    number. "launch" has `kernel`, `grid`, `block`, and the positions of the arguments that it `writes`. Other steps
    are operators of `tensor_operators`, with `named` arguments. Raises NotReplayable, or what a launch raises.
    """
    if words := too_many(program.constants):
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

    def play(self) -> object:
        try:
            for step in self._program.steps:
                self._step(step)
            return self._returned(self._program.returned)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
            if isinstance(error, NotReplayable):
                raise
            raise NotReplayable(f"its steps can't be run again: {type(error).__name__}: {error}"[:300]) from None

    def _step(self, step: dict) -> None:
        do, args = step["do"], step["args"]
        if do == LAUNCH:
            self._launch(step, [self._read(each) for each in args], [_number(each) for each in args])
            return
        out = int(step["out"])
        if do == INPUT:
            self._values[out] = np.array(self._arguments[_index(args[0])])
        elif do == CONSTANT:
            self._values[out] = np.array(self._program.constants[_index(args[0])])
        else:
            self._operate(do, args, step.get("named") or {}, out)

    def _operate(self, do: str, args: list, named: dict, out: int) -> None:
        operands = [self._read(each) for each in args]
        lost = next((each for each in _flat(operands) if isinstance(each, _Lost)), None)
        if lost is None and do not in tensor_operators.TABLE:
            lost = _Lost(do)
        self._values[out] = lost or tensor_operators.run(do, operands, {k: self._read(v) for k, v in named.items()})
        if any(number in self._launched for number in map(_number, _flat(args))):
            self._launched.add(out)

    def _launch(self, step: dict, arguments: list, numbers: list) -> None:
        for each in arguments:
            if isinstance(each, _Lost):
                raise NotReplayable(_not_yours(each.operator))
        runs = self._runs[_index(step["kernel"])]
        grid, block = (tuple(map(_index, step[name])) for name in ("grid", "block"))
        results = {}
        for position in map(_index, step["writes"]):
            target = arguments[position]
            given = list(arguments)
            given[position] = Blank(target.dtype, target.shape, target)
            seen = runs.run(Trial(tuple(given), grid, block))
            if seen.error is not None:
                raise seen.error
            results[position] = seen.output
        for position, result in results.items():
            arguments[position][...] = result
            self._launched.add(numbers[position])

    def _read(self, arg):
        if isinstance(arg, list):
            return [self._read(each) for each in arg]
        if isinstance(arg, dict):
            return self._values[arg["value"]] if "value" in arg else unplain(arg)
        return arg

    def _returned(self, data):
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


def _number(arg) -> int | None:
    return arg.get("value") if isinstance(arg, dict) else None


def _index(value) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError(f"{str(value)[:40]} is no index")
    return value
