"""A decoder's training step in plain PyTorch, as cases.FRAMEWORK describes it to Headway.

bf16 weights and activations; flash attention; fp32 gradients accumulated beside the weights (as
Megatron's main gradients), fp32 master weights and moments, fused AdamW; nothing else is fused.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable

import torch
import torch.nn.functional as F
from cases import Case, Model
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary positions on [batch, heads, sequence, head_dim]."""
    left, right = x.chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, left * sin + right * cos), dim=-1)


class Layer(nn.Module):
    """Attention and gated MLP with a norm before each."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.query_width = model.heads * model.head_dim
        self.key_width = model.key_value_heads * model.head_dim
        self.attention_norm = nn.RMSNorm(model.hidden, eps=1e-5)
        self.qkv = nn.Linear(model.hidden, self.query_width + 2 * self.key_width, bias=False)
        self.projection = nn.Linear(self.query_width, model.hidden, bias=False)
        self.mlp_norm = nn.RMSNorm(model.hidden, eps=1e-5)
        self.gate_up = nn.Linear(model.hidden, 2 * model.ffn, bias=False)
        self.down = nn.Linear(model.ffn, model.hidden, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """[batch, sequence, hidden] -> the same."""
        batch, sequence, _ = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).split(
            [self.query_width, self.key_width, self.key_width], -1
        )
        heads = [
            t.view(batch, sequence, -1, self.model.head_dim).transpose(1, 2) for t in (q, k, v)
        ]
        out = F.scaled_dot_product_attention(
            rotated(heads[0], cos, sin),
            rotated(heads[1], cos, sin),
            heads[2],
            is_causal=True,
            enable_gqa=self.model.heads != self.model.key_value_heads,
        )
        x = x + self.projection(out.transpose(1, 2).reshape(batch, sequence, -1))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    """Embedding, layers, last norm, logits, loss."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        model = case.model
        self.recompute = case.recompute
        self.embedding = nn.Embedding(model.vocabulary, model.hidden)
        self.layers = nn.ModuleList(Layer(model) for _ in range(model.layers))
        self.norm = nn.RMSNorm(model.hidden, eps=1e-5)
        self.output = nn.Linear(model.hidden, model.vocabulary, bias=False)
        if model.tied_embeddings:
            self.output.weight = self.embedding.weight
        angles = torch.outer(
            torch.arange(case.sequence),
            10000 ** -(torch.arange(0, model.head_dim, 2) / model.head_dim),
        )
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Mean loss of the micro-batch."""
        x = self.embedding(tokens)
        for layer in self.layers:
            if self.recompute:
                x = checkpoint(layer, x, self.cos, self.sin, use_reentrant=False)
            else:
                x = layer(x, self.cos, self.sin)
        logits = self.output(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class Trainer:
    """One case: the model, its fp32 state and the step."""

    def __init__(self, case: Case) -> None:
        torch.manual_seed(1)
        self.case = case
        device = torch.device("cuda")
        self.model = Decoder(case).to(device=device, dtype=torch.bfloat16)
        self.weights = list(self.model.parameters())  # a tied weight once
        self.gradients = [torch.zeros_like(w, dtype=torch.float32) for w in self.weights]
        self.masters = [w.detach().float().clone() for w in self.weights]
        for weight, gradient, master in zip(
            self.weights, self.gradients, self.masters, strict=True
        ):
            master.grad = gradient
            weight.register_post_accumulate_grad_hook(self._accumulator(gradient))
        self.optimizer = torch.optim.AdamW(self.masters, lr=1e-4, fused=True)
        shape = (case.micro_batch, case.sequence)
        self.tokens = torch.randint(case.model.vocabulary, shape, device=device)
        self.targets = torch.randint(case.model.vocabulary, shape, device=device)
        self.graph = self._captured() if case.cuda_graphs else None

    @staticmethod
    def _accumulator(gradient: torch.Tensor) -> Callable[[torch.Tensor], None]:
        def accumulate(weight: torch.Tensor) -> None:
            gradient.add_(weight.grad)
            weight.grad = None

        return accumulate

    def micro_batch(self) -> None:
        """Forward and backward of one micro-batch."""
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            loss = self.model(self.tokens, self.targets) / self.case.micro_batches
            loss.backward()

    def _captured(self) -> torch.cuda.CUDAGraph:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.micro_batch()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.micro_batch()
        return graph

    def step(self) -> None:
        """All micro-batches, then the optimizer: clip by the norm of all gradients, update, round
        to bf16."""
        for _ in range(self.case.micro_batches):
            if self.graph is None:
                self.micro_batch()
            else:
                self.graph.replay()
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(self.gradients)))
        torch._foreach_mul_(self.gradients, torch.clamp(1.0 / (norm + 1e-6), max=1.0))
        self.optimizer.step()
        with torch.no_grad():
            torch._foreach_copy_(self.weights, self.masters)
        torch._foreach_zero_(self.gradients)


def time_case(case: Case, steps: int) -> tuple[float, float, int, int]:
    """Median and interquartile range of a step [s], peak bytes allocated and reserved.

    Every step lies between two events; the CPU never waits inside one. Random tokens: the loss
    means nothing, the work is that of training.
    """
    torch.cuda.empty_cache()
    trainer = Trainer(case)
    for _ in range(3):
        trainer.step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        trainer.step()
        event.record()
    torch.cuda.synchronize()
    seconds = sorted(1e-3 * a.elapsed_time(b) for a, b in itertools.pairwise(events))
    quartiles = statistics.quantiles(seconds, n=4, method="inclusive")
    peak = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    del trainer
    torch.cuda.empty_cache()
    return statistics.median(seconds), quartiles[2] - quartiles[0], *peak
