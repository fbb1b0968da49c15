"""What is done wrong in lab 01, by its traces: for each exercise the mistakes in the order in which they are tried."""

from __future__ import annotations

import numpy as np

from helpers.checking import mistakes as known
from helpers.checking.exercise import Mistake
from helpers.exercises import lab01_cases as cases
from helpers.exercises import lab01_traces as traces

IDLE, REQUESTS = "idle lanes per instruction", "load requests per 32 pixels"
FIRST_LOADS, FIRST_STORES = "loads of the first warp", "stores of the first warp"
LOADS, STORES = "sectors per load request", "sectors per store request"
LOADED = "bytes loaded per byte needed"


STEPS = (
    Mistake(
        "the first element has none before it",
        cases.reached_back,
        "Thread 0 reads x[-1]. It needs a guard of its own: before the first element there is 0.",
    ),
    Mistake(
        "an index behind the end",
        known.out_of_whole_blocks(cases.BLOCK),
        "Some thread leaves its array where every thread has an element, so it is the index and not the guard. "
        "A thread needs x[i] and the one before, x[i - 1].",
    ),
    Mistake(
        "no guard at the end",
        known.out_of_bounds,
        "Blocks have 64 threads, so the last block may have threads without an element. Each thread asks first "
        "whether its element exists: i < n.",
    ),
    Mistake(
        "every block does the work of block 0",
        known.first_block_only,
        "threadIdx.x begins at 0 in every block. A thread's place in the grid is blockIdx.x * blockDim.x + "
        "threadIdx.x.",
    ),
    Mistake(
        "gridDim in place of blockDim",
        cases.counted_in_blocks,
        "blockIdx.x * gridDim.x is not where a block begins: before it there are blockIdx.x blocks, of "
        "blockDim.x threads each.",
    ),
    Mistake(
        "only the first element is written",
        traces.first_only,
        "Every thread writes out[0], or only one writes at all. Look for an index that is 0 for all: `i = 0` puts a 0 "
        "into i, and `i == 0` asks.",
    ),
    Mistake(
        "another place in the grid",
        traces.counted_otherwise,
        "Some elements have several threads, and others none. A thread's place in the grid is blockIdx.x * blockDim.x "
        "+ threadIdx.x: the threads of all blocks before its own, and then its number in the block.",
    ),
    Mistake(
        "the last element is left out",
        cases.last_left_out,
        "The last element is number n - 1, and i < n lets it in. i < n - 1 keeps it out.",
    ),
    Mistake(
        "the first element is left out",
        cases.first_left_out,
        "A guard against x[-1] must not keep thread 0 from writing: out[0] = x[0] - 0.",
    ),
    Mistake(
        "the first step is taken to be 0",
        known.gives(cases.ends_alike),
        "Before the first element there is 0, so the first step is x[0], not 0.",
    ),
    Mistake(
        "the step the wrong way round",
        known.gives(lambda case: -case.out.expected),
        "Each sign is the other one: it is x[i] - x[i - 1].",
    ),
    Mistake(
        "the step to the next element",
        cases.to_the_next,
        "That is the step from x[i] to x[i + 1], one place too early. out[i] looks back: x[i] - x[i - 1].",
    ),
    Mistake(
        "nothing is subtracted",
        known.gives(lambda case: case.arguments[0]),
        "The result is x itself. The step is x[i] - x[i - 1].",
    ),
    Mistake(
        "added, not subtracted",
        known.gives(lambda case: 2 * case.arguments[0] - case.out.expected),
        "That is the sum of two neighbours. The step is their difference, x[i] - x[i - 1].",
    ),
    Mistake(
        "the sign is lost",
        known.gives(lambda case: np.abs(case.out.expected)),
        "A step down is negative: the sign belongs to it.",
    ),
    Mistake(
        "steps of two elements",
        traces.of_two_steps,
        "That is the step over two places, such as from x[i - 1] to x[i + 1]. It is x[i] - x[i - 1].",
    ),
    Mistake(
        "the second element is taken for the first",
        known.gives(cases.second_as_first),
        "Element 1 has one before it, x[0]. Only thread 0 has none: i > 0.",
    ),
    Mistake(
        "fractions are lost",
        traces.steps_in_whole_numbers,
        "x holds floats, and a variable of type int keeps only their whole part: make it a float.",
    ),
    Mistake(
        "what nobody has written is read",
        cases.reads_the_output,
        "`out` holds nothing to begin with, and other threads write to it at the same time. All that is needed "
        "is in x: calculate from that, and store the result at once.",
    ),
    Mistake(
        "the first element of a block or warp",
        cases.first_of_each,
        "What is wrong are first elements of blocks, or of warps. Only x[0] has none before it; the one before "
        "theirs belongs to another block or warp, and lies in x all the same.",
    ),
    Mistake(
        "few threads do all the work",
        known.over(IDLE),
        "The result is right, and many lanes only watch. No thread needs a loop here: each has one element.",
    ),
    Mistake(
        "each thread does more than its element",
        known.over(FIRST_LOADS),
        "The result is right, but the first warp has more than its 32 elements. Each thread of the grid has "
        "one: two loads, and one store.",
    ),
    Mistake(
        "stored more than once",
        known.over("store requests per warp"),
        "The result is right, but some elements are stored twice. Keep what is not yet the result in a variable.",
    ),
)
MIRROR = (
    Mistake(
        "stored in x, not in out",
        traces.stored_in_x,
        "x is what is read, and other threads read it still. Store to out.",
    ),
    Mistake(
        "what nobody has written is read",
        known.found("uninitialised"),
        "`out` holds nothing to begin with, and other threads write to it at the same time. Read x, and store with =, "
        "once.",
    ),
    Mistake(
        "row and column have changed places",
        cases.turned,
        "The result is turned: what lies in a column of x stands in a row of out. Both arrays take the row "
        "first, as in out[row, column] and x[row, ...].",
    ),
    Mistake(
        "each block mirrors its own part",
        cases.mirrored_in_blocks,
        "threadIdx.x and 32 know of one block only. A mirror turns the whole row: the last column is columns - 1.",
    ),
    Mistake(
        "the guard swaps rows and columns",
        cases.not_square,
        "x.shape is (rows, columns), and len(x) is the rows. Squares cannot tell the two apart, so 64 × 64 passes.",
    ),
    Mistake(
        "a column beside the right one",
        cases.beside_the_right_edge,
        "It is not the guard but the index: some thread that has a pixel reads beside its row, where index -1 is the "
        "last column and no error. The last column is columns - 1, so column c comes from columns - 1 - c.",
    ),
    Mistake(
        "a guard is missing",
        known.out_of_bounds,
        "Blocks are 32 × 8. Threads beyond the right edge and threads below the last row have no element: one "
        "condition for each direction, with < and not <=, joined by `and`.",
    ),
    Mistake(
        "the image is upside down",
        known.gives(lambda case: np.flipud(case.arguments[0])),
        "The rows have changed places. A mirror on the wall changes left and right: the column.",
    ),
    Mistake(
        "turned by half a turn",
        known.gives(lambda case: case.arguments[0][::-1, ::-1]),
        "Row and column were both turned round; the row stays as it is.",
    ),
    Mistake(
        "copied, not mirrored",
        known.gives(lambda case: case.arguments[0]),
        "Each element went where it came from: read the column that lies as far from the other edge.",
    ),
    Mistake(
        "every block does the work of block 0",
        cases.of_tile_0,
        "threadIdx begins at 0 in every block. A thread's place in the grid is cuda.grid(2).",
    ),
    Mistake(
        "one half of the image",
        traces.one_half,
        "What is written is right, and half of the columns are left out, or the one in the middle. Each thread has "
        "one pixel of out, and there are `columns` of them in a row.",
    ),
    Mistake(
        "another place in the grid",
        traces.placed_otherwise,
        "Some pixels have several threads, and others none. column, row = cuda.grid(2) counts the blocks in both "
        "directions: the column is blockIdx.x * blockDim.x + threadIdx.x, and the row the same with y.",
    ),
    Mistake(
        "fractions are lost",
        known.gives(lambda case: np.trunc(case.out.expected)),
        "What comes out are whole numbers: int() keeps no fraction.",
    ),
    Mistake(
        "x is the row",
        lambda e: any(b.label in (LOADS, STORES) and b.value > 16.5 for b in e.budgets),
        "The result is right. But the lanes of a warp differ in x, the first number of cuda.grid(2), and x "
        "chooses the row: 32 lanes meet 32 rows. Let x choose the column.",
    ),
    Mistake(
        "each thread has a run of its own",
        lambda e: known.over(LOADS)(e) or known.over(STORES)(e),
        "The result is right. But in one request the lanes of a warp are several pixels apart. Let "
        "neighbouring threads have neighbouring pixels.",
    ),
    Mistake(
        "more requests than it takes",
        known.over(REQUESTS),
        "The result is right. But either one lane works while 31 watch, or many threads do the same: give "
        "every "
        "thread one element, and no thread more.",
    ),
)
CONFIGURE = (
    Mistake(
        "nothing is returned yet",
        cases.nothing_returned,
        "configure has to return two tuples: the grid, then the block.",
    ),
    Mistake(
        "grid and block have changed places",
        known.gives(lambda case: case.expected[::-1]),
        "First the grid, then the block, as in kernel[grid, block].",
    ),
    Mistake(
        "no two tuples of two",
        cases.of_another_shape,
        "What is returned is (grid, block): two tuples, (x, y) each, of whole numbers. A list is no tuple.",
    ),
    Mistake(
        "x covers the rows",
        cases.x_covers_rows,
        "x comes first in CUDA, in the grid and in the block, and it runs along a row: the columns decide the width of "
        "the block, and the first number of the grid covers them.",
    ),
    Mistake(
        "not rounded up",
        cases.not_rounded_up,
        "// drops the last block that is not full, round() drops it if it is less than half full, and its "
        "elements have no thread. / leaves a fraction, and there are no fractions of blocks.",
    ),
    Mistake(
        "one block too many where it fits exactly",
        known.gives(lambda case: cases.configured(*case.arguments, up=lambda n, each: n // each + 1)),
        "n // each + 1 launches a block of idle threads whenever it fits exactly.",
    ),
    Mistake(
        "more blocks than y takes",
        cases.too_tall,
        "A grid has at most 65,535 blocks in y, and the launch of a tall image would fail. The kernel's loop "
        "goes on where the grid ends.",
    ),
    Mistake(
        "blocks in y are limited in another way",
        traces.limited_otherwise,
        "Only launches for more than 65,535 rows are wrong. It is the number of blocks that ends there: "
        "min(65535, blocks), not the rows, and no remainder.",
    ),
    Mistake(
        "threads are counted for blocks",
        known.gives(cases.of_pixels),
        "A grid counts blocks, not threads: so many as cover the columns, and so many as cover the rows.",
    ),
    Mistake(
        "the grid does not fit the block",
        traces.grid_of_another_block,
        "The block is right, and the grid is not. It has -(-columns // width) blocks in x and -(-rows // height) in y, "
        "worked out after width and height have their last values.",
    ),
    Mistake(
        "a block that has not 256 threads",
        cases.other_than_256,
        "Every block has 256 threads: its width is 32, 16, 8, 4, 2 or 1, and its height is 256 // width.",
    ),
    Mistake(
        "wider than a warp",
        traces.too_wide,
        "A block is 32 wide at most, as many as a warp has lanes.",
    ),
    Mistake(
        "halved once too often",
        cases.too_narrow,
        "A block became narrower than a row that fitted into it. Halve only while the row fits into the half.",
    ),
    Mistake(
        "narrow images leave lanes idle",
        cases.narrow_only,
        "With 3 columns, 29 of 32 threads in x have no element. Halve the width of the block as long as a row "
        "still fits, and double its height.",
    ),
    Mistake(
        "one block for all images",
        traces.one_block,
        "A block is 32 wide where rows are long, and narrower where a whole row fits into half of it.",
    ),
)
NORMALISE = (
    Mistake(
        "the image is forgotten",
        cases.in_later_images_only,
        "i / pixels counts planes through all images: in the second image it goes on behind the last channel. "
        "Take it modulo the number of channels.",
    ),
    Mistake(
        "no channel of that number",
        cases.channel_left_its_array,
        "mean and scale have one number a channel, and some thread asks for another. Element i lies in plane "
        "i / pixels, counted through all images; its channel is the remainder by `channels`.",
    ),
    Mistake(
        "no guard",
        known.out_of_bounds,
        "Some thread goes on behind the last element. The condition of the loop is the guard: i < n.",
    ),
    Mistake(
        "channels are taken to lie side by side",
        known.gives(cases.channel_of(lambda i, channels, pixels: i % channels)),
        "i % channels is right where the three colours of a pixel are neighbours. Here each channel is a plane "
        "of `pixels` floats.",
    ),
    Mistake(
        "the channel of the first element for all",
        known.gives(cases.channel_of_first),
        "The channel was worked out before the loop. A thread that comes round again may be in another plane: "
        "work it out in each round.",
    ),
    Mistake(
        "the mean is multiplied too",
        known.gives(cases.mean_unscaled),
        "Without brackets the product comes first: x - (mean · scale). It is (x - mean) · scale.",
    ),
    Mistake(
        "mean and scale have changed places",
        known.gives(lambda case: cases.each_with(case, lambda x, mean, scale: (x - scale) * mean)),
        "The mean is taken off, and the scale multiplied: (x - mean) * scale.",
    ),
    Mistake(
        "another formula",
        traces.of_another_formula,
        "The channels are right, and the formula is not: (x - mean) * scale, in this order, with both.",
    ),
    Mistake(
        "one channel for all",
        known.gives(cases.channel_of(lambda i, channels, pixels: 0 * i)),
        "Every element has the mean and scale of channel 0. Element i lies in plane i / pixels, and that modulo "
        "`channels` is its channel.",
    ),
    Mistake(
        "the channel of the block",
        known.gives(cases.channel_of_block),
        "A block has elements of many planes, so its number says nothing of their channels. Element i has channel "
        "i / pixels % channels.",
    ),
    Mistake(
        "fractions are lost",
        traces.in_whole_numbers,
        "Somewhere a float is kept in a variable of type int, and only its whole part remains.",
    ),
    Mistake(
        "the first plane or image only",
        traces.first_plane_or_image,
        "There are n elements in all: some planes of `pixels` for each image, and several images.",
    ),
    Mistake(
        "one element a thread",
        cases.only_where_threads_suffice,
        "Where a launch has fewer threads than elements, each thread has to come round again: a loop that goes on "
        "until n.",
    ),
    Mistake(
        "every block does the work of block 0",
        cases.of_block_0,
        "All blocks start where block 0 does: threadIdx.x begins at 0 in each. Start at the thread's number in "
        "the whole grid.",
    ),
    Mistake(
        "steps that leave elements out",
        traces.steps_too_far,
        "Threads come round again, and go too far: the step is the number of threads of the launch, whatever that is: "
        "gridDim.x * blockDim.x.",
    ),
    Mistake(
        "few threads do all the work",
        known.over(IDLE),
        "The result is right, and many lanes only watch. Every thread of the grid takes its share.",
    ),
    Mistake(
        "written more than once",
        known.over("stores per element"),
        "The result is right, but some elements are stored more than once. Either the step is not that of the "
        "whole grid, gridDim.x * blockDim.x, and blocks repeat what others did; or a thread stores what is not "
        "yet the result.",
    ),
    Mistake(
        "each thread has a run of its own",
        lambda e: any(b.label == LOADED and b.value > 5 for b in e.budgets),
        "The result is right. But in each round the lanes of a warp are a whole run apart. Let neighbouring "
        "threads have neighbouring elements.",
    ),
    Mistake(
        "sectors come more than once",
        known.over(LOADED),
        "The result is right. But either lanes of a warp ask for elements that are apart, or x is gone through again "
        "and again. Neighbouring threads have neighbouring elements, and load each once.",
    ),
    Mistake(
        "few blocks do all the work",
        known.over(FIRST_STORES),
        "The result is right, and the first block does more than its share while others have nothing to do. "
        "Start at the thread's number in the grid, and step by the whole grid.",
    ),
)
