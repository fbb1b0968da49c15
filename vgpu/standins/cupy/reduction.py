"""ReductionKernel: map every element, combine pairwise, finish; as a generated kernel."""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy import codegen
from vgpu.standins.cupy.creation import empty
from vgpu.standins.cupy.generated import GeneratedKernel
from vgpu.standins.cupy.kernels import holding
from vgpu.standins.cupy.ndarray import ndarray

_BLOCK = 256


class ReductionKernel(GeneratedKernel):
    """`kernel(x, axis=…)` gives post_map_expr of the combination of map_expr over the elements of the axis.

    `map_expr` is in terms of the inputs (and `i`, the element's flat position), `reduce_expr` in terms of `a`
    and `b`, `post_map_expr` assigns to the outputs and reads `a`; `identity` starts the combination, and
    without one its first element does. `_in_ind.size()` and `_out_ind.size()` are the numbers of elements.

    One block makes one result: its threads stride over the axis and then halve a shared array. CuPy's own
    kernel shares the work out in other ways for some shapes. Raises TypeError for dtypes that do not fit,
    ValueError for an empty axis without identity, CompileError for the expressions.
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options=(),
    ):
        super().__init__(in_params, out_params, name, preamble, reduce_dims, options)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.identity = "" if identity is None else str(identity)
        self.reduce_type = reduce_type or self.out_params[0].type

    def __call__(self, *args, out=None, axis=None, keepdims: bool = False, stream=None):
        prepared, outs, grid, block = self._prepare(args, out, axis, keepdims)
        self._launch(prepared, grid, block, stream)
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _prepare(self, args, out, axis, keepdims):
        from vgpu.launch.launch import Prepared

        if out is not None:
            args = (*args, *(out if isinstance(out, tuple) else (out,)))
        values = self._arguments(args)
        types = codegen.decide_types(self.params, values, self.name)
        hosts = [v._host for p, v in zip(self.in_params, values, strict=False) if isinstance(v, ndarray) and not p.raw]
        if not hosts:
            raise ValueError(f"{self.name}: one input at least has to be an array that is not raw")
        shape = np.broadcast_shapes(*(host.shape for host in hosts))
        axes = _axes(axis, len(shape))
        kept = [d for d in range(len(shape)) if d not in axes]
        order = [*kept, *axes]
        walked = tuple(shape[d] for d in order)
        flat = tuple(shape[d] for d in kept)
        shown = tuple(1 if d in axes else n for d, n in enumerate(shape)) if keepdims else flat
        many = int(np.prod([shape[d] for d in axes], dtype=np.int64))
        if many == 0 and not self.identity:
            raise ValueError(f"zero-size array to reduction operation {self.name}, which has no identity")
        body, outs = codegen.Body(), []
        for param, value in zip(self.in_params, values, strict=False):
            if not isinstance(value, ndarray):
                body.scalar(param, value, param.dtype or types[param.type])
            elif param.raw:
                body.raw(param, value._host, True)
            else:
                body.element(param, np.broadcast_to(value._host, shape).transpose(order), walked, True, "i")
        positions = body.positions(walked, "i")
        loads, body.inside = [*positions, *body.inside], []
        for param, value in zip(self.out_params, values[self.nin :], strict=True):
            if value is None:
                value = empty(shown, param.dtype or types[param.type])
            elif value.shape != shown:
                raise ValueError(f"Out shape is mismatched: {param.name} is {value.shape} and has to be {shown}")
            if not value.flags.c_contiguous:
                raise ValueError(f"{self.name}: the output {param.name} has to be contiguous here")
            body.element(param, value._host.reshape(flat), flat, False, "_o")
            outs.append(value)
        results = int(np.prod(flat, dtype=np.int64))
        body.number("_results", results)
        body.number("_many", many)
        block = min(_BLOCK, 1 << max(many, 1).bit_length() - 1) if not self.identity else _BLOCK
        if self.identity:
            while block > 32 and block // 2 >= many:
                block //= 2
        source = self._source(body, loads, types, block)
        prepared = Prepared(self._kernel(source, values), body.params, body.arrays, 0, holding((values, outs)))
        return prepared, outs, min(results, 2**31 - 1), block

    def _source(self, body: codegen.Body, loads: list[str], types, block: int) -> str:
        kind = self.reduce_type
        kind = codegen.C_TYPES.get(kind, kind)
        start = f"_type a = _type({self.identity});" if self.identity else "_type a;"
        combine = "a = _reduce(a, _mapped);"
        if not self.identity:
            combine = f"a = _k < {block} ? _mapped : _reduce(a, _mapped);"
        lines = [
            codegen.header(types, self.params, self.preamble),
            f"typedef {kind} _type;",
            f"__device__ inline _type _reduce(_type a, _type b) {{ return {self.reduce_expr}; }}",
            f'extern "C" __global__ void {self.name}({", ".join(body.declarations)}) {{',
            f"  __shared__ __align__(16) unsigned char _bytes[{block} * sizeof(_type)];",
            "  _type* _shared = (_type*)_bytes;",
            "  const _Indexer _in_ind = {_results * _many}, _out_ind = {_results};",
            *(f"  {line}" for line in body.before),
            "  for (long long _o = blockIdx.x; _o < _results; _o += gridDim.x) {",
            f"    {start}",
            f"    for (long long _k = threadIdx.x; _k < _many; _k += {block}) {{",
            "      const long long i = _o * _many + _k;",
            *(f"      {line}" for line in loads),
            f"      const _type _mapped = _type({self.map_expr});",
            f"      {combine}",
            "    }",
            "    _shared[threadIdx.x] = a;",
            "    __syncthreads();",
            f"    for (int _half = {block} / 2; _half > 0; _half /= 2) {{",
            "      if (threadIdx.x < _half) {",
            "        _shared[threadIdx.x] = _reduce(_shared[threadIdx.x], _shared[threadIdx.x + _half]);",
            "      }",
            "      __syncthreads();",
            "    }",
            "    if (threadIdx.x == 0) {",
            "      const _type a = _shared[0];",
            *(f"      {line}" for line in body.inside),
            f"      {self.post_map_expr};",
            "    }",
            "    __syncthreads();",
            "  }",
            "}",
        ]
        return "\n".join(lines) + "\n"


def _axes(axis, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    axes = [int(a) for a in (axis if isinstance(axis, tuple) else (axis,))]
    for a in axes:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    return sorted({a % ndim for a in axes})
