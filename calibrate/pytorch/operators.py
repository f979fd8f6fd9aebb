"""The operators between a decoder's products as eager PyTorch composes them, and as Headway counts
them (sim/workload/elementwise): timed alone here, in whole steps by calibrate/validate."""

from __future__ import annotations

import torch
import torch.nn.functional as F

EPSILON = 1e-5


def composed_rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[tokens, hidden]; Hugging Face's LlamaRMSNorm."""
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    wide = wide * torch.rsqrt(variance + EPSILON)
    return weight * wide.to(x.dtype)


def complex_rotary(x: torch.Tensor, turns: torch.Tensor) -> torch.Tensor:
    """[batch, sequence, heads, head_dim] by complex [sequence, head_dim / 2]; torchtitan's
    apply_rotary_emb of queries."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turned = torch.view_as_real(pairs * turns.view(1, x.shape[1], 1, -1))
    return turned.flatten(3).type_as(x)


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """[tokens, ffn] of both."""
    return F.silu(gate) * up
