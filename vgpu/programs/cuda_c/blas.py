"""cuBLAS's common functions, on NumPy and the BLAS it uses; matrices lie in columns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vgpu.operations import CUDARuntimeError, Queue
from vgpu.programs.cuda_c.operands import narrowed, scalar_type, storage_type, submit, view, widened


class Blas:
    """cuBLAS's calls. `queue_of`: the queue of a stream's handle. Types are numbers of `cudaDataType`."""

    def __init__(self, queue_of: Callable[[int], Queue]):
        self._queue = queue_of

    def _do(
        self, stream: int, what: str, read: Sequence[np.ndarray], written: Sequence[np.ndarray], run: Callable[[], None]
    ) -> None:
        submit(self._queue(stream), f"cuBLAS {what}", read, written, run)

    # -- vectors

    def do_blas_axpy(self, stream: int, of: int, n: int, alpha: int, x: int, incx: int, y: int, incy: int) -> None:
        kind = scalar_type(of)
        a, left, right = _scalar(alpha, kind), _vector(x, n, incx, kind), _vector(y, n, incy, kind)

        def run() -> None:
            right[...] += a * left

        self._do(stream, "axpy", [left, right], [right], run)

    def do_blas_scal(self, stream: int, of: int, n: int, alpha: int, x: int, incx: int) -> None:
        kind = scalar_type(of)
        a, given = _scalar(alpha, kind), _vector(x, n, incx, kind)

        def run() -> None:
            given[...] *= a

        self._do(stream, "scal", [given], [given], run)

    def do_blas_copy(self, stream: int, of: int, n: int, x: int, incx: int, y: int, incy: int) -> None:
        left, right = _vector(x, n, incx, scalar_type(of)), _vector(y, n, incy, scalar_type(of))

        def run() -> None:
            right[...] = left

        self._do(stream, "copy", [left], [right], run)

    def do_blas_swap(self, stream: int, of: int, n: int, x: int, incx: int, y: int, incy: int) -> None:
        left, right = _vector(x, n, incx, scalar_type(of)), _vector(y, n, incy, scalar_type(of))

        def run() -> None:
            left[...], right[...] = right.copy(), left.copy()

        self._do(stream, "swap", [left, right], [left, right], run)

    def do_blas_dot(
        self, stream: int, of_x: int, of_y: int, of: int, n: int, x: int, incx: int, y: int, incy: int, target: int,
        conjugated: int,
    ) -> None:  # fmt: skip
        left, right = _vector(x, n, incx, scalar_type(of_x)), _vector(y, n, incy, scalar_type(of_y))

        def run() -> None:
            wide = [each.astype(np.float32) if each.dtype == np.float16 else each for each in (left, right)]
            _write(target, (np.vdot if conjugated else np.dot)(*wide), scalar_type(of))

        self._do(stream, "dot", [left, right], [], run)

    def do_blas_norm(self, stream: int, of: int, order: int, n: int, x: int, incx: int, target: int) -> None:
        given = _vector(x, n, incx, scalar_type(of))

        def run() -> None:
            parts = np.abs(given.real) + np.abs(given.imag) if order == 1 else given
            _write(target, np.linalg.norm(parts, order) if n > 0 else 0, given.real.dtype.type)

        self._do(stream, "nrm2" if order == 2 else "asum", [given], [], run)

    def do_blas_extreme(self, stream: int, of: int, largest: int, n: int, x: int, incx: int, target: int) -> None:
        given = _vector(x, n, incx, scalar_type(of))

        def run() -> None:
            sizes = np.abs(given.real) + np.abs(given.imag)
            _write(target, 1 + int(np.argmax(sizes) if largest else np.argmin(sizes)) if n > 0 else 0, np.int32)

        self._do(stream, "amax" if largest else "amin", [given], [], run)

    # -- matrices

    def do_blas_gemv(
        self, stream: int, of: int, how: int, m: int, n: int, alpha: int, a: int, lda: int, x: int, incx: int,
        beta: int, y: int, incy: int,
    ) -> None:  # fmt: skip
        kind = scalar_type(of)
        rows, columns = (m, n) if how == 0 else (n, m)
        matrix = _operand(a, how, rows, columns, lda, kind)
        left, right = _vector(x, columns, incx, kind), _vector(y, rows, incy, kind)
        by, kept = _scalar(alpha, kind), _scalar(beta, kind)

        def run() -> None:
            right[...] = by * (matrix @ left) + _scaled(kept, right)

        self._do(stream, "gemv", [matrix, left], [right], run)

    def do_blas_ger(
        self, stream: int, of: int, m: int, n: int, alpha: int, x: int, incx: int, y: int, incy: int, a: int, lda: int,
        conjugated: int,
    ) -> None:  # fmt: skip
        kind = scalar_type(of)
        left, right, matrix = _vector(x, m, incx, kind), _vector(y, n, incy, kind), _matrix(a, m, n, lda, kind)
        by = _scalar(alpha, kind)

        def run() -> None:
            matrix[...] += by * np.outer(left, right.conj() if conjugated else right)

        self._do(stream, "ger", [left, right, matrix], [matrix], run)

    def do_blas_gemm(
        self, stream: int, of: int, of_a: int, of_b: int, of_c: int, how_a: int, how_b: int, m: int, n: int, k: int,
        alpha: int, a: int, lda: int, to_a: int, b: int, ldb: int, to_b: int, beta: int, c: int, ldc: int, to_c: int,
        count: int,
    ) -> None:  # fmt: skip
        kinds = storage_type(of_a), storage_type(of_b), storage_type(of_c)
        by, kept = _scalar(alpha, scalar_type(of)), _scalar(beta, scalar_type(of))
        exact = [kind for kind in kinds if kind not in (np.float16, np.uint16)]
        wide = np.result_type(np.int32 if of == 10 else np.float32, *exact)
        item_a, item_b, item_c = (np.dtype(kind).itemsize for kind in kinds)
        left, right, target = [], [], []
        for at in range(count):
            left.append(_operand(a + at * to_a * item_a, how_a, m, k, lda, kinds[0]))
            right.append(_operand(b + at * to_b * item_b, how_b, k, n, ldb, kinds[1]))
            target.append(_matrix(c + at * to_c * item_c, m, n, ldc, kinds[2]))

        def run() -> None:
            for one, other, result in zip(left, right, target, strict=True):
                product = widened(one, of_a, wide) @ widened(other, of_b, wide)
                result[...] = narrowed(by * product + _scaled(kept, widened(result, of_c, wide)), of_c)

        self._do(stream, "gemm", [*left, *right], target, run)

    def do_blas_geam(
        self, stream: int, of: int, how_a: int, how_b: int, m: int, n: int, alpha: int, a: int, lda: int, beta: int,
        b: int, ldb: int, c: int, ldc: int,
    ) -> None:  # fmt: skip
        kind = scalar_type(of)
        factors, target = (_scalar(alpha, kind), _scalar(beta, kind)), _matrix(c, m, n, ldc, kind)
        given = [
            (factor, _operand(address, how, m, n, lead, kind))
            for factor, address, how, lead in zip(factors, (a, b), (how_a, how_b), (lda, ldb), strict=True)
            if factor != 0
        ]

        def run() -> None:
            target[...] = sum((factor * each for factor, each in given), np.zeros_like(target))

        self._do(stream, "geam", [each for _, each in given], [target], run)

    def do_blas_trsm(
        self, stream: int, of: int, right: int, upper: int, how: int, unit: int, m: int, n: int, alpha: int, a: int,
        lda: int, b: int, ldb: int,
    ) -> None:  # fmt: skip
        kind, size = scalar_type(of), n if right else m
        matrix, target, by = _matrix(a, size, size, lda, kind), _matrix(b, m, n, ldb, kind), _scalar(alpha, kind)

        def run() -> None:
            triangle = np.triu(matrix) if upper else np.tril(matrix)
            if unit:
                np.fill_diagonal(triangle, 1)
            triangle = (triangle, triangle.T, triangle.conj().T)[how]
            target[...] = (
                np.linalg.solve(triangle.T, by * target.T).T if right else np.linalg.solve(triangle, by * target)
            )

        self._do(stream, "trsm", [matrix, target], [target], run)


def _vector(address: int, n: int, step: int, of: type[np.generic]) -> np.ndarray:
    """n numbers; with a negative step the first one comes last, as in BLAS."""
    if step < 0:
        address += (n - 1) * -step * np.dtype(of).itemsize
    return view(address, (n,), (step,), of)


def _matrix(address: int, rows: int, columns: int, lead: int, of: type[np.generic]) -> np.ndarray:
    if lead < rows:
        raise CUDARuntimeError(f"cudaErrorInvalidValue: a leading dimension of {lead} for {rows} rows")
    return view(address, (rows, columns), (1, lead), of)


def _operand(address: int, how: int, rows: int, columns: int, lead: int, of: type[np.generic]) -> np.ndarray:
    """op(A), of `rows` and `columns`: A, its transpose (1), or its conjugate transpose (2)."""
    if how == 0:
        return _matrix(address, rows, columns, lead, of)
    found = _matrix(address, columns, rows, lead, of).T
    return found.conj() if how == 2 else found


def _scalar(address: int, of: type[np.generic]) -> Any:
    return np.frombuffer(ctypes.string_at(address, np.dtype(of).itemsize), of)[0]


def _write(address: int, value: Any, of: type[np.generic]) -> None:
    data = np.asarray(value, of).tobytes()
    ctypes.memmove(address, data, len(data))


def _scaled(beta: Any, y: np.ndarray) -> Any:
    """beta y, without reading what nobody wrote where beta is 0."""
    return beta * y if beta != 0 else 0
