"""The base of kernels generated from expressions: parameters, a program for each variant, and the launch."""

from __future__ import annotations

import re

from vgpu import operations
from vgpu.standins.cupy import codegen, streams
from vgpu.standins.cupy.kernels import Program
from vgpu.standins.cupy.ndarray import ndarray


class GeneratedKernel:
    """A kernel with parameters `in_params` and `out_params`, whose code a subclass generates from expressions."""

    def __init__(self, in_params: str, out_params: str, name: str, preamble: str, reduce_dims: bool, options=()):
        self.in_params, self.out_params = codegen.parse(in_params), codegen.parse(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        if len({param.name for param in self.params}) != self.nargs:
            raise ValueError(f"two parameters of {name} have the same name")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError(f"Invalid kernel name: {name!r}. It becomes the name of a function in C")
        self.name = self.__name__ = name
        self.preamble, self.reduce_dims, self.options = preamble, reduce_dims, tuple(options)
        self._programs: dict[str, Program] = {}
        self._codes: dict[tuple, str] = {}

    @property
    def cached_codes(self) -> dict[tuple, str]:
        """The CUDA C++ made so far, the first of each tuple of the arrays' dtypes."""
        return dict(self._codes)

    @property
    def cached_code(self) -> str:
        """The CUDA C++ of the first variant."""
        return next(iter(self._codes.values()))

    def _arguments(self, args) -> list:
        """A value for every parameter, None for outputs that are not given."""
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"{self.name} takes {self.nin} arguments, or {self.nargs} with the outputs; {len(args)} were given"
            )
        values = [codegen.argument(value, self.name) for value in args]
        return values + [None] * (self.nargs - len(values))

    def _kernel(self, source: str, values):
        """The loaded kernel of a variant, compiled once."""
        self._codes.setdefault(tuple(value.dtype for value in values if isinstance(value, ndarray)), source)
        if source not in self._programs:
            program = Program(source, None, self.options, "nvrtc", (), False)
            program.filename = f"{self.name}.cu"
            self._programs[source] = program
        return self._programs[source].kernel(self.name)

    @staticmethod
    def _launch(prepared, blocks: int, threads: int, stream) -> None:
        if blocks:
            operations.kernel(
                streams.queue_of(stream),
                prepared.kernel,
                (blocks,),
                (threads,),
                prepared.params,
                prepared.arrays,
                0,
                prepared.finish,
            )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
