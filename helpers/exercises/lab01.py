"""Lab 01, maps: which thread has which element, with guards, in two dimensions, and by any launch."""

from __future__ import annotations

from helpers.checking.exercise import Budget, Exercise, thread_1d
from helpers.checking.measures import (
    idle_lanes,
    load_requests_for_needed,
    loaded_for_needed,
    per_warp,
    sectors_per_request,
    stored_again,
)
from helpers.exercises import lab01_cases as cases
from helpers.exercises import lab01_mistakes as mistakes
from helpers.exercises.lab01_mistakes import FIRST_LOADS, FIRST_STORES, IDLE, LOADED, LOADS, REQUESTS, STORES

IDLE_LANES = Budget(
    IDLE,
    idle_lanes,
    6,
    "A warp issues each instruction for 32 lanes, however many of them have something to do.",
    "instructions",
)

EXERCISES = (
    Exercise(
        key="lab01.steps",
        title="the step from each element to the next, in CUDA C",
        language="cuda",
        name="steps",
        cases=lambda: [cases.steps_case(n) for n in (1, 31, 64, 97, 128, 1021)],
        measured=lambda: cases.steps_case(3001),
        drawn=cases.steps_drawn,
        sanitize=True,
        shared_out=True,
        thread_of=thread_1d,
        budgets=(
            IDLE_LANES,
            Budget(
                FIRST_LOADS,
                cases.loads_of_it,
                3,
                "Each thread needs two elements: its own and the one before.",
                "global_load_requests",
                of="warp",
            ),
            Budget(
                "store requests per warp",
                per_warp("global_write_requests"),
                1.1,
                "Each thread writes one element, once.",
                "global_store_requests",
            ),
        ),
        mistakes=mistakes.STEPS,
        hints=(
            "Two threads in the grid are special: those with no element at all, and the one without an element before "
            "its own.",
            "if (i < n) keeps the first kind out. For the other, choose a value: i > 0 ? x[i - 1] : 0.",
            "if (i < n) out[i] = x[i] - (i > 0 ? x[i - 1] : 0.0f);",
        ),
        why=(
            "A map has one owner for each element of the result, so a guard asks first whether that element exists. "
            "Reading a neighbour needs a guard as well, and one that chooses a value instead of leaving: thread 0 "
            "still "
            "has an element to write. Only one warp of the grid has lanes that disagree, so the two guards cost next "
            "to nothing. The neighbour's load is one float off, and asks for a fifth sector; chapter 04 counts those."
        ),
        stretch="write the sum of an element and both of its neighbours, with guards at both ends.",
    ),
    Exercise(
        key="lab01.mirror",
        title="mirror an image, in Numba",
        language="numba",
        name="mirror",
        cases=lambda: [cases.mirror_case(*shape) for shape in cases.SHAPES],
        measured=lambda: cases.mirror_case(40, 200),
        drawn=cases.mirrors_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            Budget(LOADS, sectors_per_request("read"), 6, "The lanes of a warp should read neighbours."),
            Budget(
                STORES,
                sectors_per_request("write"),
                6,
                "The lanes of a warp should write neighbours.",
                "global_store_sectors",
            ),
            Budget(
                REQUESTS,
                load_requests_for_needed,
                1.5,
                "A request is made for 32 lanes, and each pixel is needed once.",
                "global_load_requests",
            ),
        ),
        mistakes=mistakes.MIRROR,
        hints=(
            "Which of the two numbers that cuda.grid(2) gives changes from lane to lane?",
            "column, row = cuda.grid(2). Both need a guard; x.shape is (rows, columns).",
            "out[row, column] = x[row, x.shape[1] - 1 - column], if row < x.shape[0] and column < x.shape[1].",
        ),
        why=(
            "x runs along the columns because neighbours in a row are neighbours in memory. The lanes read their row "
            "backwards, and still ask for the same few sectors: a request collects addresses, and their order does not "
            "matter. Rows that do not begin at a multiple of 8 floats cost a fifth sector now and then. The idle lanes "
            "are those behind the right edge of the last block."
        ),
        stretch="mirror the image in place, in x itself, with half of the threads. Which of a pair does the swap?",
    ),
    Exercise(
        key="lab01.configure",
        title="choose a launch for an image, in Python",
        language="python",
        name="configure",
        cases=lambda: [
            cases.launch_case(*shape)
            for shape in (
                (1, 1),
                (8, 32),
                (9, 33),
                (480, 640),
                (37, 13),
                (13, 37),
                (1000, 3),
                (1000, 16),
                (1000, 17),
                (524_280, 32),
                (524_281, 32),
                (4_000_000, 100),
                (9_000_000, 1),
            )
        ],
        drawn=cases.launches_drawn,
        mistakes=mistakes.CONFIGURE,
        hints=(
            "First the block: how wide may it be? Then the grid: how many of these cover the image?",
            "Start with a width of 32, and halve it while half of it still holds a row. The height is 256 // width.",
            "grid = (-(-columns // width), min(65535, -(-rows // height)))",
        ),
        why=(
            "The block's shape follows the data, its size does not: 256 threads suit most kernels to begin with. A "
            "warp that is 32 wide reads one row in one piece; where rows are shorter it may as well have several of "
            "them. Sizes of y and z of a grid end at 65,535, a limit that tall images and large batches meet in "
            "practice. With a loop in the kernel the grid is a choice, and a test of one block is possible."
        ),
        stretch="choose the number of blocks by the GPU instead: as many as fit on all of its SMs at once.",
    ),
    Exercise(
        key="lab01.normalise",
        title="normalise the channels of images by any launch, in CUDA C",
        language="cuda",
        name="normalise",
        cases=lambda: [cases.image_case(*each) for each in cases.IMAGES],
        measured=lambda: cases.image_case(2, 3, 1009, 3, 128),
        drawn=cases.images_drawn,
        sanitize=True,
        shared_out=True,
        budgets=(
            Budget(
                LOADED,
                loaded_for_needed,
                2,
                "In one round of the loop the lanes of a warp should read neighbours, and nobody reads them again. "
                "Mean and scale are a sector each.",
            ),
            IDLE_LANES,
            Budget(
                "stores per element",
                stored_again,
                1.01,
                "Each element has one owner in the whole grid, who writes it once.",
                "global_store_requests",
            ),
            Budget(
                FIRST_STORES,
                cases.stores_of_it,
                20,
                "The elements are for all warps of the grid: a block that works alone leaves most of the GPU idle.",
                "global_store_requests",
                of="warp",
            ),
        ),
        mistakes=mistakes.NORMALISE,
        hints=(
            "Where does a thread start, and by how much does it step, so that no two ever meet?",
            "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x). Then: which "
            "channel does element i belong to?",
            "int c = i / pixels % channels; out[i] = (x[i] - mean[c]) * scale[c];",
        ),
        why=(
            "The loop steps by the whole grid, so each element has one owner whatever the launch, and the lanes of a "
            "warp stay neighbours in every round. Planes lie one behind the other, image after image: i / pixels is "
            "the plane's number, and its remainder by the channels is the channel. A launch can now be chosen for the "
            "GPU: one thread to hunt a mistake, or as many as fill it."
        ),
        stretch=(
            "a division of whole numbers is some twenty instructions. Give each plane to blocks of its own, by "
            "blockIdx.y: how many divisions are left, and what is the price for small planes?"
        ),
    ),
)
