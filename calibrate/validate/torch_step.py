"""A decoder's training step in plain PyTorch, as cases.FRAMEWORK describes it to Headway.

bf16 weights and activations; FlashAttention-2; fp32 gradients accumulated beside the weights, fp32
master weights and moments, gradients clipped by their norm, fused AdamW.
"""

from __future__ import annotations

import gc
import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from cases import Case
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch_models import decoder, loss_of, turn_of


@dataclass(frozen=True)
class KernelTime:
    """All launches of one kernel in one step."""

    name: str
    count: int
    seconds: float


@dataclass(frozen=True)
class StepTime:
    """What one case took."""

    time_s: float  #: median
    spread_s: float  #: interquartile range
    peak_bytes: int  #: allocated, at the worst moment of a step
    reserved_bytes: int  #: held by the allocator, at the same
    kernels: list[KernelTime] = field(default_factory=list)  #: of one more step, longest first
    held_bytes: int = 0  #: allocated before the case began, by earlier ones


class Trainer:
    """One case: the model, its fp32 state and the step."""

    def __init__(self, case: Case, device: torch.device) -> None:
        torch.manual_seed(1)
        self.case = case
        self.model = decoder(case, device)
        self.loss = loss_of(case)
        self.turn = turn_of(case, device)
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
        self.graph: torch.cuda.CUDAGraph | None = None

    @staticmethod
    def _accumulator(gradient: torch.Tensor) -> Callable[[torch.Tensor], None]:
        def accumulate(weight: torch.Tensor) -> None:
            gradient.add_(weight.grad)
            weight.grad = None

        return accumulate

    def micro_batch(self) -> None:
        """Forward and backward of one micro-batch."""
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            logits = self.model(self.tokens, self.turn)  # the caller of a model has them throughout
            loss = self.loss(logits, self.targets) / self.case.micro_batches
            loss.backward()

    def capture(self) -> None:
        """Records the micro-batch; steps replay it from then on. Something must have run before,
        so that the optimizer's state and compiled kernels exist."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.micro_batch()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.micro_batch()
        self.graph = graph

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


def kernels_of(step: Callable[[], None]) -> list[KernelTime]:
    """What ran on the GPU in one step, by kernel, longest first."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        step()
        torch.cuda.synchronize()
    found: dict[str, list[float]] = {}
    for event in profiled.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            found.setdefault(event.name, []).append(1e-6 * event.device_time_total)
    kernels = [KernelTime(name, len(times), sum(times)) for name, times in found.items()]
    return sorted(kernels, key=lambda kernel: -kernel.seconds)


def time_case(case: Case, steps: int) -> StepTime:
    """Times `steps` steps of a case.

    Every step lies between two events; the CPU never waits inside one. Random tokens: the loss
    means nothing, the work is that of training. A recorded graph's arrays are counted while it is
    recorded: its replays ask the allocator for nothing.
    """
    torch._dynamo.reset()  # else shapes of earlier cases count against this one
    gc.collect()  # compiled graphs of earlier cases hold arrays
    torch.cuda.empty_cache()
    held = torch.cuda.memory_allocated()
    trainer = Trainer(case, torch.device("cuda"))
    trainer.step()
    if case.cuda_graphs:
        torch.cuda.reset_peak_memory_stats()
        trainer.capture()
    trainer.step()
    torch.cuda.synchronize()
    if not case.cuda_graphs:
        torch.cuda.reset_peak_memory_stats()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        trainer.step()
        event.record()
    torch.cuda.synchronize()
    seconds = sorted(1e-3 * a.elapsed_time(b) for a, b in itertools.pairwise(events))
    quartiles = statistics.quantiles(seconds, n=4, method="inclusive") if steps > 1 else [0, 0, 0]
    peak = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    spread_s = quartiles[2] - quartiles[0]
    return StepTime(statistics.median(seconds), spread_s, *peak, kernels_of(trainer.step), held)
