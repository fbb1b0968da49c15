"""The layout of the memory that compiled kernels and the launcher share: names of its slots, each of 8 bytes.

`CONTEXT` is one worker thread's view of a launch, `SITE` the pattern and counters of one memory instruction,
`SHARED_LAUNCH` what all workers of a launch share.
"""

from __future__ import annotations

CONTEXT = (
    "params", "variables", "shared_base", "shared_bytes", "local_base", "local_bytes",
    "ntid_x", "ntid_y", "ntid_z", "nctaid_x", "nctaid_y", "nctaid_z", "ctaid_x", "ctaid_y", "ctaid_z",
    "fuel", "fuel_slice", "error", "error_site", "error_lane", "error_address", "error_warp", "error_block",
    "warp", "warps", "sites", "basic_blocks", "starts", "ends", "writable_ends", "allocations", "reads",
    "writes", "touch_offsets",
    "lane_ids", "first_pcs", "states", "state_bytes", "launch", "run_warp", "block", "in_block", "slices", "rounds",
    "dynamic_shared", "zeroed_shared", "zeroed_state", "host", "host_data", "barriers", "loose_barriers", "workspace",
    # asynchronous copies; waits for an mbarrier: the one that failed last, those of a round, rounds without progress,
    # whether one changed, warps that a random schedule skipped
    "copies", "stalled", "stall_site", "stall_lane", "stall_offset", "stall_warp", "stalls", "stall_rounds",
    "idle_rounds", "barrier_events", "skipped",
    "textures", "texture_count", "texture_data",
    # blocks that are resident together: the table of their slots, how many there are, the one in use, recent progress
    "resident_table", "resident_slots", "resident_slot", "progress", "moved", "visited", "spun", "ahead", "patience",
    "let_in",
    # a random schedule: the generator's state (0: in order), the order of blocks, the lanes that may run in this slice
    "random", "order", "lanes", "watch",
    # the kernels' heap: its address, size and tables, and where its part of the maps of touched memory begins
    "heap", "heap_bytes", "heap_owners", "heap_ends", "heap_touch",
    # where each allocation's shadow begins, and the heap's, under the sanitizer (-1: not watched)
    "shadow_offsets", "heap_shadow",
    # what each warp does: the table, and requests to global memory in this slice; the log of one warp, and its number
    "by_warp", "slice_requests", "path", "followed",
    # where all lanes of a warp go on: a basic block, or one of the two below
    "resume",
    # blocks that are taken, and not begun: the first, and the one after the last
    "own_block", "own_end",
    # blocks of a cluster, and how many that is in x, y and z; where lanes keep the phase they arrived in
    "cluster", "cluster_x", "cluster_y", "cluster_z", "cluster_lanes", "finished",
    # whether products of 8-bit floats keep few bits of their sums
    "narrow_sums",
    # where the tensor memory of the block in use lies (0: none)
    "tensor_memory",
)  # fmt: skip
SLOT = {name: index for index, name in enumerate(CONTEXT)}

# By the program counters in the state of a warp; the same, and a warp whose lanes all wait at one barrier must say so
# there, instead of returning the program counter they wait at.
BY_STATE, BY_STATE_ONLY = -1, -2

# A warp's state begins with 32 program counters; then come the number of its time slice and its clock, and at HEADER
# its registers.
SLICE, CLOCK, HEADER = 128, 136, 192

SITE = (
    "base", "span", "space", "touch",
    # the last access's pattern of offsets: its lanes, lowest offset, room for it in the allocation, low address bits
    "mask", "low", "room", "bits", "shape", "active",
    # counts
    "requests", "sectors", "lanes", "shared_requests", "shared_wavefronts", "local_requests", "local_sectors",
    # the values of some of them before the request of the followed warp
    "requests_before", "sectors_before", "shared_before", "local_before",
    # stores in which lanes overwrite one another, and how many requests there had been at the last of them
    "overwritten", "overwritten_at",
    # where the last request began whose lanes lay in one row, or two
    "last",
    # requests to the shared memory of other blocks of the cluster, and their lanes
    "remote_requests", "remote_lanes",
)  # fmt: skip
SITE_SLOT = {name: index for index, name in enumerate(SITE)}
# Byte offset: cached facts about the pattern, for each of the 8 words of a sector that it may start in (0: none yet).
# For global memory the lanes (bits) that are the first in a sector, for shared memory the number of wavefronts.
PHASES = 208
# Byte offsets: how often the site looked for a new pattern; of a follower, the number at which its leader, the access
# before with the same base, had the same pattern.
SEARCHES, FOLLOWS = 240, 248
PATTERN = 256  # byte offset: the pattern, 32 offsets from lane 0, of 8 bytes (global) or 4 (shared)
PATTERN_WORDS = 384  # byte offset: for shared patterns, the word of each lane counted from the lowest
SITE_BYTES = 512

# A worker's buffer for textures: first the coordinates of a request that failed (three vectors), then results or
# addresses of a request, then the numbers of the sectors its texels lie in (up to 8 for each lane).
TEXTURE_RESULTS, TEXTURE_KEYS, TEXTURE_BYTES = 512, 1024, 2048
_TEXTURE_FIELDS = (
    "code", "address", "width", "height", "depth", "row_bytes", "slice_bytes", "texel_bytes", "tile",
    "border_0", "border_1", "border_2", "border_3", "sample", "gather_0", "gather_1", "gather_2", "gather_3",
)  # fmt: skip
TEXTURE_FIELD = {name: index for index, name in enumerate(_TEXTURE_FIELDS)}  # of a handle's descriptor
TRAP_OUTSIDE, CLAMP_OUTSIDE, ZERO_OUTSIDE = range(3)  # what surface accesses do outside

# What each warp did: PTX instructions, and requests to global memory.
BY_WARP = ("instructions", "requests")
BY_WARP_BYTES = 8 * len(BY_WARP)
# A bulk copy is as many requests as a full warp makes for it with a word for every lane.
BULK_REQUEST = 128
# The log of one warp: how many entries were written, and how many fit; then the entries. Each begins with a code: the
# number of a basic block that the warp runs, or the number of basic blocks plus that of a site. A basic block's entry
# has its lanes (bits), a site's entry what the request added to the counters.
PATH = ("entries", "room")
PATH_ENTRY = ("code", "lanes", "requests", "sectors", "shared_requests", "local_requests")

SHARED_LAUNCH = ("next_block", "blocks", "stop_block", "portion")
LAUNCH_SLOT = {name: index for index, name in enumerate(SHARED_LAUNCH)}

# One of several launches that are run together: its worker's own memory, that memory as it is at first, and its bytes;
# what the launch's workers share, its number of blocks, the block loop, the worker's context, the parameters; and what
# the loop returned.
REPLAY = ("own", "first", "nbytes", "launch", "blocks", "loop", "context", "params", "status")
REPLAY_SLOT = {name: index for index, name in enumerate(REPLAY)}

# The slot of one resident block: its number (-1: free), its index, the addresses of its memory.
# Blocks of a cluster have neighbouring slots, by rank; one that has `finished` stays until all have.
RESIDENT = (
    "block", "ctaid_x", "ctaid_y", "ctaid_z", "shared_base", "local_base", "states", "barriers", "copies",
    "cluster_lanes", "finished", "tensor_memory",
)  # fmt: skip
RESIDENT_SLOT = {name: index for index, name in enumerate(RESIDENT)}
RESIDENT_BYTES = 8 * len(RESIDENT)

# What `run_warp` and `run_blocks` return. SPUN: out of fuel in a loop that spins on memory; POLLING: all lanes that
# could run only wait in loops for memory to change; IDLE: this holds for all resident blocks.
DONE, WAITING, OUT_OF_FUEL, FAILED, SPUN, POLLING, IDLE = range(7)
TRIED, STALLED = 1, 2  # bits of the slot "spun": warps have SPUN, or tested an mbarrier without success

# Errors that compiled code reports in the slot "error".
_ERROR_NAMES = (
    "bounds", "alignment", "deadlock", "assert", "trap", "host", "partial", "unlike", "stride",
    "copy_size", "barrier_lost", "barrier_arrivals", "barrier_bytes", "barrier_early", "barrier_count", "stalled",
    "bulk_alignment", "bulk_size", "tensor_map", "texture", "stack", "pointer", "free", "bar_number", "descriptor",
    "warpgroup", "tensor_columns", "tensor_full", "tensor_permit", "tensor_free", "tensor_leak", "tensor_place",
    "tensor_quarter", "tensor_peer", "umma_instruction", "umma_matrix", "tensor_type",
)  # fmt: skip
ERRORS = dict(enumerate(_ERROR_NAMES, 1))
ERROR_CODE = {name: code for code, name in ERRORS.items()}

# A lane's program counter is the index of its next basic block; these flags make it wait.
PC_POLL = 0x10000000  # until the warp's next time slice, in a loop that waits for memory to change
PC_SYNC = 0x20000000  # until the other lanes named by a .sync instruction arrive
PC_WAIT = 0x40000000  # at a barrier, whose number is in bits 24 to 27
PC_BARRIER_SHIFT = 24
PC_NEXT = (1 << PC_BARRIER_SHIFT) - 1  # the basic block after a barrier
PC_DONE = 0x7FFFFFFF

# A block's 16 barriers: for each, the lanes whose predicate was true and false so far (reducing barriers), the same
# for the completed round, the threads that a counting barrier waits for, those that arrived without waiting; then
# whether any barrier had a count, and whether any reduced.
GATHERED, RESULTS, EXPECTED, ARRIVED, NAMED, REDUCES, BARRIER_BYTES = 0, 256, 512, 640, 768, 776, 1024
# The phase of the cluster's barrier, in the area of its first block; the last that threads of a block have seen; when
# the last phase ended, under the sanitizer.
CLUSTER_PHASE, CLUSTER_SEEN, CLUSTER_TIME = 784, 792, 800

# Asynchronous copies: each warp of a block has a queue of those it issued. A queue begins with the block it belongs to
# (plus 1), the numbers of its first and next entry, how many groups of products the warp has committed (`wgmma`), the
# mbarrier that it has tested in vain with the parity (`WAITS`) and in which round, and how many groups of copies each
# lane has committed.
# Kinds of sites that need queues.
ASYNCHRONOUS = {"copy", "queue", "mbarrier", "bulk_load", "bulk_store", "warpgroup", "tensor_memory"}
QUEUE = {"owner": 0, "head": 8, "tail": 16, "products": 24, "waits": 32, "tested": 40, "committed": 64, "entries": 192}
# An entry: host addresses, offsets in shared memory, bytes to read and group of each lane; the lanes that still wait
# for it, and how many bytes each writes (0: it arrives at an mbarrier instead).
ENTRY = {"sources": 0, "targets": 256, "takes": 384, "groups": 512, "lanes": 640, "size": 644, "site": 648}
ENTRY_BYTES, QUEUE_ENTRIES = 704, 256
QUEUE_BYTES = QUEUE["entries"] + QUEUE_ENTRIES * ENTRY_BYTES
# Before those stands the block's queue of bulk copies, with the number of the block's round of time slices; groups are
# counted for each of 1024 threads.
BULK = {"owner": 0, "head": 8, "tail": 16, "round": 24, "committed": 64, "entries": 4160}
BULK_ENTRY = {
    "open": 0, "kind": 8, "site": 16, "remote": 24, "offset": 32, "bytes": 40, "barrier": 48, "thread": 56, "group": 64,
    "reduce": 72, "coordinates": 80, "shifts": 120,
    "map": 128,  # of a tensor copy: the tensor map as it was checked, since the kernel may write over its own
}  # fmt: skip
BULK_ENTRY_BYTES, BULK_ENTRIES = 256, 256
COPIES = BULK["entries"] + BULK_ENTRIES * BULK_ENTRY_BYTES  # where the queues of the warps begin
LOADS, STORES = 0, 1  # kinds of bulk copies, plus flags: TENSOR for those that go by a tensor map
# NEAR: from the block's own shared memory. MULTICAST: to several blocks. IM2COL with TENSOR: the map is of im2col mode.
# ROWS with TENSOR: four rows, each at a coordinate of its own (gather4, scatter4).
# PAIRS with MULTICAST: each copy tells the mbarrier of that block of its pair whose rank is even, or odd, as given.
TENSOR, NEAR, MULTICAST, IM2COL, PAIRS, ROWS = 2, 4, 8, 16, 32, 64
# Copies nothing: the arrival of `tcgen05.commit`, whose "group" is the round it was issued in.
COMMIT = 128

ISSUED, LANDED, LEFT = 0, 1, 2  # what the sanitizer hears of a bulk copy; LEFT: its block ends, and it isn't complete

# A tensor map, 128 bytes: 64 bits of mark, then 32 bits each for rank, bytes of an element, swizzled bytes of a row and
# mode (the bits below), the address, and for each of 5 dimensions, fastest first: bytes between elements, elements,
# those of a box, steps. In im2col mode the boxes are channels, pixels, and for W, H and D the lower (in the low 16
# bits) and the upper corner. What stands in dimensions above the rank doesn't count. Above the 8 bits of an element's
# bytes is its type: 1 plus its place in TENSOR_TYPES, or 0, for which there are no reductions.
TENSOR_BYTES, TENSOR_MARK = 128, 0x70616D726F736E65
TENSOR_MAP = {
    "mark": 0, "rank": 8, "element": 12, "swizzle": 16, "mode": 20, "address": 24, "strides": 32, "sizes": 72,
    "box": 92, "steps": 108,  # axis 0 has none, so that they begin 4 bytes further
}  # fmt: skip
TENSOR_TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16")
COLUMNS, FILL_NAN = 1, 2  # modes: im2col; elements outside the tensor are read as NaN, all bits set

# A block's tensor memory: 512 columns of 128 words, one after the other. Then: which units of 32 columns are taken
# (bits), whether the block may allocate no more, the site of its last allocation, and for each unit the columns of the
# allocation that begins there.
TENSOR_MEMORY = {"taken": 1 << 18, "relinquished": (1 << 18) + 8, "site": (1 << 18) + 16, "sizes": (1 << 18) + 24}
TENSOR_MEMORY_BYTES = (1 << 18) + 192
COLUMN = 512  # bytes

# An mbarrier's 64 bits: where its fields begin (pending arrivals stand lowest), the two highest bits of a live one, the
# largest count. PATIENCE: rounds without progress in which every warp of a block waits, before that is a deadlock.
BARRIER_FIELD = {"expected": 20, "bytes": 40, "phase": 61}
BARRIER_MARK, BARRIER_LIMIT = 1, (1 << 20) - 1
DROP, NO_COMPLETE = 1, 2  # options of an update
PATIENCE = 4096

# What compiled code and the sanitizer share (the slot "watch" points to it; 0 without a sanitizer). `time` counts
# synchronisations; every thread of a block knows what the others did before `floor`, and what other blocks of its
# cluster did in shared memory before `far`; the block began at `start`.
WATCH_BLOCK = (  # what belongs to a resident block
    "floor", "start", "detail", "cross", "known", "writes", "reads", "others", "local_written", "home", "far",
)  # fmt: skip
WATCH = (
    *WATCH_BLOCK, "event", "time", "pairs", "places", "bounds", "scratch", "shift", "global_shift", "global_writes",
    "global_reads", "global_others", "copies",
    # a table of the blocks that ran, one after the other: from which time on, and which; how many rows it has
    "turns", "turn",
)  # fmt: skip
WATCH_SLOT = {name: index for index, name in enumerate(WATCH)}
# An entry of a shadow: the time (the upper 32 bits), the place in the source, the slot of the resident block, the
# strength (0 plain, 1 volatile, 2 atomic, 3 an asynchronous copy in flight), and the thread of the block.
ENTRY_TIME, ENTRY_PLACE, ENTRY_HOME, ENTRY_STRENGTH, ENTRY_THREADS = 32, 19, 12, 10, 1024
ENTRY_PLACES, ENTRY_HOMES = 1 << (ENTRY_TIME - ENTRY_PLACE), 1 << (ENTRY_PLACE - ENTRY_HOME)
ANOTHER_BLOCK = ENTRY_HOMES - 1  # in place of the slot, in shadows of shared memory: a thread of another block
PENDING = 3  # the strength of a copy in flight
NEVER_WRITTEN = 1  # the entry of global memory that no thread has written
# The events that compiled code reports to the sanitizer.
EVENTS = {
    1: "fault", 2: "pair", 3: "uneven", 4: "named", 5: "counted", 6: "fence", 7: "strong", 8: "mask", 9: "cross",
    10: "stray", 11: "enter", 12: "arrived", 13: "bulk", 14: "product", 15: "group", 16: "touched", 17: "remote",
    18: "tensor",
}  # fmt: skip
EVENT_CODE = {name: code for code, name in EVENTS.items()}
