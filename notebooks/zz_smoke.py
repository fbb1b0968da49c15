"""Recurrent networks

The code of 20_recurrent_networks.ipynb, written by `warpbook script`: what cells show is printed; exercises, predictions and explorers
are left out.
"""

import math
import time

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import nn
from torch.autograd.function import once_differentiable

from helpers import (
    benchmark,
    check,
    cp,
    cuda,
    gpus,
    plots,
    predict,
    profile,
    real_gpu,
    repeats,
    reveal,
    show,
    streams,
    training,
    widgets,
)

from vgpu.base.profiler import launch_once

launch_once()  # a profiler replays each launch by itself, so benchmark makes one where it would make many

display = print  # which Jupyter brings along

# --- Read a sequence one step at a time

def rnn_by_hand(rnn, x):
    h = torch.zeros(x.shape[1], rnn.hidden_size)
    outputs = []
    for x_t in x:
        from_input = x_t @ rnn.weight_ih_l0.T + rnn.bias_ih_l0
        from_state = h @ rnn.weight_hh_l0.T + rnn.bias_hh_l0
        h = torch.tanh(from_input + from_state)
        outputs.append(h)
    return torch.stack(outputs)


torch.set_num_threads(1)  # these networks are small: a second CPU thread would mostly wait
if real_gpu():
    torch.set_default_device("cuda")  # where the kernels of this chapter find the tensors
    torch.backends.cudnn.allow_tf32 = False  # else cuDNN rounds the factors to 10 bits, and we compare more closely
torch.manual_seed(0)
x = torch.randn(20, 8, 16)  # 20 steps, 8 sequences, 16 inputs
rnn = nn.RNN(16, 64)
print("equal to nn.RNN:", torch.allclose(rnn_by_hand(rnn, x), rnn(x)[0], atol=1e-6))

print(show(plots.unrolled(x, *rnn(x))))

def lstm_by_hand(lstm, x):
    h = torch.zeros(x.shape[1], lstm.hidden_size)
    c = torch.zeros(x.shape[1], lstm.hidden_size)
    outputs = []
    for x_t in x:
        z = x_t @ lstm.weight_ih_l0.T + lstm.bias_ih_l0 + h @ lstm.weight_hh_l0.T + lstm.bias_hh_l0
        z_i, z_f, z_g, z_o = z.chunk(4, dim=1)
        i, f, g, o = torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)
        c = f * c + i * g
        h = o * torch.tanh(c)
        outputs.append(h)
    return torch.stack(outputs), (h, c)


lstm = nn.LSTM(16, 64)
print("equal to nn.LSTM:", torch.allclose(lstm_by_hand(lstm, x)[0], lstm(x)[0], atol=1e-6))

question = (
    "An LSTM with 64 hidden units has read 1,000 steps of one sequence. How many numbers does it pass on to step 1,001?"
)
# predict(question, options=[64, 128, 256, 64_000], key="ch20-state")  (in the notebook)

_, state = lstm(torch.randn(1000, 1, 16))
numbers = sum(part.numel() for part in state)
print(reveal("ch20-state", numbers, "h and c, and no more: however long the past is, it has to fit into these."))

def gru_by_hand(gru, x):
    h = torch.zeros(x.shape[1], gru.hidden_size)
    outputs = []
    for x_t in x:
        from_input = x_t @ gru.weight_ih_l0.T + gru.bias_ih_l0
        from_state = h @ gru.weight_hh_l0.T + gru.bias_hh_l0
        r_input, z_input, n_input = from_input.chunk(3, dim=1)
        r_state, z_state, n_state = from_state.chunk(3, dim=1)
        r = torch.sigmoid(r_input + r_state)
        z = torch.sigmoid(z_input + z_state)
        n = torch.tanh(n_input + r * n_state)
        h = (1 - z) * n + z * h
        outputs.append(h)
    return torch.stack(outputs)


gru = nn.GRU(16, 64)
print("equal to nn.GRU:", torch.allclose(gru_by_hand(gru, x), gru(x)[0], atol=1e-6))

question = "The GRU as in the paper: how many products with the state must run one after another in each step?"
# predict(question, options=[1, 2, 3], key="ch20-gru")  (in the notebook)

def gru_of_the_paper(gru, x):
    hidden = gru.hidden_size
    h = torch.zeros(x.shape[1], hidden)
    for x_t in x:
        from_input = x_t @ gru.weight_ih_l0.T + gru.bias_ih_l0 + gru.bias_hh_l0
        gates = torch.sigmoid(from_input[:, : 2 * hidden] + h @ gru.weight_hh_l0[: 2 * hidden].T)  # the first product
        r, z = gates.chunk(2, dim=1)
        n = torch.tanh(from_input[:, 2 * hidden :] + (r * h) @ gru.weight_hh_l0[2 * hidden :].T)  # needs r: the second
        h = (1 - z) * n + z * h
    return h


difference = (gru_of_the_paper(gru, x) - gru(x)[0][-1]).abs().max().item()
print(f"the same weights, the two forms: the last states differ by up to {difference:.2f}")
print(reveal("ch20-gru", 2, "r and z come from one product, but the second product has to wait until r is there."))

print(f"{'16 inputs, 64 hidden':22}  state  parameters  FLOPs per step and sequence")
for name, layer in {
    "RNN": rnn,
    "LSTM": lstm,
    "GRU": gru,
    "LSTM, both directions": nn.LSTM(16, 32, bidirectional=True),
}.items():
    _, state = layer(x)
    numbers = sum(part[:, 0].numel() for part in (state if isinstance(state, tuple) else (state,)))
    parameters = sum(weight.numel() for weight in layer.parameters())
    flops = sum(2 * weight.numel() for name, weight in layer.named_parameters() if name.startswith("weight"))
    print(f"{name:22}  {numbers:5}  {parameters:10,}  {flops:,}")

# --- Fuse the cell into one kernel

PRODUCT = r"""
extern "C" __global__
void product(const float* a, const float* b, float* out, int rows, int inner, int columns) {
    __shared__ float tile_a[16][16], tile_b[16][16];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int first = 0; first < inner; first += 16) {
        int k_a = first + threadIdx.x, k_b = first + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < rows && k_a < inner ? a[row * inner + k_a] : 0;
        tile_b[threadIdx.y][threadIdx.x] = k_b < inner && column < columns ? b[k_b * columns + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        out[row * columns + column] = sum;
}
"""
product = cp.RawKernel(PRODUCT, "product")


def multiply(a, b):
    rows, inner, columns = a.shape[0], a.shape[1], b.shape[1]
    out = cp.empty((rows, columns), dtype="float32")
    grid = ((columns + 15) // 16, (rows + 15) // 16)
    product(grid, (16, 16), (a, b, out, np.int32(rows), np.int32(inner), np.int32(columns)))
    return out

@cuda.jit
def add(a, b, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column] + b[row, column]


@cuda.jit
def add_bias(a, bias, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column] + bias[column]


@cuda.jit
def times(a, b, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = a[row, column] * b[row, column]


@cuda.jit
def sigmoid(a, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = np.float32(1) / (np.float32(1) + math.exp(-a[row, column]))


@cuda.jit
def tanh(a, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = math.tanh(a[row, column])

def launch(kernel, *inputs):
    rows, columns = inputs[0].shape
    out = cp.empty((rows, columns), dtype="float32")
    grid = ((columns + 31) // 32, (rows + 7) // 8)
    kernel[grid, (32, 8)](*inputs, out)
    return out


def separate(x, W, U, bias, h, c):
    hidden = h.shape[1]
    for x_t in x:
        from_input = multiply(x_t, W)
        from_state = multiply(h, U)
        z = launch(add, from_input, from_state)
        z = launch(add_bias, z, bias)
        i = launch(sigmoid, z[:, :hidden])
        f = launch(sigmoid, z[:, hidden : 2 * hidden])
        g = launch(tanh, z[:, 2 * hidden : 3 * hidden])
        o = launch(sigmoid, z[:, 3 * hidden :])
        kept = launch(times, f, c)
        added = launch(times, i, g)
        c = launch(add, kept, added)
        shown = launch(tanh, c)
        h = launch(times, o, shown)
    return h

def shared(tensor):
    return cp.from_dlpack(tensor.detach().contiguous())


W, U = shared(lstm.weight_ih_l0.T), shared(lstm.weight_hh_l0.T)
bias = shared(lstm.bias_ih_l0 + lstm.bias_hh_l0)
start = cp.zeros((8, 64), dtype="float32")
wanted = lstm(x)[0][-1].detach().cpu().numpy()

h = separate(shared(x), W, U, bias, start, start)
print("equal to nn.LSTM:", np.allclose(cp.asnumpy(h), wanted, atol=1e-5))

# predict("`separate`: how many kernels are launched for each time step?", options=[4, 9, 11, 13], key="ch20-launches")  (in the notebook)

apart = streams.tally(separate, shared(x), W, U, bias, start, start)
display(apart)
print(reveal("ch20-launches", apart.launches / len(x), "Two products, and eleven element-wise kernels after them."))

FORWARD = r"""
extern "C" __global__
void lstm_forward(const REAL* from_input, const REAL* from_state, const REAL* bias, const REAL* c_old,
                  REAL* gates, REAL* c_new, REAL* h_new, int batch, int hidden) {
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    int sequence = blockIdx.y;
    if (unit >= hidden) return;
    int here = sequence * hidden + unit;
    int first = sequence * 4 * hidden + unit;      // the unit's place in the row of i; f, g and o follow
    int second = first + hidden, third = second + hidden, fourth = third + hidden;

    REAL z_i = from_input[first] + from_state[first] + bias[unit];
    REAL z_f = from_input[second] + from_state[second] + bias[hidden + unit];
    REAL z_g = from_input[third] + from_state[third] + bias[2 * hidden + unit];
    REAL z_o = from_input[fourth] + from_state[fourth] + bias[3 * hidden + unit];

    REAL i = 1 / (1 + exp(-z_i));
    REAL f = 1 / (1 + exp(-z_f));
    REAL g = tanh(z_g);
    REAL o = 1 / (1 + exp(-z_o));
    REAL c = f * c_old[here] + i * g;

    gates[first] = i;
    gates[second] = f;
    gates[third] = g;
    gates[fourth] = o;
    c_new[here] = c;
    h_new[here] = o * tanh(c);
}
"""
forward = {
    torch.float32: cp.RawKernel(FORWARD, "lstm_forward", options=("-DREAL=float",)),
    torch.float64: cp.RawKernel(FORWARD, "lstm_forward", options=("-DREAL=double",)),
}

def cell(from_input, from_state, bias, c):
    batch, hidden = c.shape
    gates = cp.empty((batch, 4 * hidden), dtype="float32")
    c_new, h_new = cp.empty_like(c), cp.empty_like(c)
    grid = ((hidden + 63) // 64, batch)
    arguments = (from_input, from_state, bias, c, gates, c_new, h_new, np.int32(batch), np.int32(hidden))
    forward[torch.float32](grid, (64,), arguments)
    return h_new, c_new


def fused(x, W, U, bias, h, c):
    for x_t in x:
        h, c = cell(multiply(x_t, W), multiply(h, U), bias, c)
    return h


h = fused(shared(x), W, U, bias, start, start)
print("equal to nn.LSTM:", np.allclose(cp.asnumpy(h), wanted, atol=1e-5))

outputs = [cp.empty(shape, dtype="float32") for shape in ((8, 256), (8, 64), (8, 64))]
arguments = (multiply(shared(x)[0], W), multiply(start, U), bias, start, *outputs, np.int32(8), np.int32(64))
print(profile(forward[torch.float32], (1, 8), (64,), arguments))

question = "Element-wise part: how many times as many bytes does `separate` move as the fused kernel?"
# predict(question, options=[1.2, 2.8, 4.3, 11.0], key="ch20-bytes")  (in the notebook)

together = streams.tally(fused, shared(x), W, U, bias, start, start)
display(together)
without_product = apart.nbytes - apart["product"].loaded - apart["product"].stored
one_kernel = together.nbytes - together["product"].loaded - together["product"].stored
why = "Without the bias 42 floats a unit and step, against 15."
print(reveal("ch20-bytes", 42 / 15, f"{why} Counted with the bias: {without_product:,} bytes and {one_kernel:,}."))

# --- Send the gradient back through the cell

print(show(plots.unrolled(x, *lstm(x), backward=True)))

BACKWARD = r"""
extern "C" __global__
void lstm_backward(const REAL* gates, const REAL* c_old, const REAL* c_new, const REAL* dh, const REAL* dc_new,
                   REAL* dz, REAL* dc_old, int batch, int hidden) {
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    int sequence = blockIdx.y;
    if (unit >= hidden) return;
    int here = sequence * hidden + unit;
    int first = sequence * 4 * hidden + unit;
    int second = first + hidden, third = second + hidden, fourth = third + hidden;

    REAL i = gates[first], f = gates[second], g = gates[third], o = gates[fourth];
    REAL t = tanh(c_new[here]);
    REAL dc = dc_new[here] + dh[here] * o * (1 - t * t);

    dz[first] = dc * g * i * (1 - i);
    dz[second] = dc * c_old[here] * f * (1 - f);
    dz[third] = dc * i * (1 - g * g);
    dz[fourth] = dh[here] * t * o * (1 - o);
    dc_old[here] = dc * f;
}
"""
backward = {
    torch.float32: cp.RawKernel(BACKWARD, "lstm_backward", options=("-DREAL=float",)),
    torch.float64: cp.RawKernel(BACKWARD, "lstm_backward", options=("-DREAL=double",)),
}

class LSTMCell(torch.autograd.Function):
    @staticmethod
    def forward(ctx, from_input, from_state, bias, c_old):
        from_input, from_state, c_old = from_input.contiguous(), from_state.contiguous(), c_old.contiguous()
        batch, hidden = c_old.shape
        gates, c_new, h_new = torch.empty_like(from_input), torch.empty_like(c_old), torch.empty_like(c_old)
        tensors = (from_input, from_state, bias, c_old, gates, c_new, h_new)
        arguments = (*[shared(tensor) for tensor in tensors], np.int32(batch), np.int32(hidden))
        forward[c_old.dtype](((hidden + 63) // 64, batch), (64,), arguments)
        ctx.save_for_backward(gates, c_old, c_new)
        return h_new, c_new

    @staticmethod
    @once_differentiable
    def backward(ctx, dh, dc_new):
        gates, c_old, c_new = ctx.saved_tensors
        batch, hidden = c_old.shape
        dz, dc_old = torch.empty_like(gates), torch.empty_like(c_old)
        tensors = (gates, c_old, c_new, dh.contiguous(), dc_new.contiguous(), dz, dc_old)
        arguments = (*[shared(tensor) for tensor in tensors], np.int32(batch), np.int32(hidden))
        backward[c_old.dtype](((hidden + 63) // 64, batch), (64,), arguments)
        return dz, dz, dz.sum(0), dc_old

torch.manual_seed(1)
sizes = ((3, 20), (3, 20), (20,), (3, 5))
inputs = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
print(torch.autograd.gradcheck(LSTMCell.apply, inputs))

class OwnLSTM(nn.LSTM):
    # nn.LSTM with the same weights, whose cell is the fused kernel.

    def forward(self, x, state=None):
        zeros = x.new_zeros(x.shape[1], self.hidden_size)
        h, c = (zeros, zeros) if state is None else (state[0][0], state[1][0])
        from_input = x @ self.weight_ih_l0.T
        bias = self.bias_ih_l0 + self.bias_hh_l0
        outputs = []
        for step in range(x.shape[0]):
            h, c = LSTMCell.apply(from_input[step], h @ self.weight_hh_l0.T, bias, c)
            outputs.append(h)
        return torch.stack(outputs), (h[None], c[None])


own = OwnLSTM(16, 64)
own.load_state_dict(lstm.state_dict())
weighting = torch.randn(20, 8, 64)
for network in (own, lstm):
    network.zero_grad()
    (network(x)[0] * weighting).sum().backward()

print("outputs:", torch.allclose(own(x)[0], lstm(x)[0], atol=1e-5))
for name, weight in lstm.named_parameters():
    difference = (own.get_parameter(name).grad - weight.grad).abs().max() / weight.grad.abs().max()
    print(f"gradient of {name} within 1e-5: {bool(difference < 1e-5)}")

SENTENCE = "a recurrent network reads one step at a time, and keeps what it has read in its state; "
letters = sorted(set(SENTENCE))
numbers = torch.tensor([letters.index(letter) for letter in SENTENCE])
shifted = torch.stack([numbers.roll(-11 * column) for column in range(8)], dim=1)[:25]
row, following = nn.functional.one_hot(shifted[:-1], len(letters)).float(), shifted[1:]


def train(recurrent, head, steps=15):
    optimiser = torch.optim.Adam([*recurrent.parameters(), *head.parameters()], lr=0.02)
    with training("a sentence", steps=steps, leave=False) as run:
        for _ in range(steps):
            scores = head(recurrent(row)[0])
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), following.flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            run.step(loss=loss)
    return run

torch.manual_seed(0)
own_reader, own_head = OwnLSTM(len(letters), 64), nn.Linear(64, len(letters))
torch_reader, torch_head = nn.LSTM(len(letters), 64), nn.Linear(64, len(letters))
torch_reader.load_state_dict(own_reader.state_dict())
torch_head.load_state_dict(own_head.state_dict())
own_run = train(own_reader, own_head)
torch_run = train(torch_reader, torch_head)
print(show(plots.training_curves({"own kernels": own_run, "nn.LSTM": torch_run}, "loss")))

distance = max(abs(a - b) for a, b in zip(own_run["loss"].values, torch_run["loss"].values, strict=True))
print("never further apart than 0.01:", distance < 0.01)

# --- Why recurrent networks are slow

question = "20 steps of `separate`: what fraction of the A100's FP32 peak do its FLOPs reach (modelled)?"
# predict(question, options=["less than 1 %", "about 10 %", "about 50 %", "about 90 %"], key="ch20-peak")  (in the notebook)

modelled = streams.dry_run(separate, shared(x), W, U, bias, start, start).schedule("A100")
share = apart.flops / modelled.seconds / gpus.find("A100").peak("fp32")
print(f"{apart.flops:,} FLOPs counted, {share:.3%} of the peak, modelled")
why = "At the peak the FLOPs would take about a microsecond; the launches take over a thousand."
print(reveal("ch20-peak", "less than 1 %", why))

SEQUENCE = r"""
__device__ float sigmoid(float z) { return 1 / (1 + expf(-z)); }

extern "C" __global__
void lstm_sequence(const float* from_input, const float* U, const float* bias, float* outputs,
                   int steps, int batch, int hidden) {
    extern __shared__ float h[];
    int unit = threadIdx.x, sequence = blockIdx.x;
    float c = 0;
    h[unit] = 0;
    __syncthreads();
    for (int step = 0; step < steps; ++step) {
        const float* row = from_input + (step * batch + sequence) * 4 * hidden;
        float z_i = row[unit] + bias[unit];
        float z_f = row[hidden + unit] + bias[hidden + unit];
        float z_g = row[2 * hidden + unit] + bias[2 * hidden + unit];
        float z_o = row[3 * hidden + unit] + bias[3 * hidden + unit];
        for (int k = 0; k < hidden; ++k) {
            const float* weights = U + k * 4 * hidden;
            z_i += h[k] * weights[unit];
            z_f += h[k] * weights[hidden + unit];
            z_g += h[k] * weights[2 * hidden + unit];
            z_o += h[k] * weights[3 * hidden + unit];
        }
        c = sigmoid(z_f) * c + sigmoid(z_i) * tanhf(z_g);
        __syncthreads();                       // all threads have read the old state
        h[unit] = sigmoid(z_o) * tanhf(c);
        __syncthreads();                       // all threads can read the new one
        outputs[(step * batch + sequence) * hidden + unit] = h[unit];
    }
}
"""
lstm_sequence = cp.RawKernel(SEQUENCE, "lstm_sequence")

def batched(x, W, U, bias, h, c):
    steps, batch, inputs = x.shape
    from_input = multiply(x.reshape(steps * batch, inputs), W).reshape(steps, batch, -1)
    for step in range(steps):
        h, c = cell(from_input[step], multiply(h, U), bias, c)
    return h


def one_launch(x, W, U, bias, h, c):
    steps, batch, inputs = x.shape
    hidden = h.shape[1]
    from_input = multiply(x.reshape(steps * batch, inputs), W)
    outputs = cp.empty((steps, batch, hidden), dtype="float32")
    arguments = (from_input, U, bias, outputs, np.int32(steps), np.int32(batch), np.int32(hidden))
    lstm_sequence((batch,), (hidden,), arguments, shared_mem=4 * hidden)
    return outputs[-1]


for way in (batched, one_launch):
    h = way(shared(x), W, U, bias, start, start)
    print(way.__name__, "equal to nn.LSTM:", np.allclose(cp.asnumpy(h), wanted, atol=1e-5))

def sequences(steps, batch):
    return cp.asarray(np.random.default_rng(0).standard_normal((steps, batch, 16)).astype("float32"))


data = {(steps, batch): sequences(steps, batch) for steps in (1, 4, 8, 16) for batch in (1, 8, 32)}
states = {batch: cp.zeros((batch, 64), dtype="float32") for batch in (1, 8, 32)}


def with_data(way):
    def program(steps, batch):
        way(data[steps, batch], W, U, bias, states[batch], states[batch])

    return program


ways = {"separate kernels": separate, "fused cell": fused, "inputs batched": batched, "one launch": one_launch}
programs = {name: with_data(way) for name, way in ways.items()}
# widgets.launch_gaps(programs, steps=(1, 4, 8, 16), batch=(1, 8, 32))  (in the notebook)

question = "1,024 hidden units, a batch of 1, float32: FLOPs for each byte of the product h × U?"
# predict(question, options=[0.5, 2, 64, 512], key="ch20-intensity")  (in the notebook)

def intensity(batch, hidden):
    flops = 2 * batch * hidden * 4 * hidden
    moved = 4 * (4 * hidden * hidden + batch * hidden + batch * 4 * hidden)
    return flops / moved


a100 = gpus.find("A100")
for batch in (1, 8, 64, 512):
    print(f"batch {batch:3}: {intensity(batch, 1024):6.1f} FLOPs a byte")
print(f"the A100's FP32 units need {a100.peak('fp32') / a100.memory_bandwidth:.1f}")
print(reveal(
    "ch20-intensity",
    round(intensity(1, 1024), 1),
    "Each weight is 4 bytes and is used for one multiplication and one addition.",
))

def earliest_rounds(layers, steps):
    rounds = np.zeros((layers, steps), dtype=int)
    for layer in range(layers):
        for step in range(steps):
            before = rounds[layer, step - 1] if step > 0 else 0
            below = rounds[layer - 1, step] if layer > 0 else 0
            rounds[layer, step] = max(before, below) + 1
    return rounds


print(show(plots.cell_rounds(earliest_rounds(layers=3, steps=10))))

question = "4 layers read 100 steps, which makes 400 cells. In how many rounds can they run at best?"
# predict(question, options=[25, 100, 103, 400], key="ch20-rounds")  (in the notebook)

rounds = int(earliest_rounds(layers=4, steps=100).max())
why = "Layer 4 begins in round 4, and 99 steps later it is done: layers + steps - 1."
print(reveal("ch20-rounds", rounds, why))

@torch.no_grad()
def in_rounds(stacked, x):
    steps, layers = x.shape[0], stacked.num_layers
    h = torch.zeros(layers, steps + 1, x.shape[1], stacked.hidden_size)  # at step 0: before the first one
    c = torch.zeros_like(h)
    for number in range(layers + steps - 1):
        for layer in reversed(range(layers)):
            step = number - layer
            if 0 <= step < steps:
                below = x[step] if layer == 0 else h[layer - 1, step + 1]
                state = (h[layer, step], c[layer, step])
                h[layer, step + 1], c[layer, step + 1] = torch.lstm_cell(below, state, *stacked.all_weights[layer])
    return h[-1, 1:]


stacked = nn.LSTM(16, 64, num_layers=3)
print("equal to nn.LSTM:", torch.allclose(in_rounds(stacked, x), stacked(x)[0], atol=1e-5))

registers = a100.sms * a100.registers_per_sm
print(f"{registers:,} registers of 32 bits")
print(f"float32: at most {math.isqrt(registers // 4):,} hidden units")
print(f"float16, two weights in a register: {math.isqrt(registers // 2):,}")

# --- Gradients through time

def rotation_rnn(radius):
    cell = nn.RNNCell(8, 48)
    with torch.no_grad():
        nn.init.orthogonal_(cell.weight_hh)
        cell.weight_hh *= radius
        cell.bias_ih.zero_()
        cell.bias_hh.zero_()
    return cell


def gradient_norms(cell, steps=60):
    h, states = torch.zeros(8, 48), []
    for _ in range(steps):
        h = cell(0.3 * torch.randn(8, 8), h)
        states.append(h)
    number = (h * torch.randn(8, 48)).sum()
    gradients = torch.autograd.grad(number, states)
    norms = [gradient.norm().item() for gradient in reversed(gradients)]
    return [norm / norms[0] for norm in norms]


torch.manual_seed(0)
for radius in (0.5, 0.9, 2.0):
    norms = gradient_norms(rotation_rnn(radius))
    print(f"radius {radius}: 10 steps back {norms[10]:.0e}, 20 steps {norms[20]:.0e}")

question = "Radius 0.9: what fraction of the gradient's norm is left 40 steps back?"
# predict(question, options=["about 0.9", "about 0.4", "less than 0.015"], key="ch20-vanish")  (in the notebook)

torch.manual_seed(0)
left = gradient_norms(rotation_rnn(0.9))[40]
why = f"0.9 to the power of 40 is {0.9**40:.3f}, and tanh shrinks it further at each step: {left:.4f}."
print(reveal("ch20-vanish", "less than 0.015", why))

question = "40 steps back: an LSTM with forget bias -2, against the RNN of radius 0.9. Its gradient is…"
# predict(question, options=["larger", "about the same", "smaller"], key="ch20-lstm-gradient")  (in the notebook)

def lstm_with_bias(forget_bias):
    cell = nn.LSTMCell(8, 48)
    with torch.no_grad():
        cell.bias_ih.zero_()
        cell.bias_hh.zero_()
        cell.bias_ih[48:96] = forget_bias  # the second quarter belongs to f
    return cell


def lstm_norms(cell, steps=60):
    h, c, states = torch.zeros(8, 48), torch.zeros(8, 48), []
    for _ in range(steps):
        h, c = cell(0.3 * torch.randn(8, 8), (h, c))
        states.append((h, c))
    flat = [part for state in states for part in state]
    gradients = torch.autograd.grad((h * torch.randn(8, 48)).sum(), flat, allow_unused=True)
    pairs = [gradients[2 * t : 2 * t + 2] for t in range(steps)]
    norms = [sum(part.square().sum().item() for part in pair if part is not None) ** 0.5 for pair in reversed(pairs)]
    return [norm / norms[0] for norm in norms]


torch.manual_seed(0)
closed, open_gate = lstm_norms(lstm_with_bias(-2))[40], lstm_norms(lstm_with_bias(4))[40]
print(f"40 steps back: RNN {left:.0e}, LSTM with forget bias -2 {closed:.0e}, with forget bias 4 {open_gate:.1e}")
why = "The gate lets 12 % pass at each step. With the way through h about a quarter is left,"
print(reveal("ch20-lstm-gradient", "smaller", f"{why} and 0.26 to the power of 40 is nearly nothing."))

def random_rnn(radius):
    cell = nn.RNNCell(8, 48)
    with torch.no_grad():
        cell.weight_hh *= radius / torch.linalg.eigvals(cell.weight_hh).abs().max()
    return cell


radii = (0.5, 0.9, 1.0, 1.1, 1.5, 2.0)
cells = {
    "rotation": (rotation_rnn, "radius", radii),
    "random weights": (random_rnn, "radius", radii),
    "LSTM": (lstm_with_bias, "forget bias", (-2, 0, 1, 2, 4, 6)),
}
# widgets.gradient_flow(cells, start={"rotation": 0.9, "random weights": 1.5, "LSTM": 4})  (in the notebook)

def clip_by_norm(parameters, limit):
    norm = torch.sqrt(sum(p.grad.square().sum() for p in parameters))
    for p in parameters:
        p.grad *= torch.clamp(limit / (norm + 1e-6), max=1.0)
    return norm


for network in (own, lstm):
    network.zero_grad()
    (network(x)[0] * weighting).sum().backward()
clip_by_norm(list(own.parameters()), limit=1.0)
nn.utils.clip_grad_norm_(lstm.parameters(), max_norm=1.0)
pairs = zip(own.parameters(), lstm.parameters(), strict=True)
print("equal to clip_grad_norm_:", all(torch.allclose(a.grad, b.grad, atol=1e-6) for a, b in pairs))

question = "A gradient of norm 0.0001 is clipped with max_norm=1. Its norm is then…"
# predict(question, options=[0.0001, 0.01, 1.0], key="ch20-clip")  (in the notebook)

weight = nn.Parameter(torch.zeros(100))
weight.grad = torch.full((100,), 0.00001)
nn.utils.clip_grad_norm_([weight], max_norm=1.0)
print(reveal(
    "ch20-clip",
    round(weight.grad.norm().item(), 4),
    "The factor is never above 1: clipping shortens, and never lengthens.",
))

# --- Memory over sixty steps

def symbols(batch, steps=60):
    drawn = torch.randint(0, 4, (steps, batch))
    x = nn.functional.one_hot(drawn, 5).float()
    x[0, :, 4] = 1  # the fifth input marks the first step
    return x, drawn[0]


torch.manual_seed(repeats.seed)
x, first = symbols(6400)
test_x, test_first = symbols(1000)
flat, test_flat = (part.transpose(0, 1).flatten(1).cpu() for part in (x, test_x))
began = time.perf_counter()
linear = LogisticRegression().fit(flat, first.cpu())
seconds = time.perf_counter() - began
right = linear.score(test_flat, test_first.cpu())
print(f"logistic regression on all 60 steps at once: {right:.0%} right")
repeats.note("memory", "guessing", right=0.25)
print(repeats.note(
    "memory", "linear, all steps at once",
    right=right, parameters=linear.coef_.size + 4, flops=2 * linear.coef_.size, seconds=seconds,
)  # fmt: skip
)

def with_open_gates(inputs, hidden, steps=60):
    lstm = nn.LSTM(inputs, hidden)
    with torch.no_grad():
        lstm.bias_hh_l0.zero_()
        lstm.bias_ih_l0[:hidden] = -math.log(steps)  # the input gate: let little in
        lstm.bias_ih_l0[hidden : 2 * hidden] = math.log(steps)  # the forget gate: keep nearly all
    return lstm


def learn(title, make, steps=200):
    torch.manual_seed(repeats.seed)
    recurrent, head = make(5, 32), nn.Linear(32, 4)
    parameters = [*recurrent.parameters(), *head.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.02)
    began = time.perf_counter()
    with training(title, steps=steps) as run:
        for _ in range(steps):
            x, wanted = symbols(32)
            scores = head(recurrent(x)[0][-1])
            optimiser.zero_grad()
            nn.functional.cross_entropy(scores, wanted).backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            run.step(accuracy=(scores.argmax(1) == wanted).float().mean())
    seconds = time.perf_counter() - began
    with torch.no_grad():
        right = (head(recurrent(test_x)[0][-1]).argmax(1) == test_first).float().mean().item()
    size, weights = sum(p.numel() for p in parameters), sum(p.numel() for p in recurrent.parameters() if p.ndim == 2)
    repeats.note("memory", title, right=right, parameters=size, flops=60 * 2 * weights, seconds=seconds)
    return right

question = "Which networks name the first symbol in nearly all cases after 200 steps of training?"
answers = ["none of them", "only the LSTM with open gates", "the GRU and both LSTMs", "all four"]
# predict(question, options=answers, key="ch20-memory")  (in the notebook)

rnn_right = learn("nn.RNN", nn.RNN)

lstm_right = learn("nn.LSTM", nn.LSTM)
gru_right = learn("nn.GRU", nn.GRU)

open_right = learn("LSTM, open gates", with_open_gates)

found = {"nn.RNN": rnn_right, "nn.LSTM": lstm_right, "nn.GRU": gru_right, "LSTM, open gates": open_right}
for name, right in found.items():
    print(f"{name}: {right:.0%} of 1,000 new sequences")
display(repeats.table("20", "memory"))
print(reveal("ch20-memory", "only the LSTM with open gates", "The table has the median of five seeds, and the extremes."))

# --- On a real GPU

place = "cuda" if real_gpu() else "cpu"
steps, batch, size = (100, 64, 512) if real_gpu() else (10, 4, 64)
sequence = torch.randn(steps, batch, size, device=place)
library = nn.LSTM(size, size).to(place)
mine = OwnLSTM(size, size).to(place)
mine.load_state_dict(library.state_dict())


def both_ways(network):
    network.zero_grad()
    network(sequence)[0].sum().backward()


for name, network in {"own fused cell": mine, "nn.LSTM": library}.items():
    time = benchmark(both_ways, network, repeat=5)
    print(f"{name}, forwards and backwards: {1e3 * time.median:.2f} ms {time.on}")

if real_gpu():
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.stream(side), cp.cuda.ExternalStream(side.cuda_stream):
        mine(sequence)  # compiled and warm before the capture
        with torch.cuda.graph(graph, stream=side):
            mine(sequence)
    with torch.no_grad():
        print(f"loop, forwards: {1e3 * benchmark(mine, sequence).median:.2f} ms")
    print(f"graph, forwards: {1e3 * benchmark(graph.replay).median:.2f} ms")
