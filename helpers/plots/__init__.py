"""From a result to a picture: every function takes data that a kernel produced and returns a `Picture`.

The sentence of a `Picture` is computed from the same data as its marks, so the two cannot drift apart. `time` draws
clocks and schedules, `threads` grids of threads, `steps` recordings of a block, `schedules` two of them side by side,
`memory` sectors and other counts, `banks` requests on shared memory, `issue` the issue slots of a warp, `occupancy`
what an SM holds and how its warps hide latency, `debugger` one moment of a block, `trees` reductions and scans,
`lives` where variables live, `pyramid` the levels of a GPU's memory, `roofline` kernels under a GPU's roofs,
`timeline` a part of a schedule, `torch_memory` what tensors hold, `cards` a whole profile, `vectors` elements dealt
out to lanes, `speedups` time over size and Amdahl's law. `tracks` says where marks stand that an explorer lets a
pointer drag.
"""

from helpers.plots.banks import bank_finding, bank_matrix
from helpers.plots.cards import kernel_cards
from helpers.plots.common import LINE, SECTOR, WARP, plural
from helpers.plots.debugger import lane_states, warp_frame
from helpers.plots.issue import issue_strip
from helpers.plots.lives import where_variables_live
from helpers.plots.memory import (
    load_traffic,
    sector_finding,
    sector_map,
    sectors_against,
    sectors_of,
    staircase,
    traffic,
)
from helpers.plots.occupancy import (
    occupancy_finding,
    scheduler_finding,
    scheduler_rows,
    sm_slots,
    waves,
    waves_finding,
)
from helpers.plots.pyramid import memory_pyramid
from helpers.plots.roofline import STATES, UNITS, rates_shown, roofline_chart, roofline_finding, roofline_tracks
from helpers.plots.schedules import schedule_pair
from helpers.plots.speedups import amdahl_curves, crossover_curves, growth
from helpers.plots.steps import lane_strip, lane_values
from helpers.plots.threads import thread_grid
from helpers.plots.time import run_bars, schedule_lanes, swim_finding, timer_bars
from helpers.plots.timeline import timeline_window
from helpers.plots.torch_memory import memory_steps
from helpers.plots.tracks import track
from helpers.plots.trees import reduction_tree, scan_steps
from helpers.plots.vectors import lane_deal

__all__ = [
    "LINE",
    "SECTOR",
    "STATES",
    "UNITS",
    "WARP",
    "amdahl_curves",
    "bank_finding",
    "bank_matrix",
    "crossover_curves",
    "growth",
    "issue_strip",
    "kernel_cards",
    "lane_deal",
    "lane_states",
    "lane_strip",
    "lane_values",
    "load_traffic",
    "memory_pyramid",
    "memory_steps",
    "occupancy_finding",
    "plural",
    "rates_shown",
    "reduction_tree",
    "roofline_chart",
    "roofline_finding",
    "roofline_tracks",
    "run_bars",
    "scan_steps",
    "schedule_lanes",
    "schedule_pair",
    "scheduler_finding",
    "scheduler_rows",
    "sector_finding",
    "sector_map",
    "sectors_against",
    "sectors_of",
    "sm_slots",
    "staircase",
    "swim_finding",
    "thread_grid",
    "timeline_window",
    "timer_bars",
    "track",
    "traffic",
    "warp_frame",
    "waves",
    "waves_finding",
    "where_variables_live",
]


def __dir__() -> list[str]:
    return __all__
