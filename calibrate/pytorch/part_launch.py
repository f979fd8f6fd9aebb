"""The CPU's time to launch a kernel from PyTorch: one by one, in autograd, compiled, from a CUDA
graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from part_elementwise import COMPILING_S, compiled, half_rotary, library_rms_norm, swiglu
from sample_table import Sample
from torch_timing import Bench, Timing, summary

#: A chain's kernels: fewer than the GPU's queue holds, so that the CPU never waits for a place.
CHAIN = 500
#: Steps of a layer queued in a row: some hundred kernels together.
STEPS = 3
HEADS, HEAD_DIM, TOKENS, FFN = 4, 32, 32, 256
HIDDEN = HEADS * HEAD_DIM

Weights = dict[str, torch.Tensor]


def queued(bench: Bench, queue: Callable[[], object], parts: int) -> Timing:
    """Seconds of the CPU for each of the `parts` of what `queue` queues; the GPU is idle when it
    begins, and is not waited for."""
    values = []
    for _ in range(bench.repeats + 2):
        bench.synchronize()
        begin = time.perf_counter()
        queue()
        values.append((time.perf_counter() - begin) / parts)
    bench.synchronize()
    return summary(values[2:])


def add_chain(x: torch.Tensor) -> None:
    """CHAIN kernels of PyTorch's own dispatch, one after the other."""
    with torch.no_grad():
        for _ in range(CHAIN):
            x.add_(0.5)


def time_chain(bench: Bench) -> None:
    """Operators without autograd."""
    x = bench.random(1024)
    timing = queued(bench, partial(add_chain, x), CHAIN)
    bench.add(Sample("launch", "kernel_call", "eager", streams=CHAIN), timing)


def time_graph(bench: Bench) -> None:
    """The same chain from a CUDA graph: the CPU's time of the call, the GPU's of a kernel."""
    if not bench.cuda:
        raise RuntimeError("CUDA graphs need a GPU")
    x = bench.random(1024)
    add_chain(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add_chain(x)
    timing = queued(bench, graph.replay, CHAIN)
    bench.add(Sample("launch", "graph_call", "torch", streams=CHAIN), timing)
    whole = bench.time([graph.replay])
    each = Timing(whole.seconds / CHAIN, whole.spread_s / CHAIN, whole.repeats, whole.reading)
    bench.add(Sample("launch", "graph", "torch", streams=CHAIN), each)


def layer(weights: Weights, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """A decoder's layer on [1, TOKENS, HIDDEN], to the same."""
    normed = library_rms_norm(x, weights["attention_norm"])
    q, k, v = (
        F.linear(normed, weights[name]).view(1, TOKENS, HEADS, HEAD_DIM) for name in ("q", "k", "v")
    )
    q, k = half_rotary(q, cos, sin), half_rotary(k, cos, sin)
    q, k, v = (heads.transpose(1, 2) for heads in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    out = out.transpose(1, 2).reshape(1, TOKENS, HIDDEN)
    x = x + F.linear(out, weights["projection"])
    normed = library_rms_norm(x, weights["mlp_norm"])
    hidden = swiglu(F.linear(normed, weights["gate"]), F.linear(normed, weights["up"]))
    return x + F.linear(hidden, weights["down"])


def layer_weights(bench: Bench) -> Weights:
    """All of `layer`, with gradients."""
    square = ("q", "k", "v", "projection")
    weights = {name: bench.random(HIDDEN, HIDDEN, grad=True) for name in square}
    weights |= {name: bench.random(FFN, HIDDEN, grad=True) for name in ("gate", "up")}
    weights |= {name: bench.random(HIDDEN, grad=True) for name in ("attention_norm", "mlp_norm")}
    return {**weights, "down": bench.random(HIDDEN, FFN, grad=True)}


class Step:
    """Forward and backward of a layer so small that the CPU sets the pace."""

    def __init__(self, bench: Bench, compile_it: bool) -> None:
        self._function = compiled(layer) if compile_it else layer
        self._weights = layer_weights(bench)
        self._x = bench.random(1, TOKENS, HIDDEN, grad=True)
        angles = bench.random(TOKENS, 1, HEAD_DIM, dtype=torch.float32)
        self._turns = (angles.cos(), angles.sin())
        self._gradient = bench.random(1, TOKENS, HIDDEN)

    def __call__(self) -> None:
        """One step; gradients are forgotten, as after an optimizer's."""
        out = self._function(self._weights, self._x, *self._turns)
        out.backward(self._gradient)
        for tensor in (self._x, *self._weights.values()):
            tensor.grad = None

    def several(self) -> None:
        """STEPS of them."""
        for _ in range(STEPS):
            self()


def kernels_of(bench: Bench, step: Step) -> int:
    """Kernels that one step launches, as PyTorch's profiler sees them on the GPU."""
    from torch.autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    bench.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        step()
        bench.synchronize()
    events = list(seen.events())
    on_gpu = [
        event.name
        for event in events
        if event.device_type == DeviceType.CUDA
        and not event.name.startswith(("Memcpy", "Memset", "Context Sync", "Event"))
    ]
    launches = [event.name for event in events if "LaunchKernel" in event.name]
    print(f"a step: {len(on_gpu)} kernels, {len(launches)} launches", flush=True)
    count = max(len(launches), len(on_gpu))
    if count == 0:
        raise RuntimeError("the profiler saw no kernel")
    return count


def count_kernels(bench: Bench, variant: str, step: Step, timing: Timing) -> None:
    """The sample of a timed step: seconds of each of its kernels."""
    if not bench.cuda:
        raise RuntimeError("a CPU launches no kernels")
    count = kernels_of(bench, step)
    sample = Sample("launch", "kernel_call", variant, streams=count)
    each = Timing(timing.seconds / count, timing.spread_s / count, timing.repeats)
    bench.add(sample, each)


def measure(bench: Bench) -> None:
    """Counted last: a profiler that was on once may slow every later launch."""
    bench.attempt("launch kernel_call eager", partial(time_chain, bench))
    bench.attempt("launch graph_call torch", partial(time_graph, bench))
    timed: list[tuple[str, Step, Timing]] = []

    def time_step(variant: str) -> None:
        step = Step(bench, variant == "compiled")
        timed.append((variant, step, queued(bench, step.several, STEPS)))

    for variant in ("eager_autograd", "compiled"):
        needs_s = 2 * COMPILING_S if variant == "compiled" else 0.0
        bench.attempt(f"launch kernel_call {variant}", partial(time_step, variant), needs_s)
    for variant, step, timing in timed:
        name = f"launch kernel_call {variant} count"
        bench.attempt(name, partial(count_kernels, bench, variant, step, timing))
