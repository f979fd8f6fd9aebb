"""Optimizer steps over the weights of a decoder, the clipping before, the rounding after."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from sample_table import Sample
from torch_timing import Bench
from traffic import OPTIMIZER_BYTES, decoder_shapes, parameters

Tensors = list[torch.Tensor]


def optimizer_shapes(tiny: bool) -> list[tuple[int, ...]]:
    """Those of Llama 3.2 1B: 1,235,814,400 weights in 146 arrays; the embedding first."""
    if tiny:
        return decoder_shapes(2, 64, 128, 32, 256)
    return decoder_shapes(16, 2048, 8192, 512, 128256)


def with_gradients(bench: Bench, shapes: list[tuple[int, ...]], dtype: torch.dtype) -> Tensors:
    """Weights whose gradients are of the same format."""
    weights = []
    for shape in shapes:
        weight = bench.random(*shape, dtype=dtype, grad=True)
        weight.grad = bench.random(*shape, dtype=dtype)
        weights.append(weight)
    return weights


def time_step(bench: Bench, sample: Sample, optimizer: Any) -> None:
    """One sample of an optimizer's step."""
    bench.add(sample, bench.time([optimizer.step]))


def time_adam(bench: Bench, weights: Tensors, variant: str, count: int) -> None:
    """AdamW of PyTorch on fp32 weights: one kernel, or a kernel an operator, over many arrays."""
    optimizer = torch.optim.AdamW(weights, lr=1e-5, **{variant: True})
    sample = Sample("optimizer", "adam", variant, "fp32", bytes=OPTIMIZER_BYTES["adam"] * count)
    time_step(bench, sample, optimizer)


def time_adam8bit(bench: Bench, weights: Tensors, count: int) -> None:
    """AdamW of torchao with moments of a byte."""
    optimizer = importlib.import_module("torchao.optim").AdamW8bit(weights, lr=1e-5)
    moved = OPTIMIZER_BYTES["adam8bit"] * count
    time_step(bench, Sample("optimizer", "adam", "adam8bit", "fp32", bytes=moved), optimizer)


def time_clip(bench: Bench, weights: Tensors, count: int) -> None:
    """The norm of all gradients, and the product that clipping does whether it clips or not."""
    gradients = [weight.grad for weight in weights]

    def clip() -> None:
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        torch._foreach_mul_(gradients, torch.clamp(1e9 / (norm + 1e-6), max=1.0))

    moved = OPTIMIZER_BYTES["clip"] * count
    bench.add(Sample("optimizer", "clip", "foreach", "fp32", bytes=moved), bench.time([clip]))


def time_master_copy(bench: Bench, weights: Tensors, count: int) -> None:
    """fp32 weights rounded to those of the next forward pass."""
    masters = [weight.detach() for weight in weights]
    rounded = [torch.empty_like(weight, dtype=torch.bfloat16) for weight in masters]
    moved = OPTIMIZER_BYTES["master_copy"] * count
    timing = bench.time([partial(torch._foreach_copy_, rounded, masters)])
    bench.add(Sample("optimizer", "master_copy", "foreach", "bf16", bytes=moved), timing)


def time_muon(bench: Bench, precision: str) -> None:
    """Muon of PyTorch on the matrices of the layers; most of its time is in products."""
    muon = getattr(torch.optim, "Muon", None)
    if muon is None:
        raise RuntimeError("this PyTorch has no torch.optim.Muon")
    shapes: list[tuple[int, ...]] = []
    shapes += [shape for shape in optimizer_shapes(bench.tiny)[1:] if len(shape) == 2]
    dtype = torch.float32 if precision == "fp32" else torch.bfloat16
    optimizer = muon(with_gradients(bench, shapes, dtype), lr=1e-5)
    moved = OPTIMIZER_BYTES[f"muon_{precision}"] * parameters(shapes)
    time_step(bench, Sample("optimizer", "muon", "torch", precision, bytes=moved), optimizer)


def measure(bench: Bench) -> None:
    """Adam and what surrounds it on the same weights; what compiles for long comes last."""
    shapes = optimizer_shapes(bench.tiny)
    count = parameters(shapes)
    held: list[Tensors] = []

    def allocate() -> None:
        held.append(with_gradients(bench, shapes, torch.float32))

    if bench.attempt("optimizer weights", allocate):
        measures: dict[str, Callable[[Bench, Tensors, int], None]] = {
            "adam fused": lambda b, w, c: time_adam(b, w, "fused", c),
            "adam foreach": lambda b, w, c: time_adam(b, w, "foreach", c),
            "clip": time_clip,
            "master_copy": time_master_copy,
            "muon bf16": lambda b, _w, _c: time_muon(b, "bf16"),
            "muon fp32": lambda b, _w, _c: time_muon(b, "fp32"),
            "adam adam8bit": time_adam8bit,
        }
        for name, one in measures.items():
            bench.attempt(f"optimizer {name}", partial(one, bench, held[0], count))
            bench.release()
    held.clear()
    bench.release()
