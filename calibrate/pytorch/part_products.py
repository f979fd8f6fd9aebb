"""Matrix products as PyTorch asks its libraries for them: of linear layers, in fp8, of experts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from part_elementwise import COMPILING_S, compiled
from sample_table import Sample
from torch_timing import Bench
from traffic import fp8_cast_bytes

FP8 = torch.float8_e4m3fn
PASSES = ("forward", "input_gradient", "weight_gradient")


def linear_shapes(tiny: bool) -> list[tuple[int, int, int]]:
    """Tokens, outputs, inputs; two of twice the tokens last."""
    if tiny:
        return [(64, 48, 32)]
    widths = (
        (4096, 4096),
        (14336, 4096),
        (4096, 14336),
        (2048, 2048),
        (8192, 2048),
        (2048, 8192),
        (50304, 2048),
    )
    return [*((8192, n, k) for n, k in widths), (16384, 4096, 4096), (16384, 8192, 2048)]


def bf16_calls(bench: Bench, pass_: str, m: int, n: int, k: int) -> list[Callable[[], object]]:
    """Activations [m, k], weight [n, k] and gradient [m, n], laid out as autograd of nn.Linear
    hands them on."""
    calls: list[Callable[[], object]] = []
    for _ in range(bench.sets(2.0 * (m * n + n * k + m * k))):
        x, w, g = bench.random(m, k), bench.random(n, k), bench.random(m, n)
        pairs = {"forward": (x, w.t()), "input_gradient": (g, w), "weight_gradient": (g.t(), x)}
        calls.append(partial(torch.mm, *pairs[pass_]))
    return calls


def time_linear(bench: Bench, pass_: str, m: int, n: int, k: int) -> None:
    """One pass of a linear layer without bias, bf16."""
    timing = bench.time(bf16_calls(bench, pass_, m, n, k), capturable=True)
    bench.add(Sample("gemm", pass_, "torch", "bf16", m=m, n=n, k=k, batch=1), timing)


def time_scaled(bench: Bench, variant: str, m: int, n: int, k: int) -> None:
    """fp8 [m, k] times the transpose of [n, k], to bf16; one scale for all, or one a row of each
    operand; sums in the tensor cores' own precision, as training uses them forward."""
    calls: list[Callable[[], object]] = []
    for _ in range(bench.sets(1.0 * (m * k + n * k) + 2.0 * m * n)):
        x, w = bench.random(m, k, dtype=FP8), bench.random(n, k, dtype=FP8)
        rows = variant == "torch_row"
        scale_x = torch.rand((m, 1) if rows else (), device=bench.device) + 0.5
        scale_w = torch.rand((1, n) if rows else (), device=bench.device) + 0.5
        calls.append(
            partial(
                torch._scaled_mm,
                x,
                w.t(),
                scale_a=scale_x,
                scale_b=scale_w,
                out_dtype=torch.bfloat16,
                use_fast_accum=True,
            )
        )
    timing = bench.time(calls, capturable=True)
    bench.add(Sample("gemm", "forward", variant, "fp8", m=m, n=n, k=k, batch=1), timing)


def fp8_cast(x: torch.Tensor) -> torch.Tensor:
    """[m, k] of any format, scaled so that its largest value is fp8's largest."""
    largest = torch.finfo(FP8).max
    scale = largest / torch.max(torch.abs(x)).float().clamp(min=1e-12)
    return (x.to(torch.float32) * scale).clamp(-largest, largest).to(FP8)


def time_cast(bench: Bench, variant: str, m: int, k: int) -> None:
    """One operand of an fp8 product, scaled by its own largest value."""
    function = compiled(fp8_cast) if variant == "compiled" else fp8_cast
    inputs = [bench.random(m, k) for _ in range(bench.sets(3.0 * m * k))]
    timing = bench.time([partial(function, x) for x in inputs])
    moved = fp8_cast_bytes(variant, m * k)
    bench.add(Sample("memory", "fp8_cast_forward", variant, bytes=moved), timing)


def time_grouped(bench: Bench, experts: int, rows: int, n: int, k: int) -> None:
    """Each expert's [rows, k] times the transpose of its [n, k], bf16, all in one call."""
    grouped = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    ends = torch.arange(1, experts + 1, device=bench.device, dtype=torch.int32) * rows
    calls: list[Callable[[], object]] = []
    for _ in range(bench.sets(2.0 * experts * (rows * (n + k) + n * k))):
        x = bench.random(experts * rows, k)
        w = bench.random(experts, n, k).transpose(-2, -1)
        calls.append(partial(grouped, x, w, offs=ends))
    sample = Sample("gemm", "forward", "torch_grouped", "bf16", m=rows, n=n, k=k, batch=experts)
    bench.add(sample, bench.time(calls))


def measure(bench: Bench) -> None:
    """bf16 first, then what newer interfaces do, then what compiles."""
    shapes = linear_shapes(bench.tiny)
    for m, n, k in shapes:
        for pass_ in PASSES:
            name = f"gemm {pass_} torch {m} x {n} x {k}"
            bench.attempt(name, partial(time_linear, bench, pass_, m, n, k))
    for m, n, k in shapes:
        for variant in ("torch_tensor", "torch_row"):
            name = f"gemm forward {variant} {m} x {n} x {k}"
            bench.attempt(name, partial(time_scaled, bench, variant, m, n, k))
    for n, k in ((32, 64),) if bench.tiny else ((1024, 2048), (4096, 1024)):
        for experts in (2, 4) if bench.tiny else (8, 64):
            rows = (128 if bench.tiny else 16384) // experts
            name = f"gemm forward torch_grouped {experts} x {rows} x {n} x {k}"
            bench.attempt(name, partial(time_grouped, bench, experts, rows, n, k))
    for variant in ("eager", "compiled"):
        for m, k in ((64, 64),) if bench.tiny else ((8192, 4096), (8192, 14336)):
            name = f"fp8_cast {variant} {m} x {k}"
            needs_s = COMPILING_S if variant == "compiled" else 0.0
            bench.attempt(name, partial(time_cast, bench, variant, m, k), needs_s)
