"""ElementwiseKernel: a few statements about one element, made into a kernel and run on the virtual GPU."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy import codegen
from vgpu.standins.cupy.creation import empty
from vgpu.standins.cupy.generated import GeneratedKernel
from vgpu.standins.cupy.kernels import holding
from vgpu.standins.cupy.ndarray import ndarray


class ElementwiseKernel(GeneratedKernel):
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
        super().__init__(in_params, out_params, name, preamble, reduce_dims, kwargs.get("options", ()))
        self.operation, self.no_return, self.return_tuple = operation, no_return, return_tuple
        unknown = set(kwargs) - {"loop_prep", "after_loop", "options", "doc"}
        if unknown:
            raise TypeError(f"ElementwiseKernel has no argument {sorted(unknown)[0]!r}")
        self.kwargs = kwargs

    def __call__(self, *args, size: int | None = None, block_size: int = 128, stream=None):
        if block_size <= 0:
            raise ValueError(f"block_size must be greater than zero, and {block_size} was given")
        prepared, outs, n = self._prepare(args, size)
        self._launch(prepared, min(-(-n // block_size), 2**31 - 1), block_size, stream)
        if self.no_return:
            return None
        return outs[0] if len(outs) == 1 and not self.return_tuple else tuple(outs)

    def prepare(self, args, grid=None, block=None, *, size: int | None = None):
        """What a launch needs, without launching; any grid and block will do, as every thread loops."""
        return self._prepare(args, size)[0]

    def _prepare(self, args, size):
        from vgpu.launch.launch import Prepared

        values = self._arguments(args)
        shape = self._shape(values, size)
        types = codegen.decide_types(self.params, values, self.name)
        for position in range(self.nin, self.nargs):
            if values[position] is None:
                param = self.params[position]
                values[position] = empty(shape, param.dtype or types[param.type])
        body = self._body(values, types, shape)
        n = int(np.prod(shape, dtype=np.int64))
        kernel = self._kernel(self._source(body, types, shape), values)
        return Prepared(kernel, body.params, body.arrays, 0, holding(values)), values[self.nin :], n

    def _shape(self, values, size) -> tuple[int, ...]:
        shapes = [  # of the arrays that are not raw; outputs that are given take part, and so can widen the inputs
            value.shape
            for param, value in zip(self.params, values, strict=True)
            if isinstance(value, ndarray) and not param.raw
        ]
        if size is not None:
            if shapes:
                raise ValueError(f"Specified 'size' can be used only if all of the arrays of {self.name} are raw")
            return (int(size),)
        if not shapes:
            raise ValueError(
                f"Loop size is undecided. No argument of {self.name} is an array that is not raw, so say how many "
                "indices there are: size=…"
            )
        if any(param.raw and value is None for param, value in zip(self.params, values, strict=True)):
            raise ValueError(f"Output array size is undecided in {self.name}: give the raw output, made beforehand")
        shape = np.broadcast_shapes(*shapes)
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
