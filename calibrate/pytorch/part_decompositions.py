"""Eigenvalues and orthogonal bases of square matrices by PyTorch's solver: what Shampoo and SOAP
ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from sample_table import Sample
from torch_timing import Bench
from traffic import DECOMPOSITIONS, decomposition_bytes

#: Sides, and matrices in one call: widths of layers, blocks of Shampoo; the most important first.
SIZES = ((1024, 1), (2048, 1), (1024, 8), (512, 1), (4096, 1), (256, 16), (768, 61))
TINY_SIZES = ((16, 1), (16, 4))


def eigenvalues(matrices: torch.Tensor) -> object:
    """And vectors, of [batch, side, side] symmetric matrices."""
    return torch.linalg.eigh(matrices)


def basis(matrices: torch.Tensor) -> object:
    """Orthogonal columns of [batch, side, side]."""
    return torch.linalg.qr(matrices)


def time_one(bench: Bench, op: str, side: int, count: int) -> None:
    """One sample; of one matrix the call is that of a matrix alone."""
    shape = (count, side, side) if count > 1 else (side, side)
    x = bench.random(*shape, dtype=torch.float32)
    call: Callable[[torch.Tensor], object] = basis
    if op == "eigenvalues":
        x = x @ x.mT / side
        call = eigenvalues
    moved = count * decomposition_bytes(op, side)
    sample = Sample("optimizer", op, "torch", "fp32", m=side, n=side, batch=count, bytes=moved)
    bench.add(sample, bench.time([partial(call, x)]))


def measure(bench: Bench) -> None:
    """Both of every size."""
    for side, count in TINY_SIZES if bench.tiny else SIZES:
        for op in DECOMPOSITIONS:
            name = f"{op} {count} x {side} x {side}"
            bench.attempt(name, partial(time_one, bench, op, side, count))
            bench.release()
