"""ElementwiseKernel: a few statements about one element, made into a kernel and run on the virtual GPU."""

from __future__ import annotations

import functools

import numpy as np

from helpers.vgpu import operations
from helpers.vgpu.cupy import codegen, streams
from helpers.vgpu.cupy.creation import empty
from helpers.vgpu.cupy.kernels import Program, holding
from helpers.vgpu.cupy.ndarray import ndarray


class ElementwiseKernel:
    """`kernel(x, y)` runs `operation` for every element of the broadcast arguments, one thread an element.

    `in_params` and `out_params` are lists such as "float32 x, raw T y"; a capital letter stands for a type
    that the arguments decide. `raw` arrays are not broadcast and are indexed by hand; `i` is the flat index
    and `_ind.size()` (or `n`) the number of indices. Outputs are returned, or written to when given. Raises
    TypeError for dtypes that do not fit, ValueError for shapes that do not, CompileError for the operation.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        **kwargs,
    ):
        self.in_params, self.out_params = codegen.parse(in_params), codegen.parse(out_params)
        self.params = self.in_params + self.out_params
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        names = [param.name for param in self.params]
        if len(set(names)) != len(names):
            raise ValueError(f"two parameters of {name} have the same name")
        self.operation, self.name, self.preamble = operation, name, preamble
        self.reduce_dims, self.no_return, self.return_tuple = reduce_dims, no_return, return_tuple
        unknown = set(kwargs) - {"loop_prep", "after_loop", "options", "doc"}
        if unknown:
            raise TypeError(f"ElementwiseKernel has no argument {sorted(unknown)[0]!r}")
        self.kwargs = kwargs
        self.__name__ = name
        self._programs: dict[str, Program] = {}

    @property
    def cached_codes(self) -> tuple[str, ...]:
        """The CUDA C++ of every variant made so far."""
        return tuple(self._programs)

    @property
    def cached_code(self) -> str:
        """The CUDA C++ of the first variant."""
        return next(iter(self._programs))

    def __call__(self, *args, size: int | None = None, block_size: int = 128, stream=None):
        prepared, outs, n = self._prepare(args, size)
        if n:
            grid = min(-(-n // block_size), 2**31 - 1)
            queue = streams.queue_of(stream)
            operations.kernel(
                queue, prepared.kernel, (grid,), (block_size,), prepared.params, prepared.arrays, 0, prepared.finish
            )
        if self.no_return:
            return None
        return outs[0] if len(outs) == 1 and not self.return_tuple else tuple(outs)

    def prepare(self, args, grid=None, block=None, *, size: int | None = None):
        """What a launch needs, without launching; any grid and block will do, as every thread loops."""
        return self._prepare(args, size)[0]

    def _prepare(self, args, size):
        from helpers.vgpu.launch import Prepared

        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"{self.name} takes {self.nin} arguments, or {self.nargs} with the outputs; {len(args)} were given"
            )
        values = [codegen.argument(value, self.name) for value in args]
        values += [None] * (self.nargs - len(values))
        types = codegen.decide_types(self.params, values, self.name)
        shape = self._shape(values, size)
        for position in range(self.nin, self.nargs):
            if values[position] is None:
                param = self.params[position]
                values[position] = empty(shape, param.dtype or types[param.type])
        body = self._body(values, types, shape)
        n = int(np.prod(shape, dtype=np.int64))
        kernel = self._program(self._source(body, types, shape)).kernel(self.name)
        return Prepared(kernel, body.params, body.arrays, 0, holding(values)), values[self.nin :], n

    def _shape(self, values, size) -> tuple[int, ...]:
        loose = [  # the arrays that are not raw, with the outputs last
            (position, value._host)
            for position, (param, value) in enumerate(zip(self.params, values, strict=True))
            if isinstance(value, ndarray) and not param.raw
        ]
        arrays = [host for position, host in loose if position < self.nin] or [host for _, host in loose]
        if size is not None:
            if arrays:
                raise ValueError(f"{self.name}: size= is for kernels whose arrays are all raw")
            return (int(size),)
        if not arrays:
            if any(isinstance(value, ndarray) for value in values):
                raise ValueError(f"{self.name}: all arrays are raw, so say how many indices there are: size=…")
            return ()
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
        for param, value in zip(self.out_params, values[self.nin :], strict=True):
            if value is not None and not param.raw and value.shape != shape:
                raise ValueError(f"Out shape is mismatched: {param.name} is {value.shape} and has to be {shape}")
        return shape

    def _body(self, values, types, shape) -> codegen.Body:
        body = codegen.Body()
        for position, (param, value) in enumerate(zip(self.params, values, strict=True)):
            const = position < self.nin
            if not isinstance(value, ndarray):
                if not const:
                    raise TypeError(f"{self.name}: the output {param.name} has to be an array on the device")
                body.scalar(param, value, param.dtype or types[param.type])
            elif param.raw:
                body.raw(param, value._host, const)
            else:
                host = np.broadcast_to(value._host, shape) if const else value._host
                body.element(param, host, shape, const, "i")
        return body

    def _source(self, body: codegen.Body, types, shape) -> str:
        positions = body.positions(shape, "i")
        body.number("n", int(np.prod(shape, dtype=np.int64)))
        lines = [
            codegen.header(types, self.params, self.preamble),
            f'extern "C" __global__ void {self.name}({", ".join(body.declarations)}) {{',
            "  const _Indexer _ind = {n};",
            *(f"  {line}" for line in body.before),
            f"  {self.kwargs.get('loop_prep', '')};",
            "  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;"
            " i += (long long)gridDim.x * blockDim.x) {",
            *(f"    {line}" for line in (*positions, *body.inside)),
            f"    {self.operation};",
            "  }",
            f"  {self.kwargs.get('after_loop', '')};",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _program(self, source: str) -> Program:
        if source not in self._programs:
            options = tuple(self.kwargs.get("options", ()))
            program = Program(source, None, options, "nvrtc", (), False)
            program.filename = f"{self.name}.cu"
            self._programs[source] = program
        return self._programs[source]

    def __repr__(self) -> str:
        return f"<ElementwiseKernel {self.name!r}>"


def fuse(*args, **kwargs):
    """Decorator for a function of arrays: it runs as written, operation by operation.

    On a GPU `cupy.fuse` turns the function into one kernel. Here the results are the same and nothing is
    fused; to see a fused kernel's memory traffic, write it as an ElementwiseKernel.
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return _fused(args[0])
    return _fused


def _fused(function):
    @functools.wraps(function)
    def called(*args, **kwargs):
        return function(*args, **kwargs)

    called.clear_cache = lambda: None
    return called
