"""Which training steps are timed, and the Headway scenario of each. Needs neither PyTorch nor a
GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Model:
    """A decoder as both PyTorch and Headway build it: RMSNorm, rotary positions, gated MLP, no
    biases."""

    name: str
    layers: int
    hidden: int
    heads: int
    key_value_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    tied_embeddings: bool

    @property
    def parameters(self) -> int:
        """Weights: embedding, per layer q, k, v, projection, three MLP matrices and two norms, last
        norm, output."""
        query = self.heads * self.head_dim
        key_value = self.key_value_heads * self.head_dim
        layer = (
            self.hidden * (query + 2 * key_value)
            + query * self.hidden
            + 3 * self.hidden * self.ffn
            + 2 * self.hidden
        )
        embeddings = self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)
        return embeddings + self.layers * layer + self.hidden


# From 125 million to 3 billion parameters; widths, groups and vocabularies of published models, so
# that no two have the same mix of products, attention and logits.
MODELS = (
    Model("125M", 12, 768, 12, 12, 64, 2048, 50304, tied_embeddings=True),
    Model("360M", 24, 1024, 16, 16, 64, 2816, 50304, tied_embeddings=True),
    Model("760M", 24, 1536, 12, 12, 128, 4096, 50304, tied_embeddings=False),
    Model("1.1B", 22, 2048, 32, 4, 64, 5632, 32000, tied_embeddings=False),
    Model("1.2B", 16, 2048, 32, 8, 64, 8192, 128256, tied_embeddings=True),
    Model("1.7B", 24, 2048, 32, 32, 64, 8192, 49152, tied_embeddings=True),
    Model("3.2B", 28, 3072, 24, 8, 128, 8192, 128256, tied_embeddings=True),
)


@dataclass(frozen=True)
class Case:
    """One training step on one GPU: `micro_batches` of `micro_batch` sequences, then the
    optimizer."""

    model: Model
    sequence: int
    micro_batch: int
    micro_batches: int
    recompute: bool = False
    cuda_graphs: bool = False

    @property
    def name(self) -> str:
        """Such as "1.1B s2048 b4 x2 recompute graphs"."""
        words = [
            self.model.name,
            f"s{self.sequence}",
            f"b{self.micro_batch}",
            f"x{self.micro_batches}",
        ]
        words += ["recompute"] if self.recompute else []
        words += ["graphs"] if self.cuda_graphs else []
        return " ".join(words)

    @property
    def tokens(self) -> int:
        """Of one step."""
        return self.sequence * self.micro_batch * self.micro_batches


def cases(quick: bool = False) -> list[Case]:
    """Every model plain at two micro-batches, with recomputation, and with CUDA graphs; quickly:
    one case a model.

    Small models take larger micro-batches, so that no step is all launch and none fills the memory
    of an 80 GB GPU.
    """
    out = []
    for model in MODELS:
        small = model.parameters < 5e8
        large_batch = 16 if small else 8 if model.parameters < 1.5e9 else 4
        plain = Case(model, 2048, large_batch // 2, 4)
        out.append(plain)
        if quick:
            continue
        out.append(Case(model, 2048, large_batch // 4, 4))
        out.append(Case(model, 2048, large_batch, 2, recompute=True))
        out.append(Case(model, 2048, large_batch // 4, 4, cuda_graphs=True))
        out.append(Case(model, 4096, max(1, large_batch // 8), 4))
    return out


# What torch_step.py does, in Headway's words. Not speeds: those come from the catalogue or the
# profile.
FRAMEWORK = {
    "name": "plain PyTorch",
    "attention_kernels": "flash2",
    "loss": "separate",
    "elementwise": "eager",
    "gradient_bytes": 4,
    "step_overhead": "0 s",
}


@dataclass(frozen=True)
class Machine:
    """Where the steps run, as the catalogue names it."""

    node: str = "dgx-h100"
    calibration: str | None = None
    overrides: dict[str, object] = field(default_factory=dict)


def node_of(device: str) -> str | None:
    """The catalogue's node whose GPU the driver calls `device`; None if the catalogue has none."""
    for words, node in (
        ("H100", "dgx-h100"),
        ("H200", "dgx-h200"),
        ("B200", "dgx-b200"),
        ("A100", "dgx-a100"),
    ):
        if words in device and "PCIe" not in device:
            return node
    return None


def scenario(case: Case, machine: Machine) -> dict[str, object]:
    """The scenario of `case`, as the keys of a Headway file."""
    model = case.model
    out: dict[str, object] = {
        "headway": 1,
        "name": case.name,
        "cluster": {
            "nodes": 1,
            "node": {"use": machine.node, "gpus": 1, "nic": {"count": 1, "bandwidth": "400 Gbps"}},
            "fabric": {"use": "rail-optimized-ndr"},
            "storage": {"use": "nfs-small"},
        },
        "model": {
            "name": model.name,
            "layers": model.layers,
            "hidden": model.hidden,
            "heads": model.heads,
            "key_value_heads": model.key_value_heads,
            "head_dim": model.head_dim,
            "ffn": model.ffn,
            "vocabulary": model.vocabulary,
            "tied_embeddings": model.tied_embeddings,
        },
        "training": {
            "sequence_length": case.sequence,
            "global_batch": case.micro_batch * case.micro_batches,
            "precision": "bf16",
            "framework": {**FRAMEWORK, "cuda_graphs": case.cuda_graphs},
        },
        "parallelism": {
            "sharding": "zero0",
            "micro_batch": case.micro_batch,
            "recompute": "full" if case.recompute else "none",
        },
    }
    if machine.calibration is not None:
        out["calibration"] = {"use": machine.calibration}
    out.update(machine.overrides)
    return out


def scenario_text(case: Case, machine: Machine) -> str:
    """The file: JSON is YAML, and every string in it stays a string."""
    return json.dumps(scenario(case, machine), indent=2) + "\n"
