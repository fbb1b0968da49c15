"""Every plot and widget by topic: the module that draws it, and the question that its picture answers.

`plots` and `widgets` find their names here, and `warpbook index` makes a page of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

_TABLE = """
Hardware
plots.core_and_sm           chapters.ch01         How does a CPU core differ from an SM?
plots.data_roads            chapters.ch01         How much bandwidth does each link between CPU cores and SMs have?
plots.memory_map            chapters.ch03         Which memories does a GPU have, and which one holds each variable?
plots.memory_pyramid        plots.places          What are the size, latency and bandwidth of each level of memory?
widgets.pyramid             explorers.places      What are the size, latency and bandwidth of memory on each GPU?
plots.lane_deal             chapters.ch01         Which lane of which vector instruction processes which element?

Threads, warps and blocks
plots.thread_line           chapters.ch00         Which element does each thread of a 1D launch process?
plots.thread_grid           plots.threads         Which element does each thread of a 2D launch process?
widgets.thread_grid         explorers.steps       Which threads does the guard stop, for this shape of block and data?
plots.warp_rows             chapters.ch02         Which elements do the 32 lanes of each warp process?
plots.round_rows            chapters.ch02         Which elements does each thread of a grid-stride loop process?
plots.block_orders          chapters.ch02         In which order do the blocks of a launch start?
plots.warp_frame            plots.debugger        What does each lane hold at this step?
widgets.debugger            explorers.debugger    What does each line do to each lane's variables and to memory?

Placement of variables and arrays
plots.where_variables_live  plots.places          Which memory holds each variable of a kernel?
widgets.lives               explorers.places      Which memory holds this variable, and how do we know?
plots.layout_grid           plots.places          Where in memory is each coordinate of an array?
widgets.layout_grid         explorers.places      How do strides and swizzles map coordinates to addresses?

Global memory and caches
plots.sector_map            plots.accesses        Which sectors does one request of a warp move?
plots.sector_panels         plots.accesses        How do several access patterns compare in sectors?
widgets.sectors             explorers.accesses    How do stride and offset change the sectors of a request?
plots.sectors_against       chapters.ch04         How do sectors per request grow with a stride, an offset or a size?
plots.traffic               plots.accesses        How many of the bytes that sectors bring were requested?
widgets.traffic             explorers.accesses    How do the bytes requested, moved and needed change with the launch?
plots.cache_requests        plots.accesses        Which requests hit the cache, and which miss?
widgets.working_set         explorers.accesses    When does the working set of a block exceed the cache?
plots.reread_bandwidth      chapters.ch03         How fast does a GPU read data that fits into L2?
plots.copy_paths            chapters.ch16         Which memories does a copy to shared memory go through?

Shared memory and synchronisation
plots.bank_matrix           plots.accesses        Which lanes conflict for which banks?
widgets.banks               explorers.accesses    How does padding or a stride change bank conflicts?
plots.moves                 chapters.ch05         Where do a block, a warp and a thread load, and where do they store?
plots.tile_in_banks         chapters.ch05         Which banks hold the words of a tile, and which does a request use?
plots.tile_reuse            chapters.ch05         Which threads read the element that one thread loads into a tile?
plots.halo_strip            chapters.ch05         Which halo elements does a block of a stencil load?
plots.atomic_queues         chapters.ch06         How many lanes contend for the same word of shared memory?
plots.warp_turns            chapters.ch06         What can go wrong when warps interleave without a barrier?
plots.block_turns           chapters.ch06         What does a block read before another block has written it?
plots.fence_paths           chapters.ch06         Which fences make one block's write visible to another block?
plots.schedule_pair         plots.schedules       Where do two interleavings of the same threads differ?
widgets.schedules           explorers.steps       Why does a race give two results?
plots.copy_groups           plots.arrivals        Which wait covers which asynchronous copies?
plots.barrier_phases        plots.arrivals        Which arrivals and bytes complete each phase of an mbarrier?
plots.warp_gantt            chapters.ch16         When do a producer warp and its consumers use each stage?
plots.pipeline_gantt        plots.pipelines       When are tiles copied, when computed, and where does the SM wait?
widgets.pipeline            explorers.kernels     How many stages hide the latency of copies?

Reductions and scans
plots.reduction_tree        plots.trees           Which thread adds what at each step of a reduction?
widgets.tree                explorers.steps       How do the versions of a reduction differ, step by step?
plots.scan_steps            plots.trees           Which sums does each step of a scan compute?
widgets.scan                explorers.steps       How do the versions of a scan differ in steps and work?
plots.look_back             chapters.ch07         How far does each block look back in a single-pass scan?
plots.vote_places           chapters.ch08         Where does each lane write in stream compaction?

Divergence and issue slots
plots.mask_strips           chapters.ch08         Which lanes are active at each instruction, version by version?
plots.issue_strip           plots.issue           Which lanes are active at each instruction of a warp?
widgets.lanes               explorers.occupancy   How many lane slots does divergence waste?

Occupancy and latency hiding
plots.sm_slots              plots.occupancy       What limits the number of blocks on an SM?
widgets.slots               explorers.occupancy   How do block size, registers and shared memory limit occupancy?
plots.waves                 plots.occupancy       How full is the last wave of blocks?
widgets.waves               explorers.occupancy   How does the number of blocks change the last wave?
plots.scheduler_rows        plots.occupancy       Which warp issues at each clock, and what do the others wait for?
widgets.scheduler           explorers.occupancy   How many warps does a scheduler need to stay busy?
plots.sm_quarters           chapters.ch09         How are the warps and registers of a block spread over an SM?
plots.bytes_in_flight       chapters.ch09         How many bytes have to be in flight to use the full bandwidth?
plots.hiding_curves         chapters.ch09         How many warps hide the latency of a kernel?

Roofline and speedup
plots.roofline_chart        plots.roofline        Is a kernel limited by memory or by arithmetic?
widgets.roofline            explorers.rooflines   What limits these kernels on each GPU, and what if it were faster?
plots.roofline_parts        chapters.ch10         What are the slope, the flat roof and the ridge point of a roofline?
plots.byte_and_flop_times   chapters.ch10         Which takes longer: the bytes of a kernel, or its FLOP?
plots.roofline_moves        chapters.ch10         Where does a change of a kernel move it under the roofline?
plots.measured_roofs        chapters.ch10         How close do measured rates come to the roof of the data sheet?
plots.layer_roofline        plots.networks        Which layers of a network are limited by memory?
widgets.layer_roofline      explorers.rooflines   How do batch size and precision move layers along the roofline?
plots.amdahl_curves         plots.speedups        How much does the whole gain if one part gets faster?
plots.crossover_curves      plots.speedups        At what size does the GPU become faster than the CPU?
widgets.crossover           explorers.time        At what size does each GPU become faster than the CPU?
plots.growth                chapters.ch01         How does time grow with the amount of parallel work?
plots.staircase             plots.accesses        What does each version of a kernel gain in one metric?

Time, streams and profiling
plots.run_bars              chapters.ch00         How much slower is the first run of a kernel?
plots.estimates             chapters.ch00         Which way of summarising repeated timings is reliable?
plots.timer_bars            plots.time            What does a host timer measure without synchronisation?
widgets.timer_bars          explorers.time        How do size and number of launches mislead a host timer?
plots.launch_queue          chapters.ch01         When does the CPU's launch overhead leave the GPU idle?
plots.launch_lanes          plots.networks        How large are the gaps between small kernels?
widgets.launch_gaps         explorers.time        When do launches take longer than the kernels?
plots.schedule_lanes        plots.time            What overlaps in a schedule of streams?
plots.lanes_compared        chapters.ch11         How do several schedules compare on one time axis?
widgets.swim_lanes          explorers.time        How do chunks, streams and pinned memory change the overlap?
plots.block_uses            chapters.ch11         When does a caching allocator reuse a block, and on which stream?
plots.stream_order          plots.stream_order    Which order do streams and events guarantee, and what is a race?
plots.timeline_window       plots.time            What happens around one operation of a timeline?
widgets.timeline            explorers.time        Where in the timeline of a training step is the GPU idle?
plots.trace_timeline        chapters.ch23         When does a training script load, compute and update?
plots.kernel_cards          plots.cards           What does the profile of a kernel say?
widgets.cards               explorers.profiles    What does the profile of a kernel say on another GPU?
plots.questions             chapters.ch12         What is a kernel's bottleneck, and how do we find it?
plots.published_times       chapters.ch07         How far off is the time model from published measurements?
plots.change_steps          chapters.ch23         How much did each optimisation of a training step gain?
plots.change_lanes          plots.step_log        How do the timelines of two versions of a training step differ?
widgets.changes             explorers.profiles    What changed between any two versions of a training step?

Matrix products and fusion
plots.operator_calls        chapters.ch24         Which parts of a PyTorch operator does each kind of call run?
plots.product_tiles         chapters.ch13         What do a block, a warp and a thread of a matrix product touch?
plots.bank_groups           chapters.ch13         Which banks hold the chunks of a tile, with and without a swizzle?
plots.tensor_memory         chapters.ch13         Which lanes and columns of tensor memory does each warp read?
plots.lane_map              plots.products        Which lane holds which element of a fragment?
plots.tile_orders           chapters.ch13         Which bands of the factors does a wave of blocks load?
plots.work_lanes            chapters.ch13         How evenly do split-K and stream-K spread the work over SMs?
plots.tile_walk             chapters.ch05         Which tiles does a block of a matrix product load, step by step?
plots.share_staircase       plots.products        What fraction of the library's rate does each version reach?
widgets.library_share       explorers.rooflines   What fraction of it does each version reach on each GPU?
plots.fusion_map            plots.fusion          Which arrays does each kernel of a chain of operations move?
widgets.fusion              explorers.kernels     How many bytes does fusing operations save?

Number formats
plots.bit_layouts           chapters.ch15         How many bits of exponent and mantissa does each format have?
plots.number_lines          plots.precision       Which values can each format represent near this one?
widgets.number_line         explorers.formats     How far apart are representable values?
plots.gradient_histogram    plots.precision       Which gradients underflow or overflow in a format?
widgets.gradients           explorers.formats     Which loss scale keeps gradients in range?
plots.error_growth          plots.precision       How does a rounding error grow with the number of terms?
plots.peak_bars             chapters.ch15         Which format makes this work memory-bound?
plots.scale_maps            chapters.ch15         Which elements share a scale, and how large is it?
plots.loss_gaps             chapters.ch15         How far is each run's training loss above a reference?
plots.packed_fours          chapters.ch15         How is 2:4 structured sparsity stored?

Attention
plots.attention_tiles       plots.attention       What has one query accumulated after some tiles of keys?
widgets.attention_tiles     explorers.kernels     How does online softmax traverse the attention matrix?
plots.attention_bytes       chapters.ch17         How do the bytes of attention grow with the sequence length?
plots.walked_tiles          chapters.ch17         In which order does a block visit the tiles of the scores?
plots.taking_turns          chapters.ch17         When do two warpgroups keep the tensor cores busy?

Memory in training
plots.memory_kinds          plots.training_memory  What is memory used for in each phase of a training step?
plots.memory_steps          plots.training_memory  How much memory is allocated and how much reserved over a run?
widgets.memory              explorers.training_memory  How do a program's settings change its memory over time?
plots.layer_lives           chapters.ch18         How long is each layer's output kept, with and without checkpoints?
plots.checkpoint_curve      chapters.ch18         How much memory do checkpoints save, and at what cost?
plots.batch_line            chapters.ch18         What is the largest batch that fits into memory?
plots.segment_rows          chapters.ch18         How does a segment of an allocator become fragmented?
plots.block_map             plots.training_memory  Which blocks does PyTorch's caching allocator hold at each step?
widgets.block_map           explorers.training_memory  How do the allocator's settings change fragmentation?

Networks
plots.window_sums           chapters.ch19         How is each value of a feature map computed?
plots.im2col_product        chapters.ch19         How is a convolution a matrix product?
plots.im2col_map            plots.networks        Which pixels are in which column of the im2col matrix?
widgets.im2col              explorers.networks    How do stride, padding and dilation change the im2col matrix?
plots.halo_map              chapters.ch19         Which pixels does a block of a tiled convolution load?
plots.receptive_field_map   plots.networks        Which pixels does an output of a stack of layers depend on?
widgets.receptive_field     explorers.networks    How does depth enlarge the receptive field?
plots.image_grid            plots.networks        What do these images or feature maps look like?
widgets.feature_maps        explorers.networks    What does each layer extract from an image?
plots.gradient_norms        chapters.ch19         In which layers do gradients vanish?
plots.gradient_curves       plots.networks        How do gradients vanish or explode over recurrent steps?
widgets.gradient_flow       explorers.networks    Which setting of a recurrent cell keeps gradients alive?
plots.unrolled              chapters.ch20         What flows between the steps of a recurrent layer?
plots.cell_rounds           chapters.ch20         Which cells of a recurrent network can run at the same time?
plots.alignment             chapters.ch20         Which word does each symbol of a translation attend to?
plots.river_year            chapters.ch20         How do rain, temperature, snow and soil make the flow of a river?
plots.river_models          chapters.ch20         How well do these models follow a river?
plots.probed_stores         chapters.ch20         What does a network's state say of the snow and the soil?
plots.training_curves       plots.training        How does the loss develop over training steps?
plots.image_rows            chapters.ch21         How do sets of generated images compare?
plots.point_clouds          chapters.ch21         Which targets does a generator reach?
plots.reaches               chapters.ch21         Which inputs of a layer reach which outputs?
plots.training_moment       plots.training        What does a generator make at one moment of its training?
widgets.samples_over_training  explorers.networks    How do generated samples change during training?
plots.walk_frame            plots.training        What lies between two latents?
widgets.latent_walk         explorers.networks    How do generated images change along a line between two latents?

Several GPUs
plots.parallel_kinds        chapters.ch22         How do the kinds of parallelism split weights and batch?
plots.curve_panels          chapters.ch22         Do parallel runs have the loss curve of one process?
plots.restarted_curve       chapters.ch22         Which steps are repeated after a restart, and does the loss continue?
plots.bucket_timeline       chapters.ch22         Which all-reduces of gradients overlap with the backward pass?
plots.layout_bars           chapters.ch22         What does a training step spend its time on, for each layout of GPUs?
plots.collective_moment     plots.ranks           What does each rank hold after a step of a collective?
widgets.collective          explorers.ranks       How does a ring all-reduce work, step by step?
plots.rank_gantt            plots.ranks           What does each rank do when, and where does it wait?
widgets.rank_gantt          explorers.ranks       Where do ranks wait for each other in a training step?
plots.schedule_gantt        plots.ranks           How large is the bubble of a pipeline schedule?
widgets.pipeline_schedule   explorers.ranks       How do schedule, stages and micro-batches change the bubble?
plots.rank_memory_bars      plots.ranks           How much memory does sharding save on each rank?
widgets.rank_memory         explorers.ranks       How much memory does each rank need for a model of this size?
plots.scaling_curves        plots.ranks           How efficient is training on many GPUs?
widgets.scaling             explorers.ranks       When does communication limit scaling?
"""


@dataclass(frozen=True)
class Entry:
    """A plot or widget: "plots" or "widgets", its name, its module in `helpers.pictures`, its topic and question."""

    kind: str
    name: str
    module: str
    topic: str
    question: str

    def function(self) -> Callable:
        """The function itself, whose module is imported now."""
        return getattr(import_module(f"helpers.pictures.{self.module}"), self.name)


def _entries() -> tuple[Entry, ...]:
    found = []
    for section in _TABLE.strip().split("\n\n"):
        topic, *rows = section.splitlines()
        for row in rows:
            place, module, question = row.split(maxsplit=2)
            kind, name = place.split(".")
            module = f"widgets.{module}" if kind == "widgets" else module
            found.append(Entry(kind, name, module, topic, question))
    return tuple(found)


ENTRIES = _entries()


def named(kind: str) -> dict[str, Entry]:
    """The plots, or the widgets, by name."""
    return {entry.name: entry for entry in ENTRIES if entry.kind == kind}
