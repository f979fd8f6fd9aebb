"""The CPU's time to launch a kernel from PyTorch: one by one, in autograd, compiled, from a CUDA
graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from operators import swiglu
from part_elementwise import COMPILING_S, compiled, half_rotary, library_rms_norm
from sample_table import Sample
from torch_timing import Bench, Timing, summary

#: A chain's kernels: fewer than the GPU's queue holds, so that the CPU never waits for a place.
CHAIN = 500
#: Layers of two steps, whose difference is that of layers alone: a step also calls backward once.
FEW, MANY = 2, 10
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
    """Forward and backward of layers so small that the CPU sets the pace."""

    def __init__(self, bench: Bench, compile_it: bool, layers: int) -> None:
        self._function = compiled(layer) if compile_it else layer
        self._weights = [layer_weights(bench) for _ in range(layers)]
        self._x = bench.random(1, TOKENS, HIDDEN, grad=True)
        angles = bench.random(TOKENS, 1, HEAD_DIM, dtype=torch.float32)
        self._turns = (angles.cos(), angles.sin())
        self._gradient = bench.random(1, TOKENS, HIDDEN)

    def __call__(self) -> None:
        """One step; gradients are forgotten, as after an optimizer's."""
        out = self._x
        for weights in self._weights:
            out = self._function(weights, out, *self._turns)
        out.backward(self._gradient)
        self._x.grad = None
        for weights in self._weights:
            for tensor in weights.values():
                tensor.grad = None


@dataclass(frozen=True)
class Timed:
    """Steps of few and of many layers: what a layer takes is their difference."""

    variant: str
    few: Step
    many: Step
    layer: Timing  #: both passes


def time_layers(bench: Bench, variant: str) -> Timed:
    """The CPU's time of a layer's two passes."""
    few, many = (Step(bench, variant == "compiled", layers) for layers in (FEW, MANY))
    begin, end = queued(bench, few, 1), queued(bench, many, 1)
    layers = MANY - FEW
    spread = (begin.spread_s**2 + end.spread_s**2) ** 0.5 / layers
    return Timed(
        variant, few, many, Timing((end.seconds - begin.seconds) / layers, spread, end.repeats)
    )


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


def count_kernels(bench: Bench, timed: Timed) -> None:
    """The sample of timed steps: of eager layers seconds of each kernel, of compiled ones seconds
    of each of the two passes."""
    kernels = 100.0  # there are none on a CPU: the table's format is what is tried
    if bench.cuda:
        counted = kernels_of(bench, timed.many) - kernels_of(bench, timed.few)
        kernels = counted / (MANY - FEW)
    elif not bench.tiny:
        return
    compiled_ones = timed.variant == "compiled"
    parts = 2 if compiled_ones else kernels
    op = "pass_call" if compiled_ones else "kernel_call"
    streams = round(kernels / 2 if compiled_ones else kernels)
    each = Timing(timed.layer.seconds / parts, timed.layer.spread_s / parts, timed.layer.repeats)
    bench.add(Sample("launch", op, timed.variant, streams=streams), each)


def measure(bench: Bench) -> None:
    """Counted last: a profiler that was on once may slow every later launch."""
    bench.attempt("launch kernel_call eager", partial(time_chain, bench))
    bench.attempt("launch graph_call torch", partial(time_graph, bench))
    timed: list[Timed] = []

    def keep(variant: str) -> None:
        timed.append(time_layers(bench, variant))

    for variant in ("eager_autograd", "compiled"):
        needs_s = 2 * COMPILING_S if variant == "compiled" else 0.0
        bench.attempt(f"launch {variant}", partial(keep, variant), needs_s)
    for one in timed:
        bench.attempt(f"launch {one.variant} count", partial(count_kernels, bench, one))
