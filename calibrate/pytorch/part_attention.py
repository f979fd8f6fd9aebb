"""Causal attention, forward and backward, by the libraries that PyTorch chooses among."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.nn.functional as F
from sample_table import Sample
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch_timing import Bench
from traffic import sequences


@dataclass(frozen=True)
class Shape:
    """Of queries [batch, query_heads, sequence, head_dim], and the heads of keys and values."""

    batch: int
    sequence: int
    query_heads: int
    key_value_heads: int
    head_dim: int


def shapes(tiny: bool) -> list[Shape]:
    """The most important first."""
    if tiny:
        return [Shape(2, 256, 4, 4, 64), Shape(1, 256, 4, 2, 128)]
    out = [Shape(4, 4096, 16, 8, 256), Shape(4, 4096, 8, 8, 512)]
    for sequence in (4096, 8192, 2048, 1024, 16384, 32768):
        for head_dim, heads in ((128, 32), (64, 32), (128, 16)):
            for key_value_heads in (heads, 8):
                out.append(Shape(sequences(sequence), sequence, heads, key_value_heads, head_dim))
    return out


def heads_of(bench: Bench, shape: Shape, heads: int) -> torch.Tensor:
    """[batch, heads, sequence, head_dim] as a view of [batch, sequence, heads, head_dim], as a
    linear layer leaves it."""
    x = bench.random(shape.batch, shape.sequence, heads, shape.head_dim)
    return x.transpose(1, 2).requires_grad_()


def attention(shape: Shape, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """[batch, query_heads, sequence, head_dim] of all three, causal."""
    grouped = shape.query_heads != shape.key_value_heads
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=grouped)


def time_both_ways(bench: Bench, shape: Shape, variant: str) -> None:
    """Two samples; the backward pass alone, from gradients of the result to those of the three."""
    sample = Sample(
        "attention",
        "forward",
        variant,
        "bf16",
        batch=shape.batch,
        sequence=shape.sequence,
        query_heads=shape.query_heads,
        key_value_heads=shape.key_value_heads,
        head_dim=shape.head_dim,
        causal=True,
    )
    heads = 2 * shape.query_heads + 2 * shape.key_value_heads
    set_bytes = 2.0 * shape.batch * shape.sequence * shape.head_dim * heads
    inputs = [
        (
            heads_of(bench, shape, shape.query_heads),
            heads_of(bench, shape, shape.key_value_heads),
            heads_of(bench, shape, shape.key_value_heads),
        )
        for _ in range(bench.sets(set_bytes))
    ]
    bench.add(sample, bench.time([partial(attention, shape, *qkv) for qkv in inputs]))
    backward = []
    for qkv in inputs:
        out = attention(shape, *qkv)
        gradient = torch.randn_like(out)
        backward.append(partial(torch.autograd.grad, out, qkv, gradient, retain_graph=True))
    bench.add(replace(sample, op="backward"), bench.time(backward))


def time_shape(bench: Bench, shape: Shape, variant: str, backend: SDPBackend) -> None:
    """Both passes by one library; the reasons why it refuses are PyTorch's warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with sdpa_kernel([backend]):
                time_both_ways(bench, shape, variant)
        except RuntimeError as fault:
            reasons = [str(warning.message).split(" (Triggered")[0] for warning in said]
            raise RuntimeError("; ".join([str(fault), *reasons])) from None


def measure(bench: Bench) -> None:
    """All shapes by both libraries; by the third only what is too wide for the others."""
    backends = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    for shape in shapes(bench.tiny):
        wide = {"efficient": SDPBackend.EFFICIENT_ATTENTION} if shape.head_dim > 256 else {}
        for variant, backend in (wide or backends).items():
            name = (
                f"attention {variant} {shape.batch} x {shape.sequence} heads {shape.query_heads} "
                f"of {shape.key_value_heads} width {shape.head_dim}"
            )
            bench.attempt(name, partial(time_shape, bench, shape, variant, backend))
