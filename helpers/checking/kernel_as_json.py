"""A compiled kernel as data: taken where it was written, run where nothing of its author's Python is.

A kernel's PTX says all that it does. `packed` puts it with what its parameters need into a `Portable`, which goes
through JSON and is a kernel again on the other side: it can be launched, profiled and sanitized like the one it was
taken from. What comes from elsewhere is not trusted: the fields of a `Portable` say what may stand there and how long
it may be, and nothing in it is evaluated.
"""

from __future__ import annotations

import base64
import ctypes
import re
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Annotated, Any, Literal

from msgspec import Meta, field, structs

from helpers.checking.values_as_json import Record, inflated, read, written
from vgpu import operations
from vgpu.base.errors import ArgumentError, Unsupported
from vgpu.launch import launch
from vgpu.standins.calls import in_place_of_a_kernel
from vgpu.storage import heap, layout, memory

OWN_FILE = "answer"
"""What the learner's own file is called in a portable kernel's PTX: where it lay is nobody's business."""
MOST_PTX = 4_000_000  # letters: a kernel that is unrolled to the last has a tenth of that
MOST_SOURCE = 100_000
_TYPE = re.compile(r"(bool|u?int(?:8|16|32|64)|float(?:16|32|64))(?:\[(\d)([CFA])\])?")
_Name = Annotated[str, Meta(pattern=r"^[A-Za-z_$%][\w$.]{0,511}\Z")]
_Type = Annotated[str, Meta(pattern=rf"^{_TYPE.pattern}\Z")]
_Whole = Annotated[int, Meta(ge=0, lt=2**31)]
_NUMBER = re.compile(r"0[fd][0-9a-f]+|(?<![\w.$%<])\d+\b", re.IGNORECASE)
_NO_NUMBERS = re.compile(
    r'//[^\n]*|^\s*\.(?:loc|file|version|target|address_size|section)\b[^\n]*|"[^"\n]*"|\[[^]\n]*\]', re.MULTILINE
)
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+)"([^"\n]*)"', re.MULTILINE)


class NotPortable(ValueError):
    """What was read is no portable kernel; the message says which field is wrong."""


class Portable(Record, frozen=True, dict=True):
    """A kernel with all that a launch needs beside its arguments.

    `types`: the types of a Numba kernel's arguments, such as "float32[1C]" or "int64"; empty for CUDA C, which is
    told from `source`. `names`: those of a Numba kernel's arguments, where they are plain ASCII. `variables`: what the
    `__constant__` and `__device__` variables hold that the host has set.
    `max_registers`: the limit that its author set, or None. `dynamic_shared_bytes`: the most that the author asked for,
    or None.
    """

    name: _Name
    entry: _Name
    ptx: Annotated[str, Meta(max_length=MOST_PTX)]
    language: Literal["cuda", "numba"]
    source: Annotated[str, Meta(max_length=MOST_SOURCE)]
    first_line: _Whole
    types: Annotated[list[_Type], Meta(max_length=64)] = field(default_factory=list)
    names: Annotated[list[_Name], Meta(max_length=64)] = field(default_factory=list)
    cooperative: bool = False
    max_registers: _Whole | None = None
    dynamic_shared_bytes: _Whole | None = None
    variables: dict[_Name, bytes] = field(default_factory=dict)

    @property
    def kernel(self) -> launch.Kernel:
        """The loaded kernel; errors as `launch.load`."""
        return self._loaded[0]

    @cached_property
    def _loaded(self) -> tuple[launch.Kernel, dict[str, bytes]]:
        """The kernel, and what its module's variables hold before the first launch."""
        kernels = launch.load(
            self.ptx,
            language=self.language,
            name=self.name,
            filename=OWN_FILE,
            source=self.source,
            first_line=self.first_line,
            max_registers=self.max_registers,
        )
        if self.entry not in kernels:
            raise NotPortable(f"the PTX has no kernel {self.entry!r}")
        found = kernels[self.entry]
        for name, data in self.variables.items():
            if len(data) != found.module.nbytes(name):
                raise NotPortable(f"variable {name!r} has {found.module.nbytes(name)} bytes, not {len(data)}")
            ctypes.memmove(found.module.address(name), data, len(data))
        sizes = found.module.variables.nbytes
        return found, {name: ctypes.string_at(found.module.address(name), nbytes) for name, nbytes in sizes.items()}

    @property
    def numbers(self) -> int:
        """How many numbers stand in its code and in its module's variables, but for the offsets of addresses."""
        held = sum(len(each) // 4 for each in self.variables.values())
        return held + sum(1 for _ in _NUMBER.finditer(_NO_NUMBERS.sub("", self.ptx)))

    def forget(self) -> None:
        """Undo what launches have left behind for the next: in the module's variables, and in the heap of kernels.

        Else a kernel could know how often it was launched, and do less where it is counted.
        """
        kernel, variables = self._loaded
        for name, data in variables.items():
            ctypes.memmove(kernel.module.address(name), data, len(data))
        heap.reset()

    def prepare(
        self, args: Sequence, grid: object = None, block: object = None, *, shared_bytes: int = 0
    ) -> launch.Prepared:
        """What a launch needs, without launching."""
        lay_out = _numba_parameters if self.language == "numba" else _c_parameters
        params, arrays, finish = lay_out(self, args)
        return launch.Prepared(self.kernel, params, arrays, shared_bytes, finish, cooperative=self.cooperative)

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence, *, shared_mem: int = 0) -> None:
        prepared = self.prepare(args, grid, block)
        options = {"cooperative": True} if self.cooperative else {}
        operations.kernel(
            operations.LEGACY, self.kernel, tuple(grid), tuple(block), prepared.params, prepared.arrays, shared_mem,
            prepared.finish, **options,
        )  # fmt: skip

    def as_json(self) -> dict:
        """Texts, numbers and lists; the PTX is compressed."""
        return written(self) | {"ptx": squeezed(self.ptx)}

    @classmethod
    def from_json(cls, data: object) -> Portable:
        """The inverse of `as_json`, for data of unknown origin; raises NotPortable."""
        found = read(data, cls, NotPortable)
        return structs.replace(found, ptx=unsqueezed(found.ptx))


def packed(kernel: Any, args: Sequence, grid: object = None, block: object = None) -> Portable:
    """The kernel as compiled for these arguments.

    kernel: a Numba kernel or a RawKernel, of the virtual GPU (`mirror.twin` makes one of a real GPU's); args: the
    tuple of a launch. Errors: `Unsupported` for another kind of kernel, else as a launch.
    """
    if (words := in_place_of_a_kernel(kernel)) is not None:
        raise Unsupported(f"a kernel is asked for, and {words}")
    if not hasattr(kernel, "prepare") or getattr(kernel, "takes_meta", False):
        raise Unsupported(
            "the answer has to be a kernel, written with @cuda.jit or as a cp.RawKernel, and this is an object of type "
            f"{type(kernel).__name__}"
        )
    prepared = kernel.prepare(tuple(args), grid=grid, block=block)
    loaded = prepared.kernel
    types, names = (kernel.argument_types(args), kernel.argument_names) if loaded.language == "numba" else ((), ())
    taken = re.search(rf"(?<![\w$]){re.escape(loaded.name)}(?![\w$])", loaded.ptx)
    entry = (
        loaded.name if loaded.name.isidentifier() and not taken else loaded.entry
    )  # mangled names count compilations
    ptx = _FILE.sub(
        lambda found: f'{found[1]}"{OWN_FILE if found[2] == loaded.filename else PurePath(found[2]).name}"', loaded.ptx
    )
    return Portable(
        loaded.name,
        entry,
        ptx.replace(loaded.entry, entry),
        loaded.language,
        "\n".join(loaded.source),
        loaded.first_line,
        list(map(_spelled, types)),
        list(names) if all(name.isascii() for name in names) else [],
        prepared.cooperative,
        loaded.max_registers,
        getattr(kernel, "_dynamic_limit", None),
        _set_by_the_host(loaded.module),
    )


def _set_by_the_host(module: launch.LoadedModule) -> dict[str, bytes]:
    """The module's variables that no longer hold what the PTX gave them."""
    fresh = layout.load_variables(module.module)
    found = {}
    for name, address in module.variables.addresses.items():
        held, given = (ctypes.string_at(at, module.nbytes(name)) for at in (address, fresh.addresses[name]))
        if held != given and not name.startswith("$"):  # texts of printf begin with a dollar
            found[name] = held
    return found


# --- parameters -------------------------------------------------------------------------------------------------------


_LaidOut = tuple[list[bytes], list[memory.ArrayInfo], Callable[[], Any]]


def _c_parameters(kernel: Portable, args: Sequence) -> _LaidOut:
    from vgpu.standins.cupy.arguments import kernel_parameters, pack
    from vgpu.standins.cupy.signature import parameters

    places = kernel_parameters(kernel.name, kernel.kernel.parameters, parameters(kernel.source, kernel.name))
    params, arrays = pack(kernel.name, places, args)
    return params, arrays, lambda: args and None  # whoever holds it keeps the arrays alive


def _numba_parameters(kernel: Portable, args: Sequence) -> _LaidOut:
    from vgpu.standins.numba.args import Packer, mismatch, present, type_of

    if len(args) != len(kernel.types):
        raise ArgumentError(f"`{kernel.name}` takes {len(kernel.types)} arguments, {len(args)} given.")
    packer = Packer()
    names = kernel.names if len(kernel.names) == len(args) else [f"argument {at}" for at in range(len(args))]
    for name, spelled, value in zip(names, kernel.types, map(present, args), strict=True):
        expected = _numba_type(spelled)
        if wrong := mismatch(expected, type_of(value, name, kernel.name)):
            raise ArgumentError(f"`{kernel.name}`: {name} {wrong}. The exercise gives it as it is.")
        packer.add(expected, value, name)
    sizes = [parameter.nbytes for parameter in kernel.kernel.parameters]
    if sizes != [len(param) for param in packer.params]:
        raise ArgumentError(f"`{kernel.name}`: its PTX does not take ({', '.join(kernel.types)}).")
    return packer.params, packer.arrays, packer.finish


def _spelled(kind: Any) -> str:
    """A Numba type in the few words that `_numba_type` knows; Unsupported for any other."""
    dtype, ndim = getattr(kind, "dtype", kind), getattr(kind, "ndim", None)
    text = str(dtype) if ndim is None else f"{dtype}[{ndim}{kind.layout}]"
    if not _TYPE.fullmatch(text):
        raise Unsupported(f"a kernel that takes a {kind} cannot be taken elsewhere: numbers and arrays of numbers can")
    return text


def _numba_type(spelled: str) -> Any:
    from vgpu.compile.numba_adapter import types

    found = _TYPE.fullmatch(spelled)
    assert found is not None  # `_Type` lets nothing else in
    name, ndim, order = found.groups()
    number = types.boolean if name == "bool" else getattr(types, name)
    return number if ndim is None else types.Array(number, int(ndim), order)


# --- PTX in little room -----------------------------------------------------------------------------------------------


def squeezed(ptx: str) -> str:
    """PTX as a text of a fifth of its length."""
    return base64.b64encode(zlib.compress(ptx.encode(), 9)).decode()


def unsqueezed(text: str) -> str:
    """The PTX again; raises NotPortable where it is no plain ASCII, or too long."""
    try:
        return inflated(base64.b64decode(text, validate=True), MOST_PTX).decode("ascii")
    except ValueError as error:
        raise NotPortable(f"the PTX cannot be unpacked: {error}") from None
