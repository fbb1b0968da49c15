"""From a result to a picture: every function takes data that a kernel produced and returns a `Picture`.

The sentence of a `Picture` is computed from the same data as its marks, so the two cannot drift apart. Each module says
in its first line what it draws. `tracks` says where marks stand that an explorer lets a pointer drag.
"""

from helpers.pictures.plots.attention import attention_bytes, attention_tiles
from helpers.pictures.plots.banks import bank_finding, bank_matrix
from helpers.pictures.plots.block_maps import block_map
from helpers.pictures.plots.block_uses import block_uses
from helpers.pictures.plots.cards import kernel_cards
from helpers.pictures.plots.collectives import collective_height, collective_moment
from helpers.pictures.plots.common import LINE, SECTOR, WARP
from helpers.pictures.plots.convolution import im2col_map, receptive_field_map
from helpers.pictures.plots.copies import copy_paths
from helpers.pictures.plots.debugger import lane_states, warp_frame
from helpers.pictures.plots.estimates import estimates
from helpers.pictures.plots.fragments import packed_fours, tile_walk
from helpers.pictures.plots.fusion import Moved, Summary, fusion_height, fusion_map
from helpers.pictures.plots.generated import image_rows, point_clouds, training_moment, walk_frame
from helpers.pictures.plots.issue import issue_strip
from helpers.pictures.plots.latency import bytes_under_way, hiding_curves, sm_quarters
from helpers.pictures.plots.launches import launch_queue
from helpers.pictures.plots.layer_lives import layer_lives
from helpers.pictures.plots.layouts import COLOURS as LAYOUT_COLOURS
from helpers.pictures.plots.layouts import layout_finding, layout_grid, layout_height
from helpers.pictures.plots.lives import where_variables_live
from helpers.pictures.plots.look_back import look_back
from helpers.pictures.plots.machines import core_and_sm, data_roads
from helpers.pictures.plots.masks import mask_strips
from helpers.pictures.plots.measured_roofs import measured_roofs
from helpers.pictures.plots.memory import (
    load_traffic,
    sector_finding,
    sector_map,
    sector_panels,
    sectors_against,
    sectors_of,
    staircase,
    traffic,
)
from helpers.pictures.plots.memory_map import memory_map
from helpers.pictures.plots.networks import gradient_norms, image_grid, layer_roofline
from helpers.pictures.plots.occupancy import (
    occupancy_finding,
    scheduler_finding,
    scheduler_rows,
    sm_slots,
    waves,
    waves_finding,
)
from helpers.pictures.plots.parallel import rank_memory_bars, scaling_curves
from helpers.pictures.plots.parallel_kinds import parallel_kinds
from helpers.pictures.plots.pipelines import barrier_phases, copy_groups, pipeline_gantt
from helpers.pictures.plots.precision import (
    FATES,
    bit_layouts,
    error_growth,
    gradient_histogram,
    number_lines,
    peak_bars,
)
from helpers.pictures.plots.products import Share, moves, product_tiles, share_staircase
from helpers.pictures.plots.published import published_times
from helpers.pictures.plots.pyramid import memory_pyramid
from helpers.pictures.plots.questions import questions
from helpers.pictures.plots.queues import atomic_queues
from helpers.pictures.plots.ranks import rank_gantt, schedule_gantt
from helpers.pictures.plots.recurrent import forecast_fan, gradient_curves, launch_lanes
from helpers.pictures.plots.roofline import (
    STATES,
    UNITS,
    rates_shown,
    roofline_chart,
    roofline_finding,
    roofline_tracks,
)
from helpers.pictures.plots.schedules import schedule_pair
from helpers.pictures.plots.segments import segment_rows
from helpers.pictures.plots.speedups import amdahl_curves, crossover_curves, growth
from helpers.pictures.plots.step_log import mend_lanes, mend_steps
from helpers.pictures.plots.steps import lane_strip, lane_values
from helpers.pictures.plots.stream_order import stream_order
from helpers.pictures.plots.thread_line import thread_line
from helpers.pictures.plots.threads import thread_grid
from helpers.pictures.plots.time import lanes_compared, run_bars, schedule_lanes, swim_finding, timer_bars
from helpers.pictures.plots.timeline import timeline_window
from helpers.pictures.plots.torch_memory import memory_steps
from helpers.pictures.plots.tracks import track
from helpers.pictures.plots.training import training_curves
from helpers.pictures.plots.training_memory import batch_line, checkpoint_curve, memory_kinds
from helpers.pictures.plots.trees import reduction_tree, scan_steps
from helpers.pictures.plots.turns import warp_turns
from helpers.pictures.plots.unrolled import cell_rounds, unrolled
from helpers.pictures.plots.vectors import lane_deal
from helpers.pictures.plots.votes import vote_places
from helpers.pictures.plots.walks import walked_tiles
from helpers.pictures.plots.warps import block_orders, round_rows, warp_rows
from helpers.pictures.plots.windows import halo_map, halo_strip, im2col_product, reaches, window_sums
from helpers.pictures.plots.working_set import cache_requests, reread_bandwidth
from vgpu.base.words import plural

__all__ = [
    "FATES",
    "LAYOUT_COLOURS",
    "LINE",
    "SECTOR",
    "STATES",
    "UNITS",
    "WARP",
    "Moved",
    "Share",
    "Summary",
    "amdahl_curves",
    "atomic_queues",
    "attention_bytes",
    "attention_tiles",
    "bank_finding",
    "bank_matrix",
    "barrier_phases",
    "batch_line",
    "bit_layouts",
    "block_map",
    "block_orders",
    "block_uses",
    "bytes_under_way",
    "cache_requests",
    "cell_rounds",
    "checkpoint_curve",
    "collective_height",
    "collective_moment",
    "copy_groups",
    "copy_paths",
    "core_and_sm",
    "crossover_curves",
    "data_roads",
    "error_growth",
    "estimates",
    "forecast_fan",
    "fusion_height",
    "fusion_map",
    "gradient_curves",
    "gradient_histogram",
    "gradient_norms",
    "growth",
    "halo_map",
    "halo_strip",
    "hiding_curves",
    "im2col_map",
    "im2col_product",
    "image_grid",
    "image_rows",
    "issue_strip",
    "kernel_cards",
    "lane_deal",
    "lane_states",
    "lane_strip",
    "lane_values",
    "lanes_compared",
    "launch_lanes",
    "launch_queue",
    "layer_lives",
    "layer_roofline",
    "layout_finding",
    "layout_grid",
    "layout_height",
    "load_traffic",
    "look_back",
    "mask_strips",
    "measured_roofs",
    "memory_kinds",
    "memory_map",
    "memory_pyramid",
    "memory_steps",
    "mend_lanes",
    "mend_steps",
    "moves",
    "number_lines",
    "occupancy_finding",
    "packed_fours",
    "parallel_kinds",
    "peak_bars",
    "pipeline_gantt",
    "plural",
    "point_clouds",
    "product_tiles",
    "published_times",
    "questions",
    "rank_gantt",
    "rank_memory_bars",
    "rates_shown",
    "reaches",
    "receptive_field_map",
    "reduction_tree",
    "reread_bandwidth",
    "roofline_chart",
    "roofline_finding",
    "roofline_tracks",
    "round_rows",
    "run_bars",
    "scaling_curves",
    "scan_steps",
    "schedule_gantt",
    "schedule_lanes",
    "schedule_pair",
    "scheduler_finding",
    "scheduler_rows",
    "sector_finding",
    "sector_map",
    "sector_panels",
    "sectors_against",
    "sectors_of",
    "segment_rows",
    "share_staircase",
    "sm_quarters",
    "sm_slots",
    "staircase",
    "stream_order",
    "swim_finding",
    "thread_grid",
    "thread_line",
    "tile_walk",
    "timeline_window",
    "timer_bars",
    "track",
    "traffic",
    "training_curves",
    "training_moment",
    "unrolled",
    "vote_places",
    "walk_frame",
    "walked_tiles",
    "warp_frame",
    "warp_rows",
    "warp_turns",
    "waves",
    "waves_finding",
    "where_variables_live",
    "window_sums",
]


def __dir__() -> list[str]:
    return __all__
