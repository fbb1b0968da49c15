"""Accepted PTX may touch what is its own and nothing else: programs are changed, run, and each access looked up.

What code does is looked up by `checker`, what the interpreter does by `extents.Moves`. Each batch runs in a child
that is forked from a process in which the runtime was compiled: a crash, a hang or an access outside ends the child
only, and is told with its seed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import random
import re
import struct
from functools import cache

import numpy as np

from vgpu import reference
from vgpu.launch import grid, launch
from vgpu.storage import memory, tensor_map, textures
from vgpu.tests.fuzz import checker, children, extents, twist, verified
from vgpu.tests.fuzz.cases import outcome
from vgpu.tests.fuzz.pieces import IN_WORDS, MAP_AT, OUT_WORDS, PIECES
from vgpu.tools.sanitize import run as watched

TIMEOUT = 0.5  # seconds that a kernel may take
STEPS = 30_000  # that the interpreter takes
BLOCKS = (1, 1, 2, 3, (2, 2))
PAIRS = (2, 2, 4, (2, 2))  # of kernels with clusters of 2 blocks, mostly
THREADS = (64, 64, 64, 128, 32, 33, 1, 96, (8, 4), (16, 2, 2))
# Programs whose results depend on where memory lies or on the time may differ from one run to the next.
UNSTEADY = re.compile(r"clock|timer|cvta|malloc|p5\b|mov\.u?64 %d\d+, [a-z]|%d1\b|[\[ ]-?\d{3,}|smid|pm|try_wait")


class World:
    """The memory and handles that programs get, the same for all of a process."""

    def __init__(self):
        self.given, self.out = memory.array(IN_WORDS, np.uint32), memory.array(OUT_WORDS, np.uint32)
        self.texels = memory.allocate(1024)
        # Handles follow one another: programs add small numbers to those that they get.
        made = [self._bound("2d", 16, 16, 1), self._bound("2d", 16, 16, 1, False), self._bound("fetch", 256, 1, 1)]
        self.texture, self.surface, _ = made
        for geometry, sizes in {"3d": (16, 4, 4), "a1d": (16, 1, 16), "a2d": (8, 8, 4)}.items():
            for texture in (True, False):
                self._bound(geometry, *sizes, texture)

    def _bound(self, geometry: str, width: int, height: int, depth: int, texture: bool = True) -> int:
        """The handle of a texture, or of a surface, of floats over all of the texels."""
        floats = textures.Format("f", 32, 1)
        rows = 4 * width, 4 * width * height
        resource = textures.Resource(
            self.texels, self.texels.address, floats, geometry, width, height, depth, *rows, array=geometry != "fetch"
        )
        return textures.create(resource, textures.Sampler() if texture else None)

    def parameters(self, chance: random.Random) -> list[bytes]:
        """Fresh contents, and the arguments of a launch: mostly as they should be, some a little off."""
        values = np.random.default_rng(chance.randrange(1 << 30))
        self.given[:] = values.integers(0, 2**32, IN_WORDS, dtype=np.uint32)
        self.given[64:128] &= 0xFF
        self.out[:] = 0
        np.asarray(self.texels)[:] = 0
        found = tensor_map.describe(self.given.ctypes.data, 4, (16, 16), (64, 4), (4, 8)).encode()
        self.out[MAP_AT : MAP_AT + 32] = np.frombuffer(found, np.uint32)
        corners = ((-1, 0), (0, -1))
        found = tensor_map.describe_im2col(
            self.given.ctypes.data, 4, (2, 4, 8, 4), (512, 128, 16, 4), corners, channels=4, pixels=16
        ).encode()
        self.out[MAP_AT + 32 : MAP_AT + 64] = np.frombuffer(found, np.uint32)
        rows = tensor_map.describe(self.given.ctypes.data, 4, (16, 16), (64, 4), (1, 8))
        self.out[MAP_AT + 64 : MAP_AT + 96] = np.frombuffer(dataclasses.replace(rows, type="u32").encode(), np.uint32)
        pointers = [self.given.ctypes.data, self.out.ctypes.data]
        handles = [self.texture, self.surface]
        n = 13
        if chance.random() < 0.25:
            n = chance.choice((0, 1, 255, 4096, 2**31, 2**32 - 1))
        if chance.random() < 0.15:
            at = chance.randrange(2)
            pointers[at] = (
                pointers[at] + chance.choice((-256, -16, -4, 4, 16, 900, 1008, 1020, 1024, 4092, 4096))
            ) % 2**64
        if chance.random() < 0.1:
            handles[chance.randrange(2)] = chance.choice((0, 1, 2, 3, 1 << 31, 2**64 - 1, pointers[0]))
        if chance.random() < 0.2:
            found = bytearray(found)
            at = chance.randrange(4, 32) * 4
            found[at : at + 4] = struct.pack("<I", int(chance.choice(twist.NUMBERS)) % 2**32)
        q = [struct.pack("<Q", value) for value in (*pointers, *handles)]
        return [q[0], q[1], struct.pack("<I", n), q[2], q[3], bytes(found)]


def _plain(kernel, blocks, threads, params, shared, _):
    launch.launch(kernel, blocks, threads, params, (), shared, timeout=TIMEOUT, threads=1)


def _counted(kernel, blocks, threads, params, shared, _):
    return launch.launch(kernel, blocks, threads, params, (), shared, timeout=TIMEOUT, threads=1, observe=True)


def _two(kernel, blocks, threads, params, shared, seed):
    launch.launch(kernel, blocks, threads, params, (), shared, timeout=TIMEOUT, threads=2, observe=seed % 3 == 0)


def _fine(kernel, blocks, threads, params, shared, seed):
    launch.launch(kernel, blocks, threads, params, (), shared, timeout=TIMEOUT, schedule="random", seed=seed)


def _watched(kernel, blocks, threads, params, shared, seed):
    prepared = launch.Prepared(kernel, params, [memory_info(world().given, "given"), memory_info(world().out, "out")])
    watched.run(prepared, blocks, threads, shared, seed % 2 == 0, TIMEOUT, seed=seed if seed % 3 == 0 else None)


def _interpreted(kernel, blocks, threads, params, shared, seed):
    launch.pack(kernel, params)  # refuses what the interpreter relies on
    schedule = {"schedule": "random", "seed": seed} if seed % 3 == 0 else {}
    reference.run(
        kernel,
        None,
        blocks,
        threads,
        params,
        shared_bytes=shared,
        max_steps=STEPS,
        output=lambda text: None,
        **schedule,
    )


def memory_info(array: np.ndarray, name: str) -> memory.ArrayInfo:
    return memory.ArrayInfo(name, array.ctypes.data, array.nbytes, str(array.dtype), array.shape, array.strides)


WAYS = {"plain": _plain, "counted": _counted, "watched": _watched, "fine": _fine, "two": _two,
        "interpreted": _interpreted}  # fmt: skip


@cache
def world() -> World:
    return World()


@cache
def watcher() -> extents.Watcher:
    checker.install()
    return extents.Watcher(lambda text: children.told(text))


@cache
def prepare() -> None:
    """Have everything checked that this process and its children compile from now on."""
    watcher(), world(), _guard()


def warm() -> None:
    """Compile what most programs want of the runtime, so that children need not; nothing of it may go wrong."""
    prepare()
    told: dict[str, str] = {}
    children.told = lambda text: told.setdefault(text.partition(" in @")[2], text)
    for name in PIECES:
        text = twist.program([name]).replace("NASTY_FIELD", "104").replace("NASTY", "1")
        for way in WAYS:
            result = one(text, way, random.Random(0), 0, 64, 2)
            assert result["outcome"] in ("ran", "fault", "refused"), (name, way, result)
    assert not told, told


def _guard() -> None:
    """Have what launches may only read compared before and after each."""
    go = grid.Grid.run

    def guarded(run, threads):
        fixed = [
            run.lane_ids,
            run.first_pcs,
            *run.table,
            run.textures[0],
            *(words for bound in run.textures[1] for words in bound._words),
        ]
        fixed += [run.params] if run.allocation is None else []
        before = [hashlib.blake2b(np.ascontiguousarray(array)).digest() for array in fixed]
        try:
            return go(run, threads)
        finally:
            after = [hashlib.blake2b(np.ascontiguousarray(array)).digest() for array in fixed]
            if before != after:
                children.told(f"what is only read was written: {[a == b for a, b in zip(before, after, strict=True)]}")

    grid.Grid.run = guarded


def one(text: str, way: str, chance: random.Random, seed: int, threads=None, blocks=None) -> dict:
    """One program run in one way."""
    shared = chance.choice((0, 16, 256, 256, 1000)) if "dynamic" in text else 0
    few = PAIRS if "reqnctapercluster" in text and chance.random() < 0.9 else BLOCKS
    blocks, threads = blocks or chance.choice(few), threads or chance.choice(THREADS)
    params = world().parameters(chance)[: 6 if " p5[" in text else 3]
    counts = []

    def run():
        kernel = launch.load(text, language="cuda")["k"]
        counts.append(WAYS[way](kernel, blocks, threads, params, shared, seed))
        return {"outcome": "ran", "detail": ""}

    # What programs print goes nowhere; what Python moves for them is looked up, too.
    with contextlib.redirect_stdout(io.StringIO()), extents.Moves(watcher()):
        found = outcome(run)
    counters = counts[0] if counts else None
    state = hashlib.blake2b(np.ascontiguousarray(world().out)).hexdigest() if found["outcome"] == "ran" else ""
    kind = found["detail"].partition(":")[0] if found["outcome"] == "fault" else ""
    if kind == "KernelTimeout":
        found["outcome"] = "timed out"
    return {**found, "kind": kind, "state": state, "counts": repr(counters and counters.total)}


def case(seed: int) -> dict:
    """One changed program, compiled and run in one way, or in several that must agree."""
    text = twist.twisted(seed, verified.accepted)
    way = list(WAYS)[seed % 5] if seed % 20 else "interpreted"
    found = one(text, way, random.Random(seed), seed)
    if found["outcome"] in ("ran", "fault", "timed out"):
        found["way"] = way
    if seed % 10 == 3 and found["outcome"] == "ran" and not UNSTEADY.search(text):
        others = [one(text, other, random.Random(seed), seed) for other in ("plain", "counted", "counted")]
        steady = not any(other["outcome"] == "timed out" for other in others)
        if steady and len({(other["outcome"], other["kind"], other["state"]) for other in others}) > 1:
            return {"outcome": "differs", "detail": f"plain and counted code: {others}"[:600]}
        if steady and others[1]["counts"] != others[2]["counts"]:
            return {"outcome": "differs", "detail": f"two counts: {others[1]['counts']}, {others[2]['counts']}"[:600]}
    launch._load.cache_clear()  # the variables of modules are memory that all may touch
    return {key: found[key] for key in ("outcome", "detail", "way") if key in found}


def batch(first: int, count: int, patience: float) -> tuple[list[dict], int]:
    """`children.batch` of these cases."""
    prepare()
    return children.batch(first, count, patience, case)
