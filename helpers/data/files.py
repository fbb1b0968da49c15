"""A learner's own image files: MNIST and Fashion-MNIST in their IDX format, CIFAR-10 in its binary version.

Nothing is downloaded. Get the files yourself, say where they are, and use the arrays in place of `glyphs.images`.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_CIFAR_RECORD = 1 + 3 * 32 * 32


def idx(path: str | Path) -> np.ndarray:
    """The array in an IDX file, such as `train-images-idx3-ubyte` or the same with `.gz`.

    Images are (count, 28, 28) in uint8, 0 to 255, and labels (count,) in uint8. Raises ValueError where the file isn't
    IDX or is cut off. Source of the format: LeCun, Cortes and Burges, the MNIST database, yann.lecun.com/exdb/mnist.
    """
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _IDX_TYPES:
        raise ValueError(f"{path} isn't an IDX file: these begin with two zero bytes and a type")
    kind, dimensions = np.dtype(_IDX_TYPES[data[2]]), data[3]
    start = 4 + 4 * dimensions
    shape = tuple(int(size) for size in np.frombuffer(data[4:start], ">i4"))
    wanted = int(np.prod(shape)) * kind.itemsize
    if len(shape) != dimensions or len(data) - start != wanted:
        raise ValueError(f"{path} says it holds {shape}, which is {wanted:,} bytes, and has {len(data) - start:,}")
    return np.frombuffer(data, kind, offset=start).reshape(shape).astype(kind.newbyteorder("="))


def cifar10(*paths: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Images (count, 3, 32, 32) in uint8 and labels (count,) in int64 from files such as `data_batch_1.bin`, in order.

    These are of the *binary* version, since loading the Python version runs code from the file. Raises ValueError
    where a file's size or labels don't fit. Source of the format: cs.toronto.edu/~kriz/cifar.html.
    """
    parts = []
    for path in paths:
        records = np.frombuffer(Path(path).read_bytes(), np.uint8)
        if not len(records) or len(records) % _CIFAR_RECORD:
            raise ValueError(
                f"{path} isn't of CIFAR-10's binary version, whose records have {_CIFAR_RECORD:,} bytes each"
            )
        parts.append(records.reshape(-1, _CIFAR_RECORD))
    if not parts:
        raise ValueError("name at least one file, such as data_batch_1.bin")
    everything = np.concatenate(parts)
    if everything[:, 0].max() > 9:
        raise ValueError(f"there is a label {everything[:, 0].max()}, but CIFAR-10 has ten classes, 0 to 9")
    return everything[:, 1:].reshape(-1, 3, 32, 32), everything[:, 0].astype(np.int64)
