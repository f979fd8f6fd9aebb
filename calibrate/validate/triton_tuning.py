"""Shorter tuning of kernels written in Triton: a linear-attention layer has a dozen, each with up
to thirty configurations to compile and to time, which takes minutes of a GPU.

    python calibrate/validate/triton_tuning.py 3/6

compiles the fourth of six shares of the configurations that are kept for the kernels of all cases
with such layers into Triton's cache, and times none: run in several processes before the cases are
timed.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import torch
from triton.runtime.autotuner import Autotuner, Config

#: Configurations of a kernel that are tried, evenly chosen among its own.
KEPT = 6


def evenly(found: list[Config]) -> list[Config]:
    """At most KEPT of them."""
    step = max(1.0, len(found) / KEPT)
    return [found[int(step * i)] for i in range(min(KEPT, len(found)))]


def tune_among_few() -> None:
    """From now on kernels are tuned among KEPT configurations."""
    prune = Autotuner.prune_configs
    if getattr(prune, "few", False):
        return

    def pruned(self: Autotuner, kwargs: dict[str, object]) -> list[Config]:
        return evenly(prune(self, kwargs))

    pruned.few = True  # type: ignore[attr-defined]
    Autotuner.prune_configs = pruned


def compile_share(share: int, shares: int) -> None:
    """From now on tuning compiles every `shares`-th configuration, from `share` on, runs the first
    of them and times none."""
    prune = Autotuner.prune_configs

    def mine(self: Autotuner, kwargs: dict[str, object]) -> list[Config]:
        found = prune(self, kwargs)
        return found[share::shares] or found[:1]

    def compiled(self: Autotuner, *args: object, config: Config, **meta: object) -> list[float]:
        try:
            self.fn.warmup(*args, **{**meta, **config.all_kwargs()})
        except Exception as refused:  # as where it is timed: too much shared memory, say
            print(f"{self.base_fn.__name__} {config}: {refused}", file=sys.stderr)
            return [float("inf")] * 3
        return [1.0] * 3

    Autotuner.prune_configs = mine
    Autotuner._bench = compiled


def main(share: str) -> None:
    """One micro-batch of one layer of each of the cases."""
    from cases import cases
    from torch_step import Trainer

    tune_among_few()
    compile_share(*(int(part) for part in share.split("/")))
    for case in cases():
        if case.model.mixer is not None:
            short = replace(case.model, layers=1, vocabulary=1024)
            Trainer(replace(case, model=short), torch.device("cuda")).micro_batch()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main(*sys.argv[1:])
