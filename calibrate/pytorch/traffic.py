"""Bytes that operators move, as Headway's models count them, and the shapes that are measured.

Needs neither PyTorch nor a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """One pass of an operator: how often it reads or writes an array of 16-bit and one of fp32
    elements (ElementwisePass of sim/workload/elementwise/elementwise.h)."""

    arrays: int
    wide_arrays: int = 0

    @property
    def bytes(self) -> int:
        """An element."""
        return 2 * self.arrays + 4 * self.wide_arrays


@dataclass(frozen=True)
class Operator:
    """Both passes."""

    forward: Pass
    backward: Pass


#: By operator and whose kernels: composed of PyTorch's operators, or one kernel.
#: Norm, rotary and gate: sim/workload/elementwise, kComposed... and kSingle...; cross
#: entropy: loss_passes of sim/workload/blocks/kernels.cpp, `separate` and `fused`, of 16-bit
#: logits; residual: norm_backward and residual_forward there.
OPERATORS: Mapping[tuple[str, str], Operator] = {
    ("rms_norm", "composed"): Operator(Pass(4, 7), Pass(8, 17)),
    ("rms_norm", "single"): Operator(Pass(2), Pass(3)),
    ("rotary", "composed"): Operator(Pass(2, 4), Pass(2, 4)),
    ("rotary", "single"): Operator(Pass(2), Pass(2)),
    ("swiglu", "composed"): Operator(Pass(5), Pass(9)),
    ("swiglu", "single"): Operator(Pass(3), Pass(5)),
    ("residual", "composed"): Operator(Pass(3), Pass(3)),
    ("residual", "single"): Operator(Pass(3), Pass(3)),
    ("cross_entropy", "composed"): Operator(Pass(1, 5), Pass(1, 7)),
    ("cross_entropy", "single"): Operator(Pass(1), Pass(2)),
}

#: Which column of the table a variant of a sample is.
WRITTEN_BY: Mapping[str, str] = {"eager": "composed", "eager_fused": "single", "compiled": "single"}


def operator_bytes(op: str, variant: str, backward: bool, elements: int) -> float:
    """Bytes of one pass over `elements` of the operator's result (of the logits, for the loss)."""
    operator = OPERATORS[op, WRITTEN_BY[variant]]
    return float(elements * (operator.backward if backward else operator.forward).bytes)


def fp8_cast_bytes(variant: str, elements: int) -> float:
    """Bytes of scaling a 16-bit array by its own largest value and rounding it to 8 bits.

    Small letters 16-bit, capitals fp32, q 8-bit. Eager: absolute value rw, maximum r, to fp32 rW,
    scaled RW, clamped RW, rounded Rq: 33 B an element. Compiled: maximum r, the rest rq: 5 B.
    """
    return float(elements * (4 * 2 + 6 * 4 + 1 if variant == "eager" else 2 * 2 + 1))


#: Bytes a parameter that the optimizer's arithmetic has to move.
OPTIMIZER_BYTES: Mapping[str, float] = {
    "adam": 28.0,  # fp32: reads weight, gradient, two moments; writes all but the gradient
    "adam8bit": 16.0,  # the same with moments of one byte
    "muon_fp32": 20.0,  # reads weight, gradient, momentum; writes weight and momentum
    "muon_bf16": 10.0,
    "clip": 12.0,  # fp32 gradients read for the norm, read and written for the product
    "master_copy": 6.0,  # reads fp32, writes bf16
}


#: Decompositions of a square fp32 matrix (sim/workload/preconditioner).
DECOMPOSITIONS = ("eigenvalues", "basis")


def decomposition_bytes(op: str, side: int) -> float:
    """Bytes of one: half of making a matrix tridiagonal reads what is left of it, `side`^3 / 3
    numbers; a QR reads and writes its columns."""
    return 4 * side**3 / 3 if op == "eigenvalues" else 8.0 * side**2


def decoder_shapes(
    layers: int, hidden: int, ffn: int, key_width: int, vocabulary: int
) -> list[tuple[int, ...]]:
    """Weights of a decoder with tied embeddings: embedding [vocabulary, hidden] first, then each
    layer's q, k, v, projection, gate, up, down and two norms, then the last norm."""
    layer: list[tuple[int, ...]] = [
        (hidden, hidden),
        (key_width, hidden),
        (key_width, hidden),
        (hidden, hidden),
        (ffn, hidden),
        (ffn, hidden),
        (hidden, ffn),
        (hidden,),
        (hidden,),
    ]
    return [(vocabulary, hidden), *layer * layers, (hidden,)]


def parameters(shapes: list[tuple[int, ...]]) -> int:
    """Elements of all."""
    return sum(math.prod(shape) for shape in shapes)


def sequences(sequence: int, tokens: int = 16384) -> int:
    """Sequences of one attention call: about `tokens` tokens, one at least."""
    return max(1, tokens // sequence)


def rotation(set_bytes: float, cache_bytes: float, most: int = 16) -> int:
    """Sets of arrays that together exceed three times the cache, `most` at most."""
    return max(1, min(most, math.ceil(3 * cache_bytes / max(set_bytes, 1.0))))


def calls_of_batch(call_s: float, batch_s: float) -> int:
    """How many calls fill a batch, 200 at most: the GPU's queue holds about a thousand kernels."""
    return max(1, min(200, math.ceil(batch_s / max(call_s, 1e-9))))
