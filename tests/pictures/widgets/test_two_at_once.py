"""Every explorer, two of its controls moved by two threads at once: the last picture is that of the last state."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers import Launch, cp, layers, plots, profile, ranks, widgets
from helpers.checking.predict import predict, reveal
from helpers.pictures.widgets.explorer import Explorer
from helpers.workbook.run import unnamed_pictures
from tests.pictures.widgets.choose import choose
from tests.pictures.widgets.test_library_share import product
from tests.results.test_step_log import changed_log
from vgpu.base.latest_update import LatestUpdate
from vgpu.hardware.device import device

SOURCE = r"""
extern "C" __global__ void copy(const float* source, float* target, int stride, int offset) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    target[i] = source[i * stride + offset];
}
extern "C" __global__ void pick(float* out, int stride, int shift) {
    __shared__ float s[2048];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * stride + shift];
}
extern "C" __global__ void who(int* blocks, int* threads, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) return;
    blocks[y * columns + x] = blockIdx.y * gridDim.x + blockIdx.x;
    threads[y * columns + x] = threadIdx.y * blockDim.x + threadIdx.x;
}
extern "C" __global__ void steps(const float* x, float* out, int n, int times) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float own = x[i];
    for (int k = 0; k < times; ++k) own = own * 0.5f + k;
    out[i] = own;
}
extern "C" __global__ void pairs(const float* x, float* out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int step = 1; step < n; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}
extern "C" __global__ void halves(const float* x, float* out, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int step = n / 2; step; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}
extern "C" __global__ void scan(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int step = 1; step < n; step *= 2) {
        __syncthreads();
        float left = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += left;
    }
    out[t] = s[t];
}
extern "C" __global__ void tally(int* x) { x[0] = x[0] + 1; }
extern "C" __global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
"""
copy, pick, who, steps, pairs, halves, scan, tally, add = (
    cp.RawKernel(SOURCE, name) for name in ("copy", "pick", "who", "steps", "pairs", "halves", "scan", "tally", "add")
)
X, OUT = cp.ones(4096, np.float32), cp.zeros(4096, np.float32)
NETWORK = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU())


def launch(times: int) -> Launch:
    return Launch(steps, 4, 64, (X, OUT, np.int32(256), np.int32(times)))


def pipeline(chunks: int, queues: int, pinned: bool) -> None:
    size = 4096 // chunks
    host = np.frombuffer(cp.cuda.alloc_pinned_memory(4 * 4096), np.float32) if pinned else np.empty(4096, np.float32)
    lanes = [cp.cuda.Stream(non_blocking=True) for _ in range(queues)]
    for i in range(chunks):
        part, stream = slice(i * size, (i + 1) * size), lanes[i % queues]
        OUT[part].set(host[part], stream)
        add((size // 64,), (64,), (OUT[part],), stream=stream)
        OUT[part].get(stream, out=host[part], blocking=False)
    cp.cuda.Device().synchronize()


def hold(count: int, twice: bool):
    return [torch.ones(1000 * count) for _ in range(1 + twice)]


def kernel_us(elements: int) -> float:
    return 1e6 * profile(steps, 1, 64, (X, OUT, np.int32(64), np.int32(elements.bit_length()))).model.seconds


def gru(size):
    import torch

    return torch.nn.GRUCell(size, size)


# By the name of an explorer: how to make it, and two of its controls.
EXPLORERS = {
    "attention_tiles": (lambda: widgets.attention_tiles(*np.eye(3, 8)[:, :, None]), ("rows", "step")),
    "banks": (lambda: widgets.banks(pick, (OUT,), stride=(0, 8), shift=(0, 4)), ("stride", "shift")),
    "block_map": (
        lambda: widgets.block_map([("alloc", "a", 9_000_000), ("alloc", "b", 500), ("free", "a")]),
        ("step", "expandable"),
    ),
    "cards": (lambda: widgets.cards({str(n): launch(n) for n in (1, 9)}, gpus=("T4", "H100")), ("kernel", "gpu")),
    "collective": (lambda: widgets.collective(), ("ranks", "step")),
    "crossover": (
        lambda: widgets.crossover(
            steps, lambda n, times: (X, OUT, np.int32(n), np.int32(times)), sample=1024, times=(1, 64)
        ),
        ("times", "gpu"),
    ),
    "debugger": (lambda: widgets.debugger(pairs, 1, 64, (X, OUT, np.int32(64)), step=30), ("warp", "by")),
    "fusion": (
        lambda: widgets.fusion(["z = x + 1", "y = z * z"], rows=(1, 16), columns=(64,)), ("rows", "cut_0"),
    ),
    "gradient_flow": (
        lambda: widgets.gradient_flow(dict.fromkeys(("one", "other"), (gru, "size", (2, 3))), steps=3),
        ("one", "other"),
    ),
    "feature_maps": (
        lambda: widgets.feature_maps({"one": NETWORK, "same": NETWORK}, torch.ones(3, 1, 8, 8)), ("layer", "number")
    ),
    "im2col": (lambda: widgets.im2col(np.eye(6)), ("stride", "number")),
    "gradients": (lambda: widgets.gradients(torch.logspace(-9, 3, 50)), ("format", "loss_scale")),
    "lanes": (
        lambda: widgets.lanes(steps, 1, 64, lambda times: (X, OUT, np.int32(40), np.int32(times)), times=[1, 5]),
        ("times", "warp"),
    ),
    "launch_gaps": (
        lambda: widgets.launch_gaps(lambda chunks: pipeline(chunks, 1, True), chunks=(1, 2)), ("chunks", "gpu")
    ),
    "layer_roofline": (
        lambda: widgets.layer_roofline(layers(NETWORK, torch.ones(1, 1, 8, 8)), gpu="A100"), ("batch", "gpu")
    ),
    "latent_walk": (
        lambda: widgets.latent_walk(lambda z: z[:, :, None].expand(-1, 3, 2), torch.eye(3)), ("last", "step"),
    ),
    "layout_grid": (lambda: widgets.layout_grid("(4, 8):(8, 1)"), ("index", "colour")),
    "library_share": (lambda: widgets.library_share({"plain": product}, counted=(32, 64)), ("gpu", "gpu")),
    "lives": (lambda: widgets.lives({"steps": (steps, (X, OUT, np.int32(9), np.int32(2))),
                                     "scan": (scan, (X, OUT, np.int32(32)))}), ("version", "variable")),
    "memory": (lambda: widgets.memory(hold, count=[1, 4], twice=False), ("count", "twice")),
    "changes": (lambda: widgets.changes(changed_log()), ("before", "after")),
    "number_line": (lambda: widgets.number_line({"FP16": (5, 10), "tiny": (2, 1)}), ("power", "zoom")),
    "pipeline": (lambda: widgets.pipeline(stage_bytes=8192, threads=256, registers=40), ("stages", "compute")),
    "pipeline_schedule": (lambda: widgets.pipeline_schedule(), ("stages", "micro_batches")),
    "pyramid": (lambda: widgets.pyramid("T4"), ("gpu", "gpu")),
    "rank_gantt": (
        lambda: widgets.rank_gantt(
            lambda slow, more: ranks.training_spans([[1, slow + more]], 1), slow=(1, 4), more=(0, 3)
        ),
        ("slow", "more"),
    ),
    "rank_memory": (lambda: widgets.rank_memory(), ("parameters", "ranks")),
    "receptive_field": (
        lambda: widgets.receptive_field(np.eye(6), {"two": [(3, 1), (2, 2)], "one": [(3,)]}), ("network", "layers")
    ),
    "roofline": (lambda: widgets.roofline({"few": launch(1), "many": launch(99)}, gpu="A100"), ("bandwidth", "gpu")),
    "samples_over_training": (
        lambda: widgets.samples_over_training(
            {run: [{"step": n, "samples": torch.full((4, 2, 2), n / 3), "score": n} for n in (1, 2)] for run in "ab"}
        ),
        ("run", "moment"),
    ),
    "scaling": (lambda: widgets.scaling(ranks.Workload("w", 1.0, 1e9)), ("link", "overlap")),
    "scan": (lambda: widgets.scan({"one": scan, "same": scan}, elements=(4, 32), start=32), ("version", "size")),
    "scheduler": (lambda: widgets.scheduler({"few": launch(1), "many": launch(9)}, gpu="A100"), ("warps", "gpu")),
    "schedules": (lambda: widgets.schedules(tally, 1, 2, (cp.zeros(1, np.int32),)), ("right", "step")),
    "sectors": (lambda: widgets.sectors(copy), ("stride", "offset")),
    "slots": (lambda: widgets.slots(steps, (X, OUT, np.int32(9), np.int32(2))), ("registers", "block")),
    "swim_lanes": (lambda: widgets.swim_lanes(pipeline), ("pinned", "streams")),
    "thread_grid": (lambda: widgets.thread_grid(who), ("columns", "block_x")),
    "timeline": (
        lambda: widgets.timeline({"short": lambda: pipeline(1, 1, True), "long": lambda: pipeline(8, 2, True)}),
        ("program", "operation"),
    ),
    "timer_bars": (lambda: widgets.timer_bars(kernel_us), ("elements", "launches")),
    "traffic": (lambda: widgets.traffic(lambda times, n: launch(times + n), times=(1, 4), n=(0, 9)), ("times", "n")),
    "tree": (lambda: widgets.tree({"pairs": pairs, "halves": halves}, threads=(4, 64), start=64), ("version", "size")),
    "waves": (lambda: widgets.waves(steps, (X, OUT, np.int32(9), np.int32(2))), ("gpu", "blocks")),
    "working_set": (
        lambda: widgets.working_set(
            steps, lambda kib: (X[: 256 * kib], OUT, np.int32(32), np.int32(1)), array=(1, 2), cache=(1, 2)
        ),
        ("array", "cache"),
    ),
}  # fmt: skip


def ends(control) -> list:
    """Both ends of a control."""
    if hasattr(control, "options"):
        values = [each[1] if isinstance(each, tuple) else each for each in control.options]
        return [values[0], values[-1]]
    return [control.min, control.max] if hasattr(control, "min") else [False, True]


def move(explorer: Explorer, *moves: tuple[str, object]) -> None:
    """Set controls, each in a thread of its own and all at once."""
    start = threading.Barrier(len(moves))

    def work(name: str, value) -> None:
        start.wait()
        explorer.controls[name].value = value

    with ThreadPoolExecutor(len(moves)) as pool:
        for done in [pool.submit(work, *each) for each in moves]:
            done.result()


def test_the_table_has_every_explorer():
    assert set(EXPLORERS) == set(widgets.EXPLORERS)


FILES = sorted(Path(widgets.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.rotating(*FILES)) for name in EXPLORERS])
def test_two_controls_moved_at_once(name):
    make, (one, other) = EXPLORERS[name]
    explorer = make()
    for end in (1, 0):
        move(explorer, *((control, ends(explorer.controls[control])[end]) for control in (one, other)))
    # What is kept is what a fresh explorer draws in one thread, and what is shown is that of the state.
    fresh = make()
    for (values, *_), kept in list(explorer._drawn.items()):
        assert kept.html() == fresh._made_of(dict(values), device().models).html(), values
    assert choose(fresh, **explorer.values) == choose(explorer)
    assert explorer.values == fresh.values
    assert explorer.view.value == fresh.view.value and unnamed_pictures(explorer.view.value) == []


# ---------------------------------------------------------------- LatestUpdate


def test_who_asks_meanwhile_returns_at_once_and_the_last_state_is_computed_once():
    began, go_on, seen, state = threading.Semaphore(0), threading.Semaphore(0), [], [0]

    def update():
        seen.append(state[0])
        began.release()
        go_on.acquire()

    latest = LatestUpdate(update)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(latest.request)
        began.acquire()
        for state[0] in range(1, 10):
            pool.submit(latest.request).result()  # would wait for ever for an update that makes it wait
        go_on.release(2)
        first.result()
    assert seen == [0, 9]


def test_an_update_may_ask_and_one_that_fails_leaves_the_lane_free():
    seen = []

    def update():
        seen.append(len(seen))
        if len(seen) == 1:
            latest.request()
            raise ValueError("the first one")
        if len(seen) == 3:
            raise KeyboardInterrupt

    latest = LatestUpdate(update)
    with pytest.raises(ValueError, match="the first one"):
        latest.request()
    assert seen == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        latest.request()
    latest.request()
    assert seen == [0, 1, 2, 3]


def test_a_picture_that_is_no_longer_wanted_is_never_shown():
    began, go_on, shown = threading.Semaphore(0), threading.Semaphore(0), []

    def draw(n):
        if n == 2:
            began.release()
            go_on.acquire()
        return plots.timer_bars(4, 1, launches=n)

    explorer = widgets.explore(draw, n=(1, 9))
    explorer.view.observe(lambda change: shown.append(change["new"]), names="value")
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(setattr, explorer.controls["n"], "value", 2)
        began.acquire()
        for n in (3, 4):
            explorer.controls["n"].value = n
        go_on.release()
        slow.result()
    assert len(shown) == 1 and 'aria-label="4 launches' in shown[0]
    assert [dict(values) for values, _ in explorer._drawn] == [{"n": 1}, {"n": 2}, {"n": 4}]


def test_what_failed_is_tried_again_and_never_kept():
    tries = []

    def draw(n):
        tries.append(n)
        if n == 2 and tries.count(2) == 1:
            raise ValueError("no room for it just now")
        return plots.timer_bars(4, 1, launches=n)

    explorer = widgets.explore(draw, n=(1, 3))
    explorer.controls["n"].value = 2
    assert "no room for it just now" in explorer.view.value == explorer.view.value and tries == [1, 2]
    explorer.controls["n"].value = 3
    assert choose(explorer, n=2).startswith("2 launches") and tries == [1, 2, 3, 2]


def test_another_gpu_is_another_picture_and_is_not_changed_in_the_midst():
    began, go_on, names = threading.Semaphore(0), threading.Semaphore(0), []

    def draw(n):
        names.append(device().models.name)
        began.release()
        go_on.acquire()
        names.append(device().models.name)
        return plots.timer_bars(4, 1, launches=n)

    go_on.release()
    explorer = widgets.explore(draw, n=(1, 2))
    began.acquire()
    with ThreadPoolExecutor(1) as pool:
        moved = pool.submit(setattr, explorer.controls["n"], "value", 2)
        began.acquire()
        device("H100")
        go_on.release(2)
        moved.result()
    assert names == ["A100"] * 4 + ["H100"] * 2
    assert 'aria-label="2 launches' in explorer.view.value


def test_ctrl_c_in_a_drawing_leaves_no_old_picture_beside_new_values():
    def draw(n):
        if n == 2:
            raise KeyboardInterrupt
        return plots.timer_bars(4, 1, launches=n)

    explorer = widgets.explore(draw, n=(1, 3))
    with pytest.raises(KeyboardInterrupt):
        explorer.controls["n"].value = 2
    assert "interrupted: move a control to draw again" in explorer.view.value
    explorer.controls["n"].value = 3
    assert 'aria-label="3 launches' in explorer.view.value


def test_a_prediction_keeps_and_says_what_its_control_has(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPBOOK_STATE", str(tmp_path))
    asked = predict("Which one?", ["first", "second", "third"], key="two-at-once")
    _, control, said = asked.widget().children
    start = threading.Barrier(3)

    def choose(option):
        start.wait()
        control.value = option

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(choose, asked.options))
    assert asked.answer == control.value and f"<b>{control.value}</b>" in said.value
    assert reveal("two-at-once", control.value).close
