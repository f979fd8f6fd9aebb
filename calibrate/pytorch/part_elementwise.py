"""The operators between the products of a decoder's layer, and the loss: as PyTorch composes them,
and as torch.compile fuses them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from operators import EPSILON, complex_rotary, composed_rms_norm, swiglu
from sample_table import Sample
from torch_timing import Bench
from traffic import operator_bytes

Function = Callable[..., torch.Tensor]
#: An operator does not begin to be compiled with less time left.
COMPILING_S = 2.0


def compiled(function: Function) -> Function:
    """One graph of static shapes; forgets earlier ones, and keeps what a backward pass that is
    called again needs."""
    import torch._functorch.config as functorch

    torch._dynamo.reset()
    functorch.donated_buffer = False
    graph: Function = torch.compile(function, fullgraph=True, dynamic=False)
    return graph


def library_rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[tokens, hidden]; what nn.RMSNorm calls."""
    return F.rms_norm(x, (x.shape[-1],), weight, EPSILON)


def half_rotary(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """[batch, sequence, heads, head_dim] by fp32 [sequence, 1, head_dim]; rotate_half."""
    left, right = x.chunk(2, dim=-1)
    return (x * cos + torch.cat((-right, left), dim=-1) * sin).type_as(x)


def residual(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """[tokens, hidden] of both; backward the two gradients of a branch are added just so."""
    return x + y


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean over [tokens, vocabulary]."""
    return F.cross_entropy(logits.float(), targets)


@dataclass(frozen=True)
class Work:
    """One operator on one shape by one variant."""

    op: str
    variant: str
    tokens: int
    width: int  #: hidden, heads x 128, ffn, vocabulary
    function: Function

    @property
    def elements(self) -> int:
        return self.tokens * self.width

    def inputs(self, bench: Bench) -> tuple[tuple[torch.Tensor, ...], int]:
        """Arguments of the function, and how many of the first of them have gradients."""
        x = bench.random(self.tokens, self.width, grad=True)
        if self.op == "rms_norm":
            return (x, bench.random(self.width, grad=True)), 2
        if self.op == "rotary":
            head_dim = 128
            x = bench.random(1, self.tokens, self.width // head_dim, head_dim, grad=True)
            angles = bench.random(self.tokens, 1, head_dim, dtype=torch.float32)
            if self.variant == "compiled":
                return (x, angles.cos(), angles.sin()), 1
            half = angles[:, 0, : head_dim // 2]
            return (x, torch.polar(torch.ones_like(half), half)), 1
        if self.op == "swiglu":
            return (x, bench.random(self.tokens, self.width, grad=True)), 2
        if self.op == "residual":
            return (x.detach(), bench.random(self.tokens, self.width)), 0
        targets = torch.randint(self.width, (self.tokens,), device=bench.device)
        return (x, targets), 1


def time_work(bench: Bench, work: Work) -> None:
    """Two samples: the pass forward, as training runs it, and backward alone."""
    function = compiled(work.function) if work.variant == "compiled" else work.function
    sets = [work.inputs(bench) for _ in range(bench.sets(4.0 * work.elements))]
    forward: list[Callable[[], object]] = [partial(function, *inputs) for inputs, _ in sets]
    keep(bench, work, "forward", forward)
    backward: list[Callable[[], object]] = []
    for inputs, differentiable in sets:
        if differentiable == 0:
            backward.append(partial(function, *inputs))
            continue
        out = function(*inputs)
        gradient = torch.rand_like(out) + 0.5 if out.dim() == 0 else torch.randn_like(out)
        backward.append(
            partial(torch.autograd.grad, out, inputs[:differentiable], gradient, retain_graph=True)
        )
    keep(bench, work, "backward", backward)


def keep(bench: Bench, work: Work, direction: str, calls: list[Callable[[], object]]) -> None:
    """Times one pass and keeps the sample."""
    moved = operator_bytes(work.op, work.variant, direction == "backward", work.elements)
    sample = Sample("memory", f"{work.op}_{direction}", work.variant, bytes=moved)
    bench.add(sample, bench.time(calls))


def works(tiny: bool) -> list[Work]:
    """The composed ones first: the others compile for seconds each."""
    tokens, loss_tokens = (128, 64) if tiny else (8192, 4096)
    widths: dict[str, tuple[int, ...]] = {
        "rms_norm": (256,) if tiny else (2048, 4096),
        "rotary": (512,) if tiny else (4096,),
        "swiglu": (512,) if tiny else (8192, 14336),
        "residual": (256,) if tiny else (2048, 4096),
        "cross_entropy": (512,) if tiny else (50304, 128256),
    }
    eager: dict[str, Function] = {
        "rms_norm": composed_rms_norm,
        "rotary": complex_rotary,
        "swiglu": swiglu,
        "residual": residual,
        "cross_entropy": cross_entropy,
    }
    plans = [("eager", op, function) for op, function in eager.items()]
    plans += [("eager_fused", "rms_norm", library_rms_norm)]
    plans += [
        ("compiled", op, function) for op, function in {**eager, "rotary": half_rotary}.items()
    ]
    out = []
    for late in (False, True):
        for variant, op, function in plans:
            # What compiles does so for every op's last shape, the large one, before any other.
            for width in widths[op][-1:] if not late else widths[op][:-1]:
                count = loss_tokens if op == "cross_entropy" else tokens
                out.append(Work(op, variant, count, width, function))
    return out


def measure(bench: Bench) -> None:
    """All of them."""
    for work in works(bench.tiny):
        name = f"{work.op} {work.variant} {work.tokens} x {work.width}"
        needs_s = COMPILING_S if work.variant == "compiled" else 0.0
        bench.attempt(name, partial(time_work, bench, work), needs_s)
