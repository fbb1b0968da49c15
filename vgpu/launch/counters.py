"""The table of counters, and the counts of one launch per source line.

Names are Nsight Compute's where hardware has the same counter. Everything is counted in PTX. For ordinary loads and
stores of global memory, a GPU counts the same. ptxas may merge accesses to shared memory into wider ones, keep local
arrays in registers and turn constants into operands; `assembled.py` finds out, and a profile says so. Instructions and
branches are those of PTX, not of the machine code: ptxas merges, hoists and predicates them.
"""

from __future__ import annotations

import difflib
import functools
from collections import Counter as Tally
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from vgpu import isa
from vgpu.base.context import SITE, SITE_SLOT
from vgpu.isa import tensor, tensor_memory, umma, warpgroup
from vgpu.lower import Lowered, Site
from vgpu.lower.basic_blocks import kind_of, results, sources
from vgpu.lower.tallies import BASIC_BLOCK_SLOTS
from vgpu.lower.texture import COUNTED_KINDS as TEXTURE_KINDS
from vgpu.ptx import Instruction
from vgpu.ptx.lines import line_of

if TYPE_CHECKING:
    from vgpu.launch.path import Path
    from vgpu.launch.shares import Shares


@dataclass(frozen=True)
class Counter:
    """A counter: its key, Nsight Compute's name (or None), a plain name, its unit and what to know about it."""

    key: str
    nsight: str | None
    plain: str
    unit: str
    note: str = ""


def _l1(what: str, op: str) -> str:
    return f"l1tex__t_{what}_pipe_lsu_mem_{op}.sum"


def _shared(what: str, op: str) -> str:
    return f"l1tex__data_{what}_mem_shared_op_{op}.sum"


def _texture(what: str, op: str) -> str:
    return f"l1tex__t_{what}_pipe_tex_mem_{op}.sum"


_LAYOUT = (
    "a sector of a 2-D or 3-D CUDA array is taken to hold 16 bytes of each of two rows; hardware's own layout is not "
    "documented. Linear and pitched memory is counted as it lies"
)
_REMOTE = "to their shared memory; not among the shared requests"
_PTX = "PTX instructions; the machine's own count differs"
_MERGED = "as PTX asks; the assembler may merge neighbouring ones into one of 8 or 16 bytes a lane, as a profile says"
_SPILLED = "as PTX asks; the assembler may keep an array in registers, or spill registers, as a profile says"
# fmt: off
COUNTERS: tuple[Counter, ...] = (
    Counter("instructions", "smsp__inst_executed.sum", "PTX instructions, per warp", "instructions", _PTX),
    Counter("thread_instructions", "smsp__thread_inst_executed.sum",
            "PTX instructions, per thread", "instructions", _PTX),
    Counter("branches", "smsp__sass_branch_targets.sum", "branches, per warp", "branches", _PTX),
    Counter("divergent_branches", "smsp__sass_branch_targets_threads_divergent.sum",
            "divergent branches", "branches", _PTX),
    Counter("global_load_requests", _l1("requests", "global_op_ld"), "global load requests", "requests"),
    Counter("global_load_sectors", _l1("sectors", "global_op_ld"), "global load sectors", "sectors"),
    Counter("global_load_bytes", None, "bytes requested by loads", "bytes"),
    Counter("global_store_requests", _l1("requests", "global_op_st"), "global store requests", "requests"),
    Counter("global_store_sectors", _l1("sectors", "global_op_st"), "global store sectors", "sectors"),
    Counter("global_store_bytes", None, "bytes requested by stores", "bytes"),
    Counter("global_atomic_requests", _l1("requests", "global_op_atom"), "global atomic requests", "requests",
            "atomics without a result are counted here too; Nsight lists those under op_red"),
    Counter("global_atomic_sectors", _l1("sectors", "global_op_atom"), "global atomic sectors", "sectors"),
    Counter("global_fetch_requests", None, "global atomics whose results are read", "requests",
            "they are among the global atomic requests"),
    Counter("global_fetch_sectors", None, "sectors of global atomics whose results are read", "sectors"),
    Counter("shared_load_requests", "smsp__inst_executed_op_shared_ld.sum", "shared load requests", "requests",
            _MERGED),
    Counter("shared_load_wavefronts", _shared("pipe_lsu_wavefronts", "ld"),
            "shared load wavefronts", "wavefronts", _MERGED),
    Counter("shared_load_conflicts", _shared("bank_conflicts_pipe_lsu", "ld"),
            "shared load bank conflicts", "wavefronts",
            "wavefronts beyond those the access's width in PTX needs"),
    Counter("shared_store_requests", "smsp__inst_executed_op_shared_st.sum", "shared store requests", "requests",
            _MERGED),
    Counter("shared_store_wavefronts", _shared("pipe_lsu_wavefronts", "st"), "shared store wavefronts", "wavefronts",
            _MERGED),
    Counter("shared_store_conflicts", _shared("bank_conflicts_pipe_lsu", "st"),
            "shared store bank conflicts", "wavefronts"),
    Counter("overwritten_stores", None, "stores in which lanes of a warp overwrite one another with other values",
            "requests", "among the global and shared store requests; one of the lanes wins"),
    Counter("shared_atomic_requests", "smsp__inst_executed_op_shared_atom.sum", "shared atomic requests", "requests",
            "what shared memory cannot do by itself becomes a loop of compare-and-swap, as a profile says"),
    Counter("shared_atomic_wavefronts", _shared("pipe_lsu_wavefronts", "atom"),
            "shared atomic wavefronts", "wavefronts",
            "lanes that update one word follow one another, one wavefront each"),
    *(Counter(f"remote_{op}_{unit}", None, f"{op}s to other blocks of a cluster, {unit}", unit, _REMOTE)
      for op in ("load", "store", "atomic") for unit in ("requests", "bytes")),
    Counter("async_copies", "smsp__inst_executed_op_ldgsts.sum", "asynchronous copies, per warp", "instructions",
            "cp.async: global memory to shared memory without registers"),
    Counter("async_copy_bytes", None, "bytes that asynchronous copies write to shared memory", "bytes"),
    Counter("global_copy_requests", _l1("requests", "global_op_ldgsts"), "asynchronous copies' requests", "requests",
            "not among the global load requests, as on hardware"),
    Counter("global_copy_sectors", _l1("sectors", "global_op_ldgsts"), "asynchronous copies' global sectors", "sectors",
            "not among the global load sectors, as on hardware"),
    Counter("shared_copy_wavefronts", _shared("pipe_lsu_wavefronts", "ldgsts"),
            "asynchronous copies' shared wavefronts", "wavefronts"),
    Counter("shared_copy_conflicts", _shared("bank_conflicts_pipe_lsu", "ldgsts"),
            "asynchronous copies' bank conflicts", "wavefronts"),
    Counter("bulk_loads", None, "bulk copies to shared memory", "copies", "with a tensor map or without"),
    Counter("bulk_load_bytes", None, "bytes that bulk copies write to shared memory", "bytes",
            "with what is filled in outside a tensor"),
    Counter("bulk_cluster_bytes", None, "bytes of these that global memory is not read for", "bytes",
            "a multicast's for all blocks but one, and copies between blocks of a cluster"),
    Counter("bulk_stores", None, "bulk copies to global memory", "copies"),
    Counter("bulk_store_bytes", None, "bytes that bulk copies read from shared memory", "bytes"),
    Counter("local_load_requests", _l1("requests", "local_op_ld"), "local load requests", "requests",
            _SPILLED),
    Counter("local_load_sectors", _l1("sectors", "local_op_ld"), "local load sectors", "sectors",
            _SPILLED),
    Counter("local_store_requests", _l1("requests", "local_op_st"), "local store requests", "requests",
            _SPILLED),
    Counter("local_store_sectors", _l1("sectors", "local_op_st"), "local store sectors", "sectors",
            _SPILLED),
    Counter("constant_load_requests", "smsp__inst_executed_op_ldc.sum", "constant load requests", "requests",
            "as PTX asks; a constant that all lanes read may become an operand of another instruction"),
    Counter("texture_requests", _texture("requests", "texture"), "texture requests", "requests",
            "one for each instruction of a warp; hardware may split it"),
    Counter("texture_sectors", _texture("sectors", "texture"), "texture sectors", "sectors", _LAYOUT),
    Counter("surface_load_requests", _texture("requests", "surface_op_ld"), "surface load requests", "requests"),
    Counter("surface_load_sectors", _texture("sectors", "surface_op_ld"), "surface load sectors", "sectors", _LAYOUT),
    Counter("surface_store_requests", _texture("requests", "surface_op_st"), "surface store requests", "requests"),
    Counter("surface_store_sectors", _texture("sectors", "surface_op_st"),
            "surface store sectors", "sectors", _LAYOUT),
    Counter("flops_fp16", None, "half-precision operations, per thread (fma = 2)", "FLOP"),
    Counter("flops_fp32", None, "single-precision operations, per thread (fma = 2)", "FLOP"),
    Counter("flops_fp64", None, "double-precision operations, per thread (fma = 2)", "FLOP"),
    Counter("integer_divisions", None, "divisions and remainders of integers, per warp", "instructions",
            "each becomes up to 20 instructions of the machine"),
    Counter("integer_products", None, "multiplications of integers, per thread (dp4a = 4, dp2a = 2)", "operations",
            "those of indices among them"),
    Counter("float_products", None, "multiplications and divisions of floats, per thread (fma = 1)", "operations",
            "by ordinary cores; of packed halves each"),
    Counter("special_functions", None, "roots, reciprocals, exponents, logarithms, sines, per thread", "operations",
            "single and half precision; a division takes one too"),
    Counter("tensor_instructions", "sm__inst_executed_pipe_tensor.sum", "tensor-core products, per warp",
            "instructions", _PTX),
    Counter("tensor_hmma", "sm__inst_executed_pipe_tensor_op_hmma.sum",
            "tensor-core products of floats of 4 to 16 bits and tf32, per warp", "instructions", _PTX),
    Counter("tensor_imma", "sm__inst_executed_pipe_tensor_op_imma.sum",
            "tensor-core products of integers, per warp", "instructions", _PTX),
    Counter("tensor_dmma", "sm__inst_executed_pipe_tensor_op_dmma.sum",
            "tensor-core products of doubles, per warp", "instructions", _PTX),
    Counter("tensor_gmma", "sm__inst_executed_pipe_tensor_op_gmma.sum",
            "tensor-core products of warpgroups, per warp", "instructions",
            "each warp of a warpgroup counts its 16 rows; what descriptors name is not read by load instructions"),
    Counter("tensor_umma", None, "tensor-core products of tensor memory (tcgen05.mma)", "instructions",
            "one thread issues each; what descriptors name is not read by load instructions"),
    Counter("tensor_memory_loads", None, "loads from tensor memory to registers, per warp", "instructions"),
    Counter("tensor_memory_load_bytes", None, "bytes that they read", "bytes"),
    Counter("tensor_memory_stores", None, "stores from registers to tensor memory, per warp", "instructions"),
    Counter("tensor_memory_store_bytes", None, "bytes that they write", "bytes"),
    Counter("tensor_memory_copies", None, "copies from shared to tensor memory (tcgen05.cp)", "instructions"),
    Counter("tensor_memory_copy_bytes", None, "bytes of shared memory that they read", "bytes"),
    *(Counter(key, None, f"tensor-core operations on {plain} (2·m·n·k a product)", unit)
      for key, plain, unit in (
          ("flops_tensor_fp16", "half precision", "FLOP"), ("flops_tensor_bf16", "bfloat16", "FLOP"),
          ("flops_tensor_tf32", "tf32", "FLOP"), ("flops_tensor_fp8", "8- and 6-bit floats", "FLOP"),
          ("flops_tensor_fp4", "4-bit floats", "FLOP"),
          ("flops_tensor_fp64", "double precision", "FLOP"), ("ops_tensor_int8", "8-bit integers", "operations"),
          ("ops_tensor_int4", "4-bit integers", "operations"), ("ops_tensor_b1", "single bits", "operations"))),
    Counter("matrix_load_requests", "smsp__inst_executed_op_ldsm.sum", "ldmatrix instructions, per warp",
            "requests", "their wavefronts and conflicts are among those of shared loads"),
    Counter("matrix_store_requests", None, "stmatrix instructions, per warp", "requests",
            "their wavefronts and conflicts are among those of shared stores"),
    Counter("barriers", "smsp__inst_executed_op_barrier.sum", "barriers, per warp", "instructions"),
    Counter("cluster_barriers", None, "waits at barriers of a cluster, per warp", "instructions"),
    Counter("mbarrier_operations", None, "operations on mbarriers, per warp", "instructions",
            "an mbarrier may be tested again and again: how often depends on the schedule"),
    Counter("waits", None, "ends of loops that spin on memory, per warp", "loops"),
)
# fmt: on
KEYS = tuple(c.key for c in COUNTERS)
_DIVISIONS = ("div", "rem")
_SPECIAL = ("cos", "div", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh")
_FLOAT_PRODUCTS = ("mul", "fma", "mad", "div")
_PRODUCTS = {"mul": 1, "mad": 1, "madc": 1, "mul24": 1, "mad24": 1, "dp2a": 2, "dp4a": 4}
_PER_THREAD = ("flops_fp", "float_products", "integer_products", "special")  # how their keys begin
# The slots of a site, and two more: bank conflicts, and lanes of requests to global memory.
_COLUMNS = {name: index for index, name in enumerate((*SITE, "conflicts", "asked"))}
_BY_NAME = {c.key: c for c in COUNTERS} | {c.nsight: c for c in COUNTERS if c.nsight}


@dataclass(frozen=True)
class Footprint:
    """Distinct 32-byte sectors of global memory, in bytes: the traffic that no cache can avoid."""

    read_bytes: int
    written_bytes: int


@dataclass(frozen=True)
class Counters:
    """The counts of one launch: `lines` by the user's line, `total` over all, by the keys of `COUNTERS`.

    `counters[name]` takes a key or Nsight Compute's name; `KeyError` names the nearest ones. `by_warp` is each warp's
    share of the work, `path` the log of the warp that the launch followed (None without one); both are None where
    the counters don't come from a launch of the virtual GPU.
    """

    lines: Mapping[int, Mapping[str, int]]
    total: Mapping[str, int]
    footprint: Footprint
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    warps: int
    shared_bytes: int
    by_warp: Shares | None = None
    path: Path | None = None

    def __getitem__(self, name: str) -> int:
        found = _BY_NAME.get(name)
        if found is None:
            near = difflib.get_close_matches(name, _BY_NAME, n=3, cutoff=0.3)
            raise KeyError(f"no counter is called {name!r}; the nearest are {', '.join(near) or ', '.join(KEYS)}")
        return self.total[found.key]


def gather(
    lowered: Lowered, files: Mapping[int, str], filename: str, sites: np.ndarray, basic_blocks: np.ndarray
) -> tuple[Mapping[int, Mapping[str, int]], Mapping[str, int]]:
    """(counts by line, totals) from the summed slots of all workers.

    `sites`: int64 of shape (sites, SITE_BYTES / 8); `basic_blocks`: int64 of shape (basic blocks, BASIC_BLOCK_SLOTS).
    """
    known = _counting(lowered, frozenset(index for index, name in files.items() if name == filename))
    sites = sites[:, : len(SITE)]
    requests, wavefronts = sites[:, SITE_SLOT["shared_requests"]], sites[:, SITE_SLOT["shared_wavefronts"]]
    conflicts = np.maximum(0, wavefronts - known.least * requests)
    asked = np.where(sites[:, SITE_SLOT["requests"]] > 0, sites[:, SITE_SLOT["lanes"]], 0)
    slots = np.concatenate([basic_blocks.ravel(), np.column_stack([sites, conflicts, asked]).ravel()])
    sums = np.add.reduceat(slots[known.slots] * known.factors, known.starts)
    total = dict.fromkeys(KEYS, 0)
    lines: dict[int, dict[str, int]] = {}
    for (line, key), count in zip(known.names, sums.tolist(), strict=True):
        if count:
            lines.setdefault(line, {})[key] = count
            total[key] += count
    return MappingProxyType({line: MappingProxyType(counts) for line, counts in lines.items()}), MappingProxyType(total)


@dataclass(frozen=True, eq=False)
class _Counting:
    """How a kernel's slots become counters, the same for all its launches.

    `names`: (line, counter), in order. The sum for `names[i]` begins at `starts[i]`: `slots` has the places in the row
    of all slots (of basic blocks, then of sites), `factors` what each counts. `least`: of each site, the wavefronts
    that a request to shared memory takes without conflicts.
    """

    names: tuple[tuple[int, str], ...]
    starts: np.ndarray
    slots: np.ndarray
    factors: np.ndarray
    least: np.ndarray


@functools.lru_cache(maxsize=64)
def _counting(lowered: Lowered, own: frozenset[int]) -> _Counting:
    added: Tally[tuple[int, str, int]] = Tally()
    inherited: dict[tuple[int, object], int] = {}
    current = 0
    for index, parts in enumerate(placed(lowered, own)):
        first = index * BASIC_BLOCK_SLOTS
        for _, instruction, current in parts:
            inherited[instruction.text, instruction.location] = current
            added[current, "instructions", first] += 1
            added[current, "thread_instructions", first + 1] += 1
            for key, factor in _static(instruction).items():
                added[current, key, first + int(key.startswith(_PER_THREAD))] += factor
        of_cluster = any(kind_of(instruction) == "cluster_wait" for _, instruction, _ in parts)  # counted already
        for key, slot in (("divergent_branches", 2), *(() if of_cluster else (("waits", 3),))):
            added[current, key, first + slot] += 1
    first, fetches = len(lowered.basic_blocks) * BASIC_BLOCK_SLOTS, _fetches(lowered)
    for site in lowered.sites:
        instruction = site.instruction
        line = line_of(instruction.location, own) or inherited.get((instruction.text, instruction.location), 0)
        for key, column, factor in _memory(site, instruction in fetches):
            added[line, key, first + _COLUMNS[column]] += factor
        first += len(_COLUMNS)
    start = min((line for line, _, _ in added if line), default=1)  # what has no line belongs to the first one
    found = sorted((line or start, key, slot, factor) for (line, key, slot), factor in added.items())
    names = [(line, key) for line, key, _, _ in found]
    starts = [at for at, name in enumerate(names) if at == 0 or name != names[at - 1]]
    return _Counting(
        tuple(names[at] for at in starts), np.array(starts), np.array([slot for _, _, slot, _ in found]),
        np.array([factor for _, _, _, factor in found]),
        np.array([site.matrices or max(1, site.nbytes // 4) for site in lowered.sites], np.int64),
    )  # fmt: skip


def placed(lowered: Lowered, own: Collection[int]) -> list[list[tuple[int, Instruction, int]]]:
    """The counted instructions of each basic block: (position in it, instruction, line; 0: not known).

    An instruction without a line gets the line of the one before it. `own`: the numbers of the user's files.
    """
    found: list[list[tuple[int, Instruction, int]]] = []
    current = 0
    for basic_block in lowered.basic_blocks:
        parts = []
        for position, instruction in basic_block.placed:
            current = line_of(instruction.location, own) or current
            parts.append((position, instruction, current))
        found.append(parts)
    return found


def _static(instruction: Instruction) -> dict[str, int]:
    """The counts that every execution of an instruction adds, besides itself."""
    kind = kind_of(instruction)
    if kind == "tensor":
        if instruction.opcode == "wgmma":
            return warpgroup.counts(instruction.modifiers)
        return tensor.counts(instruction.opcode, instruction.modifiers)
    if kind == "tensor_memory":
        return tensor_memory.counts(instruction.modifiers)
    if kind == "branch":  # an inlined return or call became a jump: it is no branch of the kernel
        return {} if instruction.modifiers in (("ret",), ("call",)) else {"branches": 1}
    if kind == "barrier":
        return {} if "cluster" in instruction.modifiers else {"barriers": 1}
    if kind == "cluster_wait":
        return {"cluster_barriers": 1}
    if kind == "mbarrier":
        return {"mbarrier_operations": 1}
    if kind != "arithmetic":
        return {}
    found = isa.match(instruction.opcode, instruction.modifiers)
    if found is None:
        return {}
    operand, counts, each = found.form.t, {}, 2 if found.packed else 1
    if found.op.flops:
        counts[f"flops_fp{operand.bits}"] = found.op.flops * each
    if operand.is_float:
        if instruction.opcode in _FLOAT_PRODUCTS:
            counts["float_products"] = each
        if instruction.opcode in _SPECIAL and operand.bits <= 32:
            counts["special_functions"] = each
    elif instruction.opcode in _DIVISIONS:
        counts["integer_divisions"] = 1
    elif instruction.opcode in _PRODUCTS:
        counts["integer_products"] = _PRODUCTS[instruction.opcode]
    return counts


def _fetches(lowered: Lowered) -> set[Instruction]:
    """The atomic instructions whose results are read."""
    found = {site.instruction for site in lowered.sites if site.kind == "atomic" and site.instruction.opcode == "atom"}
    read = {name for s in lowered.basic_blocks for i in s.counted for name in sources(i)} if found else set()
    return {instruction for instruction in found if read.intersection(results(instruction))}


def _tensor_memory(instruction: Instruction) -> list[tuple[str, str, int]]:
    """What threads ask for one by one; how much, their descriptors say."""
    name, found = tensor_memory.form(instruction.modifiers) or ("", ())
    if name == "cp":
        return [("tensor_memory_copies", "requests", 1), ("tensor_memory_copy_bytes", "lanes", 1)]
    if name != "mma":
        return []
    operations = umma.KINDS[str(found[1])].counters
    counted = zip(operations, ("lanes", "remote_lanes"), (1, 1), strict=False)
    return [("tensor_instructions", "requests", 1), ("tensor_umma", "requests", 1), *counted]


def _memory(site: Site, fetches: bool) -> list[tuple[str, str, int]]:
    """The counters of one memory instruction, each with the slot it is counted in and a factor."""
    kind, space, nbytes = site.kind, site.space, site.nbytes
    if kind == "copy":  # each side of an asynchronous copy is a site
        if space == "global":
            return [("global_copy_requests", "requests", 1), ("global_copy_sectors", "sectors", 1)]
        return [
            ("async_copies", "shared_requests", 1), ("async_copy_bytes", "lanes", nbytes),
            ("shared_copy_wavefronts", "shared_wavefronts", 1), ("shared_copy_conflicts", "conflicts", 1),
        ]  # fmt: skip
    if kind.startswith("bulk"):
        found = [(f"{kind}s", "requests", 1), (f"{kind}_bytes", "lanes", 1)]
        return [*found, ("bulk_cluster_bytes", "remote_lanes", 1)] if kind == "bulk_load" else found
    if kind == "tensor_memory":
        return _tensor_memory(site.instruction)
    if kind in TEXTURE_KINDS:
        return [(f"{kind}_requests", "requests", 1), (f"{kind}_sectors", "sectors", 1)]
    local, atomic = "load" if kind == "load" else "store", kind == "atomic"
    found = [
        (f"matrix_{kind}_requests" if site.matrices else f"shared_{kind}_requests", "shared_requests", 1),
        (f"shared_{kind}_wavefronts", "shared_wavefronts", 1), ("overwritten_stores", "overwritten", 1),
        (f"local_{local}_requests", "local_requests", 1), (f"local_{local}_sectors", "local_sectors", 1),
        (f"remote_{kind}_requests", "remote_requests", 1), (f"remote_{kind}_bytes", "remote_lanes", nbytes),
    ]  # fmt: skip
    if not atomic:
        found.append((f"shared_{kind}_conflicts", "conflicts", 1))
    if space == "const":
        return [*found, ("constant_load_requests", "requests", 1)]
    found += [(f"global_{kind}_requests", "requests", 1), (f"global_{kind}_sectors", "sectors", 1)]
    if fetches:
        found += [("global_fetch_requests", "requests", 1), ("global_fetch_sectors", "sectors", 1)]
    return found if atomic else [*found, (f"global_{kind}_bytes", "asked", nbytes)]
