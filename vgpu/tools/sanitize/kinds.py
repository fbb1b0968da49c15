"""The kinds of finding: one row each, with its title, its level and the usual fix."""

from __future__ import annotations

from dataclasses import dataclass

from vgpu.faults.access import KEEP


@dataclass(frozen=True)
class Kind:
    """A kind of mistake. A "hint" is legal but seldom meant; all others are errors."""

    key: str
    title: str
    fix: str
    level: str = "error"


_KINDS = (
    Kind("out_of_bounds", "out of bounds", "check the index against the size of the array."),
    Kind(
        "overrun", "overrun into the neighbouring shared array",
        "make the array as large as the block needs, and check the index against its size.",
    ),
    Kind("misaligned", "misaligned access", "let every index start at a multiple of the access's size."),
    Kind("null_pointer", "null pointer", "pass an array for every pointer of the kernel."),
    Kind("bad_free", "invalid free", "free each allocation once, by exactly the pointer that malloc or new returned."),
    Kind("heap_leak", "memory of the heap that nothing points to any more",
         "free it before the last pointer to it goes, or store the pointer where a later launch finds it."),
    Kind("use_after_free", "use after free", KEEP),
    Kind(
        "race_write_write", "race: two writes",
        "let one thread write, give every thread its own element, or separate the writes with a barrier.",
    ),
    Kind("race_read_write", "race: a read and a write", "put a barrier between the write and the read."),
    Kind(
        "race_lanes", "race: threads of one store write different values to one element",
        "give every thread its own element, or add with an atomic.",
    ),
    Kind("race_atomic", "race: an atomic and a plain access", "make every access an atomic, or put a barrier between."),
    Kind("uninitialised", "uninitialised read", "write the element before it is read: every thread its part, then a "
         "barrier."),
    Kind("copy_pending", "access before an asynchronous copy has landed", "wait for the copy first "
         "(cp.async.wait_group after its commit, __pipeline_wait_prior, or the phase of its mbarrier), then put a "
         "barrier before other threads read."),
    Kind("store_pending", "bulk store not waited for at the end of its block", "the copy may read shared memory after "
         "the block has ended, when it may be another block's: let the thread that issued the store commit it "
         "(cp.async.bulk.commit_group), and wait with cp.async.bulk.wait_group.read 0 before it ends."),
    Kind("product_pending", "registers of a product used before it is complete", "wait for its group first "
         "(wgmma.commit_group after the product, then wgmma.wait_group before registers of D are read or written, or "
         "those of A written)."),
    Kind("load_pending", "registers used before they are loaded from tensor memory",
         "execute tcgen05.wait::ld first."),
    Kind("tensor_pending", "tensor memory accessed before a product or copy is complete", "let the thread that issued "
         "it commit it to an mbarrier (tcgen05.commit), wait for the barrier's phase, then execute "
         "tcgen05.fence::after_thread_sync."),
    Kind("tensor_stored", "tensor memory accessed before a store to it is complete", "let the warp that stored execute "
         "tcgen05.wait::st; before other warps or a product access it, also tcgen05.fence::before_thread_sync and a "
         "barrier."),
    Kind("product_fence", "product of shared memory without a proxy fence", "it may read what was there before, since "
         "it goes through the async proxy, and ordinary stores through the generic one: let the threads that stored "
         "execute fence.proxy.async, then meet at a barrier, then issue the product."),
    Kind("proxy_fence", "bulk copy out of shared memory without a proxy fence", "it may read what was there before, "
         "since it goes through the async proxy, and ordinary stores through the generic one: let the threads that "
         "stored execute fence.proxy.async, then meet at a barrier, then let one thread issue the copy."),
    Kind("barrier_divergent", "barrier in divergent code", "every thread of a block must reach the same barrier: "
         "move it out of the branch."),
    Kind("barrier_ended", "barrier without threads that have ended", "let threads without work stay until the last "
         "barrier: guard the work, not the thread.", "hint"),
    Kind("barrier_count", "barrier for a number of threads that is no multiple of 32", "count whole warps: barriers "
         "count 32 threads at a time."),
    Kind("mask_absent", "mask names threads that are elsewhere", "name only the lanes that execute the instruction; "
         "take the mask before the branch with __ballot_sync."),
    Kind("mask_ended", "mask names threads that have ended", "what a lane that has ended would send is undefined: "
         "guard the work, not the thread, so that all lanes come.", "hint"),
    Kind("mask_self", "mask does not name the thread itself", "every lane that executes the instruction must be in "
         "its own mask."),
    Kind("shuffle_absent", "shuffle from a lane that isn't part of it", "what it gives is undefined: read only from "
         "lanes that the mask names and that execute the shuffle, or don't use the result."),
    Kind("activemask", "activemask() as a mask in divergent code", "who is active is not who should take part: compute "
         "the mask before the branch with __ballot_sync(0xffffffff, condition).", "hint"),
    Kind("partial_warp", "matrix instruction by part of a warp", "let whole warps reach it: choose by warp, not by "
         "thread."),
    Kind("deadlock", "deadlock", "every thread of a block must reach the same barrier: move it out of the branch."),
    Kind("grid_barrier", "barrier of the grid that some blocks never reach", "every block must reach every barrier of "
         "the grid: move it out of the branch, and let blocks without work stay."),
    Kind("schedule", "the result depends on the schedule", "find the race, or the order of floating-point sums, that "
         "makes it depend.", "hint"),
    Kind("bad_call", "call through a bad pointer", "set the pointer to a function before the call."),
    Kind("bad_handle", "texture or surface that is none", "keep the texture object for as long as kernels use it."),
    Kind("mbarrier", "wrong use of an mbarrier", "initialise it once, by one thread, with the number of arrivals of a "
         "phase, and put a barrier before its first use."),
    Kind("stack_overflow", "stack overflow", "check that the recursion ends in every thread."),
    Kind("timeout", "the kernel does not end", "check that the loop's condition changes in every thread."),
    Kind("assertion", "failed assertion", "see what the assertion says about the values."),
    Kind("trap", "trap", "find out what leads to the trap."),
    Kind("fault", "fault", "see the message."),
)  # fmt: skip
KINDS = {kind.key: kind for kind in _KINDS}
