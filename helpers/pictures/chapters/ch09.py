"""Pictures of chapter 9: the partitions of an SM, bytes in flight, and latency hiding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.models.warp_scheduler import IssueSlots
from helpers.pictures.figures import CYCLE, DASHES, MARKERS, PALETTE, Picture, new, styled
from helpers.pictures.plots.occupancy import occupancy_finding, pale
from vgpu.hardware.gpus import GPU
from vgpu.hardware.occupancy import Occupancy

KIB = 1024
UNITS = {"memory": "memory_busy", "issue": "issue_busy"}
"""What can be kept busy, and where an `IssueSlots` says how busy it is."""
_SAID = {"memory": "memory works", "issue": "the scheduler issues"}
_FOR = {"memory": "To keep memory busy", "issue": "To issue"}
ACROSS = 10.5  # inches: as wide as a page of JupyterLab leaves room for
REQUEST = 128  # bytes of 32 lanes with a float each
BUSY = 0.9


@styled
def sm_quarters(held: Occupancy, gpu: GPU) -> Picture:
    """The four partitions of an SM: a slot for each warp, coloured by block, and the registers in use.

    `held`: the occupancy of a kernel on that GPU. Warps are dealt to the quarters in turn, as they come.
    """
    figure, axes = new(place=(0.01, 0.02, 0.98, 0.86))
    figure.set_size_inches(ACROSS, figure.get_figheight())
    quarters, places = gpu.partitions_per_sm, gpu.warps_per_sm // gpu.partitions_per_sm
    a_block = -(-held.threads_per_block // gpu.warp_size)
    a_warp = held.registers_per_block / a_block / (gpu.registers_per_sm / quarters)
    for quarter in range(quarters):
        axes.broken_barh([(quarter + 0.02, 0.96)], (0.02, 0.96), fc="#fafafa", ec="#777777", lw=0.9)
        axes.text(quarter + 0.5, 0.08, f"scheduler {quarter}", ha="center", va="center", fontsize=9, color="#222222")
        for place in range(places):
            across, down = place % 4, place // 4
            x, y = quarter + 0.06 + across * 0.225, 0.17 + down * 0.5 * 4 / places
            number = place * quarters + quarter
            block = number // a_block if number < held.warps_per_sm else None
            colour = "white" if block is None else pale(CYCLE[block], 0.55)
            axes.broken_barh([(x, 0.2)], (y, 0.42 * 4 / places), fc=colour, ec="#999999", lw=0.7)
            if block is not None:
                axes.text(
                    x + 0.1, y + 0.21 * 4 / places, str(block), ha="center", va="center", fontsize=7.5, color="#222222"
                )
            if a_warp * place < 1:
                share = min(a_warp, 1 - a_warp * place) * 0.88
                axes.broken_barh(
                    [(quarter + 0.06 + place * a_warp * 0.88, share if block is not None else 0)], (0.8, 0.13),
                    fc=colour, ec="white", lw=0.5,
                )  # fmt: skip
        axes.broken_barh([(quarter + 0.06, 0.88)], (0.8, 0.13), fc="none", ec="#999999", lw=0.8)
        axes.text(quarter + 0.5, 0.755, f"{gpu.registers_per_sm // quarters:,} registers", ha="center", va="center",
                  fontsize=8, color="#444444")  # fmt: skip
    axes.set(xlim=(0, quarters), ylim=(1, 0))
    axes.axis("off")
    figure.text(0.01, 0.92, "one SM · a cell: a warp slot · colour and number: the block of its warp", fontsize=8.5)
    return Picture(figure, occupancy_finding(held))


@styled
def bytes_in_flight(gpus: Sequence[GPU], published: Mapping[str, int]) -> Picture:
    """Bytes in flight per SM, for each GPU: with all warps resident, by Little's law, and as a library aims at.

    Full: every warp slot taken, and each warp with one request of 128 bytes. Little's law: the data sheet's bandwidth
    times the row's measured latency. `published`: bytes an SM by the name of a GPU. Raises ValueError for a GPU of
    unknown latency.
    """
    needs = {}
    for gpu in gpus:
        if gpu.dram_latency is None:
            raise ValueError(f"no latency is known for {gpu.name}, so its bytes in flight cannot be worked out")
        needs[gpu.name] = gpu.memory_bandwidth / (gpu.clock * gpu.sms) * gpu.dram_latency
    figure, axes = new(place=(0.08, 0.15, 0.88, 0.70))
    figure.set_size_inches(ACROSS, figure.get_figheight())
    kinds = (("all warps, one float per lane", "sky"), ("bandwidth × latency", "orange"), ("CUB aims at", "blue"))
    for row, gpu in enumerate(gpus):
        amounts = (gpu.warps_per_sm * REQUEST, needs[gpu.name], published.get(gpu.name))
        for line, (amount, (label, colour)) in enumerate(zip(amounts, kinds, strict=True)):
            if amount is None:
                continue
            axes.barh(row + 0.26 * line, amount / KIB, 0.23, color=PALETTE[colour], label=label if row == 0 else None)
            axes.text(amount / KIB + 0.3, row + 0.26 * line, f"{amount / KIB:.1f}", va="center", fontsize=8)
    axes.set(
        yticks=[row + 0.26 for row in range(len(gpus))], ylim=(len(gpus) - 0.1, -0.3), xlabel="KiB in flight per SM"
    )
    axes.set_yticklabels([gpu.name for gpu in gpus], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, fontsize=8.5, borderaxespad=0.3)
    said = "; ".join(
        f"{gpu.name}: all warps request {gpu.warps_per_sm * REQUEST / KIB:.1f}, Little's law needs "
        f"{needs[gpu.name] / KIB:.1f}"
        + (f", CUB aims at {published[gpu.name] / KIB:.0f}" if gpu.name in published else "")
        for gpu in gpus
    )
    return Picture(figure, f"KiB in flight in an SM. {said}.")


@styled
def hiding_curves(found: Mapping[str, Sequence[IssueSlots]], unit: str = "memory") -> Picture:
    """How busy `unit` of `UNITS` is over the warps of a scheduler, a curve for each kernel (modelled).

    `found`: by the kernel's name, what `schedule` gives for several numbers of warps, in any order. Raises ValueError
    for another unit or no kernel.
    """
    if unit not in UNITS:
        raise ValueError(f"unit is one of {', '.join(UNITS)}, not {unit!r}")
    if not found:
        raise ValueError("give at least one kernel and what schedule says of it")
    figure, axes = new(place=(0.09, 0.16, 0.88, 0.70))
    said = []
    for number, (name, slots) in enumerate(found.items()):
        points = sorted((each.warps, getattr(each, UNITS[unit])) for each in slots)
        warps, busy = zip(*points, strict=True)
        axes.plot(warps, [100 * share for share in busy], color=CYCLE[number], lw=1.8, ms=5, label=name,
                  ls=DASHES[number], marker=MARKERS[number])  # fmt: skip
        enough = next((count for count, share in points if share >= BUSY), None)
        said.append(f"{name} needs {enough} warps" if enough is not None else f"{name} gets to {max(busy):.0%} at most")
    every = sorted({each.warps for slots in found.values() for each in slots})
    gpu = next(iter(found.values()))[0].gpu
    axes.axhline(100, color=PALETTE["grey"], lw=0.8, ls=":")
    axes.set(xticks=every, ylim=(0, 105), xlabel=f"warps on a scheduler (modelled on {gpu})")
    axes.set_ylabel(f"{_SAID[unit]}, % of the time", fontsize=9)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, fontsize=9, borderaxespad=0.3)
    needs = said[0] if len(said) == 1 else ", ".join(said[:-1]) + " and " + said[-1]
    return Picture(figure, f"{_FOR[unit]} {BUSY:.0%} of the time on a scheduler of {gpu}, {needs} (modelled).")
