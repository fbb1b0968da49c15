"""How a profile reads: its columns and metrics as tables, laid out as text and as HTML.

Columns and metrics are rows of data; a new one is a new row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from vgpu.tools.counter_sums import BY_KEY, COUNTER_SUMS
from vgpu.tools.roofline import MEMORIES, bytes_moved, flops_by_unit, seconds_text
from vgpu.tools.source_cells import in_box, source_code

if TYPE_CHECKING:
    from vgpu.tools.profile import Profile

SOURCE_WIDTH = 50
Counts = Mapping[str, int]
FromCounts = Callable[[Counts], float | None]
FromProfile = Callable[["Profile"], float | None]


def ratio(above: float, below: float) -> float | None:
    """`above / below`; None where `below` is 0."""
    return above / below if below else None


@dataclass(frozen=True)
class Column:
    """One column of the table per source line: heading, what it means, and its value from a line's counts."""

    heading: str
    meaning: str
    value: FromCounts


def _count(key: str) -> FromCounts:
    return lambda counts: counts.get(key) or None


def _per(above: str, below: str) -> FromCounts:
    return lambda counts: ratio(counts.get(above, 0), counts.get(below, 0))


def _sum(*keys: str) -> FromCounts:
    """The sum of several counters, or None where it is zero."""
    return lambda counts: sum(counts.get(key, 0) for key in keys) or None


# ldmatrix and stmatrix are separate requests, whose wavefronts are among those of shared loads and stores.
_SHARED_REQUESTS = (
    "shared_load_requests", "shared_store_requests", "shared_atomic_requests", "matrix_load_requests",
    "matrix_store_requests",
)  # fmt: skip
_TEXELS = ("texture", "surface_load", "surface_store")


def _shared_per_request(counts: Mapping[str, int]) -> float | None:
    wavefronts = sum(counts.get(f"shared_{kind}_wavefronts", 0) for kind in ("load", "store", "atomic"))
    return ratio(wavefronts, sum(counts.get(key, 0) for key in _SHARED_REQUESTS))


def _shared_requests(counts: Mapping[str, int], op: str) -> int:
    return counts.get(f"shared_{op}_requests", 0) + counts.get(f"matrix_{op}_requests", 0)


def _per_shared(op: str) -> FromCounts:
    return lambda counts: ratio(counts.get(f"shared_{op}_wavefronts", 0), _shared_requests(counts, op))


def _texels_per_request(counts: Mapping[str, int]) -> float | None:
    sectors, requests = (sum(counts.get(f"{kind}_{what}", 0) for kind in _TEXELS) for what in ("sectors", "requests"))
    return ratio(sectors, requests)


# fmt: off
COLUMNS = (
    Column("load req", "global load requests: warps that executed a load", _count("global_load_requests")),
    Column("sect/req", "32-byte sectors per load request", _per("global_load_sectors", "global_load_requests")),
    Column("store req", "global store requests: warps that executed a store", _count("global_store_requests")),
    Column("sect/req", "32-byte sectors per store request", _per("global_store_sectors", "global_store_requests")),
    Column("shm wf/req", "shared-memory wavefronts per request: 1 is conflict-free", _shared_per_request),
    Column("atomic req", "global atomic requests", _count("global_atomic_requests")),
    Column("tex req", "texture and surface requests", _sum(*(f"{kind}_requests" for kind in _TEXELS))),
    Column("sect/req", "32-byte sectors per texture or surface request", _texels_per_request),
    Column("async cp", "asynchronous copies (cp.async), per warp", _count("async_copies")),
    Column("sect/cp", "32-byte sectors of global memory per asynchronous copy",
           _per("global_copy_sectors", "async_copies")),
    Column("bulk bytes", "bytes of bulk copies, in either direction", _sum("bulk_load_bytes", "bulk_store_bytes")),
    Column("tensor", "tensor-core products, per warp, counted in PTX", _count("tensor_instructions")),
    Column("local req", "local memory requests: what did not stay in registers",
           _sum("local_load_requests", "local_store_requests")),
    Column("special", "roots, reciprocals, exponents, logarithms, sines, per thread", _count("special_functions")),
    Column("lanes", "active lanes per instruction, of 32", _per("thread_instructions", "instructions")),
    Column("instr", "warp instructions, counted in PTX", _count("instructions")),
)
# fmt: on


@dataclass(frozen=True)
class Metric:
    """A number derived from a whole profile: its key, Nsight Compute's name (or None), plain words, what it is."""

    key: str
    nsight: str | None
    plain: str
    origin: str
    value: FromProfile


def _total(above: str, below: str, scale: float = 1.0) -> FromProfile:
    def value(profile: Profile) -> float | None:
        found = ratio(profile.counters.total[above], profile.counters.total[below])
        return None if found is None else scale * found

    return value


def _of(found: FromCounts) -> FromProfile:
    return lambda profile: found(profile.counters.total)


def _efficiency(op: str) -> FromProfile:
    return _total(f"global_{op}_bytes", f"global_{op}_sectors", 100 / 32)


def _all_wavefronts(total: Mapping[str, int]) -> int:
    return sum(total.get(f"shared_{op}_wavefronts", 0) for op in ("load", "store", "atomic", "copy"))


def _flops(profile: Profile) -> int:
    return sum(flops_by_unit(profile.counters.total).values())


def _intensity(memory: str) -> FromProfile:
    return lambda profile: ratio(_flops(profile), bytes_moved(profile.counters, memory))


METRICS = (
    *(Metric(each.key, None, each.plain, "counted", _of(each.of)) for each in COUNTER_SUMS),
    Metric(
        "sectors_per_request",
        None,
        "sectors per request to global memory, by any instruction",
        "counted",
        _of(lambda counts: ratio(BY_KEY["global_sectors"].of(counts), BY_KEY["global_requests"].of(counts))),
    ),
    Metric(
        "sectors_per_load_request",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
        "sectors per global load request",
        "counted",
        _total("global_load_sectors", "global_load_requests"),
    ),
    Metric(
        "sectors_per_store_request",
        "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
        "sectors per global store request",
        "counted",
        _total("global_store_sectors", "global_store_requests"),
    ),
    Metric(
        "load_efficiency",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
        "% of loaded sectors' bytes that lanes requested",
        "counted",
        _efficiency("load"),
    ),
    Metric(
        "store_efficiency",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
        "% of stored sectors' bytes that lanes requested",
        "counted",
        _efficiency("store"),
    ),
    Metric(
        "wavefronts_per_shared_load",
        "derived__wavefronts_per_request_shared_op_ld.ratio",
        "shared wavefronts per load request",
        "counted",
        _of(_per_shared("load")),
    ),
    Metric(
        "wavefronts_per_shared_store",
        "derived__wavefronts_per_request_shared_op_st.ratio",
        "shared wavefronts per store request",
        "counted",
        _of(_per_shared("store")),
    ),
    Metric(
        "sectors_per_texture_request",
        "l1tex__average_t_sectors_per_request_pipe_tex.ratio",
        "sectors per texture or surface request",
        "counted",
        _of(_texels_per_request),
    ),
    Metric(
        "sectors_per_async_copy",
        None,
        "global sectors per asynchronous copy",
        "counted",
        _total("global_copy_sectors", "async_copies"),
    ),
    Metric(
        "lanes_per_instruction",
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "active lanes per instruction (PTX), of 32",
        "counted",
        _total("thread_instructions", "instructions"),
    ),
    Metric("flops", None, "floating-point operations (fma = 2), tensor cores included", "counted", _flops),
    Metric(
        "footprint_bytes",
        None,
        "distinct bytes of global memory, in whole sectors",
        "counted",
        lambda profile: bytes_moved(profile.counters),
    ),
    Metric(
        "l2_bytes",
        None,
        "bytes of the global sectors of all requests",
        "counted",
        lambda profile: bytes_moved(profile.counters, "L2"),
    ),
    Metric(
        "shared_wavefronts",
        None,
        "shared wavefronts of loads, stores, atomics and copies",
        "counted",
        _of(_all_wavefronts),
    ),
    *(
        Metric(
            "intensity" if name == "DRAM" else f"{name.lower()}_intensity",
            None,
            f"FLOP per byte of {name} ({memory.what})",
            "counted",
            _intensity(name),
        )
        for name, memory in MEMORIES.items()
    ),
    Metric(
        "registers",
        "launch__registers_per_thread",
        "registers per thread",
        "compiler",
        lambda profile: profile.resources.registers,
    ),
    Metric(
        "static_shared_bytes",
        "launch__shared_mem_per_block_static",
        "static shared bytes per block",
        "compiler",
        lambda profile: profile.resources.shared_bytes,
    ),
    Metric(
        "occupancy",
        "sm__maximum_warps_per_active_cycle_pct",
        "theoretical occupancy, %",
        "compiler",
        lambda profile: 100 * profile.occupancy.fraction,
    ),
    Metric(
        "waves",
        "launch__waves_per_multiprocessor",
        "waves: blocks over those resident at once",
        "modelled",
        lambda profile: profile.model.waves,
    ),
)


def number(value: float | None) -> str:
    """A count in full, a ratio with up to two decimals, nothing for None."""
    if value is None:
        return ""
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.2f}"


def many(count: int, noun: str) -> str:
    """`1 request`, `2,000 requests`, `3 copies`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


# What a product of tensor cores is made of, by counter.
_PRODUCTS = {
    "flops_tensor_fp16": "FLOP of half precision", "flops_tensor_bf16": "FLOP of bfloat16",
    "flops_tensor_tf32": "FLOP of tf32", "flops_tensor_fp8": "FLOP of 8-bit floats",
    "flops_tensor_fp4": "FLOP of 4-bit floats",
    "flops_tensor_fp64": "FLOP of double precision", "ops_tensor_int8": "operations on 8-bit integers",
    "ops_tensor_int4": "operations on 4-bit integers", "ops_tensor_b1": "operations on single bits",
}  # fmt: skip


def _special(profile: Profile, total: Counts) -> Iterator[str]:
    """What few kernels do: textures, copies past the registers, tensor cores, special functions."""
    for kind, name in (("texture", "textures"), ("surface_load", "surface loads"), ("surface_store", "surface stores")):
        if requests := total[f"{kind}_requests"]:
            sectors = total[f"{kind}_sectors"]
            yield (
                f"counted: {name}: {many(requests, 'request')}, {many(sectors, 'sector')}, "
                f"{number(ratio(sectors, requests))} a request"
            )
    if copies := total["async_copies"]:
        yield (
            f"counted: asynchronous copies: {copies:,}, {total['async_copy_bytes']:,} bytes, "
            f"{number(profile['sectors_per_async_copy'])} sectors of global memory and "
            f"{number(ratio(total['shared_copy_wavefronts'], copies))} wavefronts of shared memory each"
        )
    for op, where in (("load", "to shared memory"), ("store", "to global memory")):
        if copies := total[f"bulk_{op}s"]:
            near = total["bulk_cluster_bytes"] if op == "load" else 0
            more = f", {near:,} of them without reading global memory" if near else ""
            yield f"counted: bulk copies {where}: {copies:,}, {total[f'bulk_{op}_bytes']:,} bytes{more}"
    if products := total["tensor_instructions"]:
        of = ", ".join(f"{total[key]:,} {name}" for key, name in _PRODUCTS.items() if total[key])
        yield f"counted: tensor cores: {many(products, 'product')} of warps (PTX), {of}"
    if total["special_functions"]:
        yield f"counted: special functions: {total['special_functions']:,} of threads (roots, divisions, exponents, …)"


def _overwritten(profile: Profile) -> Iterator[str]:
    """The lines on which lanes lose what they store."""
    found = [line for line in profile.lines if line["overwritten_stores"]]
    if found:
        stores = sum(line["overwritten_stores"] for line in found)
        where = f"line{'s' * (len(found) > 1)} {' and '.join(str(line.number) for line in found)}"
        yield (
            f"counted: {where}: lanes of one warp store different values to one element, and one of them wins "
            f"({many(stores, 'request')}): `sanitize(kernel, grid, block, args, races_in_global=True)` shows more"
        )


def _in_machine_code(profile: Profile, op: str, counted: int) -> str:
    """The requests of the machine code in brackets, where they are others than the counted ones."""
    changed = [row for row in profile.assembled if row.op == op]
    if not changed:
        return ""
    fewer = [None if row.requests is None else row.counted - row.requests for row in changed]
    known = [each for each in fewer if each is not None]
    return (
        f" ({counted - sum(known):,} in the machine code)" if len(known) == len(fewer) else " (fewer in machine code)"
    )


def summary(profile: Profile) -> Iterator[str]:
    """A profile's lines below its table: counted, then the compiler's, then modelled."""
    total, footprint = profile.counters.total, profile.counters.footprint
    for op, does in (("load", "loads"), ("store", "stores")):
        if total[f"global_{op}_requests"]:
            yield (
                f"counted: global {does}: {many(total[f'global_{op}_requests'], 'request')}, "
                f"{many(total[f'global_{op}_sectors'], 'sector')}, "
                f"{number(profile[f'sectors_per_{op}_request'])} a request, "
                f"{profile[f'{op}_efficiency']:.1f} % of their bytes requested"
            )
    if total["global_atomic_requests"]:
        yield f"counted: global atomics: {many(total['global_atomic_requests'], 'request')}"
    for op, does in (("load", "loads"), ("store", "stores")):
        if requests := _shared_requests(total, op):
            matrices, wavefronts = total[f"matrix_{op}_requests"], number(profile[f"wavefronts_per_shared_{op}"])
            yield (
                f"counted: shared {does}: {many(requests, 'request')}{_in_machine_code(profile, op, requests)}"
                f"{f', {matrices:,} of them of matrices' if matrices else ''}, "
                f"{wavefronts} wavefront{'s' * (wavefronts != '1')} a request"
            )
    yield from _overwritten(profile)
    yield from _special(profile, total)
    if local := total["local_load_requests"] + total["local_store_requests"]:
        sectors = total["local_load_sectors"] + total["local_store_sectors"]
        yield f"counted: local memory: {many(local, 'request')}, {many(sectors, 'sector')} (not in registers)"
    yield (
        f"counted: {total['instructions']:,} warp instructions (PTX), "
        f"{number(profile['lanes_per_instruction'])} of 32 lanes active; "
        f"{total['divergent_branches']:,} of {total['branches']:,} branches diverge"
    )
    yield (
        f"counted: touches {footprint.read_bytes:,} bytes to read and {footprint.written_bytes:,} to write, "
        "in whole sectors"
    )
    for race in profile.races:
        lines = sorted({line for line in (race.line, race.other_line) if line is not None})
        where = f"line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"
        array = f"`{race.array}`" if race.array else "shared memory"
        yield (
            f"sanitizer (first blocks): {race.title}: {where}, {array}: the result may depend on the order of threads "
            "(`sanitize(kernel, grid, block, args)` shows more)"
        )
    if profile.machine_note:
        yield profile.machine_note
    needs = profile.resources
    older = "" if needs.arch.rstrip("af") == profile.gpu.arch else f", for want of {profile.gpu.arch} in CUDA 13"
    yield (
        f"compiler ({needs.arch}{older}): {needs.registers} registers a thread; shared memory "
        f"{needs.shared_bytes:,} bytes static, {profile.dynamic_shared_bytes:,} dynamic; "
        f"spills {needs.spill_store_bytes + needs.spill_load_bytes:,} bytes"
    )
    held = profile.occupancy
    yield (
        f"compiler: occupancy {held.fraction:.1%} on {profile.gpu.name}: {held.blocks_per_sm} blocks, "
        f"{held.warps_per_sm} of {held.max_warps_per_sm} warps an SM, limited by {held.limiter}"
    )
    model = profile.model
    yield f"modelled: {seconds_text(model.seconds)} on {profile.gpu.name}, bound by {model.bound}"


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Rows of strings under headings; the column number `left` is left-aligned, the others right-aligned."""
    widths = [max(len(row[at]) for row in (headings, *rows)) for at in range(len(headings))]

    def line(row: Sequence[str]) -> str:
        cells = [
            cell.ljust(width) if at == left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(cells).rstrip()

    return [line(headings), "  ".join("-" * width for width in widths), *(line(row) for row in rows)]


def _used(profile: Profile) -> list[Column]:
    """The columns with a number in some line; a kernel without shared memory shows none for it."""
    return [col for col in COLUMNS if any(col.value(line.counts) is not None for line in profile.lines)]


def _clip(source: str) -> str:
    source = source.rstrip()
    return source if len(source) <= SOURCE_WIDTH else source[: SOURCE_WIDTH - 1] + "…"


def as_text(profile: Profile) -> str:
    """The whole profile in monospaced text, the same on every machine."""
    used = _used(profile)
    rows = [
        [*(number(col.value(line.counts)) for col in used), f"{line.number:>4} {_clip(line.source)}"]
        for line in profile.lines
    ]
    table = text_table([*(col.heading for col in used), "line"], rows, left=len(used))
    return "\n".join([profile.title, "", "counted, per source line:", *table, "", *profile.summary])


_CELL = "padding:0.15em 0.4em;text-align:right;vertical-align:top"
_LEFT = _CELL.replace("right", "left")
_RULE = "border-bottom:1px solid var(--jp-border-color1, currentColor)"


def as_html(profile: Profile) -> str:
    """The whole profile as an accessible table; colours come from the page's theme."""
    used = _used(profile)
    # One word per line keeps columns of numbers narrow, which leaves the width to the source.
    head = "".join(
        f'<th scope="col" style="{_CELL};{_RULE}" title="{escape(col.meaning)}">'
        f"{escape(col.heading).replace(' ', '<br>')}</th>"
        for col in used
    )
    body = []
    for line in profile.lines:
        cells = "".join(f'<td style="{_CELL}">{number(col.value(line.counts))}</td>' for col in used)
        source = f'<td style="{_LEFT}">{source_code(line.source)}</td>'
        body.append(f'<tr><th scope="row" style="{_CELL}">{line.number}</th>{source}{cells}</tr>')
    legend = "".join(f"<li><strong>{escape(c.heading)}</strong>: {escape(c.meaning)}</li>" for c in used)
    below = "".join(f"<li>{escape(row)}</li>" for row in profile.summary)
    table = (
        '<table style="border-collapse:collapse;color:inherit;background:transparent">'
        f'<caption style="text-align:left;color:inherit">{escape(profile.title)}. <strong>Counted</strong>, '
        "per source line.</caption>"
        f'<thead><tr><th scope="col" style="{_CELL};{_RULE}">line</th>'
        f'<th scope="col" style="{_LEFT};{_RULE}">source</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )
    return (
        f'<div class="warpbook-profile">{in_box(table)}<ul>{below}</ul>'
        f"<details><summary>What the columns mean</summary><ul>{legend}</ul></details></div>"
    )
