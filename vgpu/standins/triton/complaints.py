"""Triton's compile errors and wrong calls in the user's terms: the line, what happened and the fix."""

from __future__ import annotations

import ast
import difflib
import re

from triton.compiler.errors import CompilationError, CompileTimeAssertionFailure
from triton.runtime.jit import JITFunction

from vgpu.base.errors import ArgumentError, CompileError

# First match wins: Triton's message → what happened and the usual fix, formatted with the pattern's groups.
TABLE = (
    (
        r"arange's range must be a power of 2",
        "the length of `tl.arange` is no power of two",
        "Take the next one, `triton.next_power_of_2(n)`, and mask what lies beyond the end: `mask=offsets < n`.",
    ),
    (
        r"arange's arguments must be of type tl.constexpr",
        "the ends of `tl.arange` are not known when the kernel is compiled",
        "Declare the parameter as a constant, `BLOCK: tl.constexpr`, and pass it by name: `BLOCK=256`.",
    ),
    (
        r"module 'triton\.language' has no attribute '(\w+)'",
        "there is no `tl.{0}`",
        "Check the spelling{near}: `tl.arange`, `tl.load`, `tl.store`, `tl.program_id`, `tl.sum` …",
    ),
    (
        r"Cannot access global variable (\w+)",
        "the global `{0}` is no constant",
        "Pass it as an argument, or make it one: `{0} = tl.constexpr({0})`.",
    ),
    (
        r"(\w+) is not defined",
        "the name `{0}` is not defined",
        "Define `{0}` before the kernel's first launch, or check its spelling.",
    ),
    (
        r"incompatible dimensions at index \d+: (\d+) and (\d+)",
        "a block of {0} values meets a block of {1}",
        "Blocks have equal lengths, or 1, in each dimension: `x[:, None]` and `y[None, :]` give a table of both.",
    ),
    (
        r"Unsupported ptr type .* in `tl\.(\w+)`",
        "`tl.{0}` is given values, not addresses",
        "Addresses are the pointer and offsets: `tl.{0}(x_ptr + offsets, …)`; and see whether arguments came in order.",
    ),
    (
        r"Mask argument cannot be block type if pointer argument is not a block|Value argument cannot be block type",
        "one address meets a block of values",
        "Add offsets to the pointer: `x_ptr + offsets`, with as many as the values or the mask.",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "`if` or `while` is given a whole block",
        "Its values may differ: choose with `tl.where(condition, a, b)`, or use the condition as a mask.",
    ),
    (
        r"unsupported AST node type: (\w+)",
        "a construct of Python that Triton does not have ({0})",
        "A Triton kernel has `for`, `while`, `if`, arithmetic on blocks and calls of `@triton.jit` functions.",
    ),
    (
        r"__[gs]etitem__ is not supported|Did you forget to add @triton\.jit",
        "this cannot be done within a kernel",
        "A pointer is no array: write `tl.load(x_ptr + offsets)` and `tl.store(x_ptr + offsets, values)`.",
    ),
    (
        r"Unsupported function referenced: <function (\w+)",
        "`{0}` is an ordinary Python function",
        "Put `@triton.jit` above `def {0}`.",
    ),
    (
        r"must be real number, not tensor",
        "a function of single numbers is given a block",
        "Use Triton's: `tl.exp`, `tl.sqrt`, `tl.sin`, `tl.maximum` …",
    ),
    (
        r"invalid operands of type (pointer<\w+>) and \S+|invalid operands of type \S+ and (pointer<\w+>)",
        "a pointer is used like a number",
        "See whether the arguments came in the kernel's order; values come from a pointer by `tl.load`.",
    ),
    (
        r"PassManager::run failed",
        "Triton's compiler gives up, and says why on stderr only",
        "Most often a kernel returns a value: it has none to return, and stores results with `tl.store`. For Hopper, "
        "Triton also fails at some sizes of blocks with `num_ctas` or `warp_specialize`: try others.",
    ),
)


def explain(error: CompilationError | RuntimeError, kernel: JITFunction) -> CompileError | None:
    """A `CompileError` for Triton's error, kept as its `original`; None for a RuntimeError of another kind."""
    reason = _reason(error)
    what, remedy = f"Triton cannot compile it: {reason}", "See Triton's language reference."
    for pattern, happened, fix in TABLE:
        if match := re.search(pattern, reason):
            groups = match.groups()
            what, remedy = happened.format(*groups), fix.format(*groups, near=_near(groups))
            break
    else:
        if not isinstance(error, CompilationError):
            return None
    line = shown = None
    lineno = getattr(getattr(error, "node", None), "lineno", None)
    if lineno is not None:
        line = _line_of_def(kernel) + lineno - 1
        shown = kernel.src.splitlines()[lineno - 1].strip()
    where = f"`{kernel.__name__}`" + ("" if line is None else f", line {line}")
    source = f"\n\n  {line:>4} | {shown}" if shown else ""
    kind = TritonCompileError
    if isinstance(error, CompileTimeAssertionFailure):
        kind, said = FailedAssertion, f": {error.error_message}" if error.error_message else ""
        what = f"the condition of `tl.static_assert` does not hold{said}"
        remedy = "It says which constants the kernel can be compiled for: pass others."
    return kind(f"{where}: {what}{source}\n\n{remedy}", line, error)


class TritonCompileError(CompileError):
    """A `CompileError` with Triton's own error as `original`."""

    def __init__(self, message: str, line: int | None, original: Exception):
        Exception.__init__(self, message)
        self.message, self.line, self.original = message, line, original


class FailedAssertion(TritonCompileError, CompileTimeAssertionFailure):
    """A `tl.static_assert` failed; `triton.autotune` catches Triton's class, and tries the next configuration."""


def _line_of_def(kernel: JITFunction) -> int:
    """The line of the kernel's `def`: its source begins with decorators."""
    lines = enumerate(kernel.raw_src, kernel.starting_line_number)
    return next(number for number, text in lines if re.match(r"\s*def\s", text))


def _reason(error: BaseException) -> str:
    """The message of the innermost error: that of a called function is the cause of its callers'."""
    while error.__cause__ is not None:
        error = error.__cause__
    message = getattr(error, "error_message", None) or str(error)
    try:  # Triton quotes some errors by their repr
        call = ast.parse(message, mode="eval").body
    except SyntaxError:
        return " ".join(message.split())
    if not isinstance(call, ast.Call):
        return message
    first = call.args[0] if call.args else None
    quoted = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return str(first.value) if isinstance(first, ast.Constant) and quoted else " ".join(message.split())


def _near(groups: tuple[str, ...]) -> str:
    """A suggestion for a misspelt name of `triton.language`."""
    import triton.language

    near = difflib.get_close_matches(groups[0], dir(triton.language), n=1) if groups else []
    return f" (was `tl.{near[0]}` meant?)" if near else ""


def misfit(error: TypeError, kernel: JITFunction, given: dict) -> ArgumentError | None:
    """The error for a grid or arguments (by name) that don't fit the kernel; None for any other TypeError."""
    message = str(error)
    if "'int' has no len()" in message:
        return ArgumentError(f"`{kernel.__name__}[grid]`: the grid is a tuple, such as (4,) or (8, 8).")
    if "failed to specialize argument" in message:
        kind = message.rpartition(" ")[2]
        name = next((name for name, value in given.items() if type(value).__name__ == kind), "")
        return ArgumentError(
            f"`{kernel.__name__}`: argument `{name}` is a {kind}, which a kernel cannot take. Pass a tensor, an array "
            "on the device or a number."
        )
    match = re.search(r"dynamic_func\(\) (missing|got|takes)(.*)", message)
    if match is None:
        return None
    constants = [param.name for param in kernel.params if param.is_constexpr]
    names = re.findall(r"'(\w+)'", match[2]) if match[1] == "missing" else []
    lacking = [name for name in names if name in constants]
    remedy = (
        f"`{lacking[0]}` is a constant that the kernel is compiled for: pass it by name, "
        f"`{kernel.__name__}[grid](…, {lacking[0]}=256)`."
        if lacking
        else f"Its parameters are ({', '.join(kernel.arg_names)})."
    )
    return ArgumentError(f"`{kernel.__name__}` {match[1]}{match[2]}. {remedy}")
