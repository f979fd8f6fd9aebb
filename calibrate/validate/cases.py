"""Which training steps are timed, and the Headway scenario of each. Needs neither PyTorch nor a
GPU."""

from __future__ import annotations

import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Experts:
    """A mixture in place of every MLP: each token visits `chosen` of `count` gated MLPs."""

    count: int
    chosen: int
    ffn: int


@dataclass(frozen=True)
class Mixer:
    """Kimi delta attention in place of softmax attention, in all layers but every `period`-th."""

    heads: int
    width: int  #: of a key, of a value and of the two gates' inner layer
    period: int
    convolution: int = 4  #: tokens that the causal convolution sees


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
    experts: Experts | None = None
    mixer: Mixer | None = None

    def has_mixer(self, layer: int) -> bool:
        """Whether layer `layer`, counted from 0, has the mixer instead of attention."""
        return self.mixer is not None and (layer + 1) % self.mixer.period != 0

    @property
    def attention_parameters(self) -> int:
        """Of q, k, v and the projection."""
        query = self.heads * self.head_dim
        return (
            self.hidden * (query + 2 * self.key_value_heads * self.head_dim) + query * self.hidden
        )

    @property
    def mixer_parameters(self) -> int:
        """Of q, k, v, strength, output, decay and gate in two steps; convolutions, decays, norm."""
        if self.mixer is None:
            return 0
        mixer = self.mixer
        width = mixer.heads * mixer.width
        gates = 2 * (self.hidden + width) * mixer.width
        small = 3 * mixer.convolution * width + width + mixer.heads + mixer.width
        return self.hidden * (4 * width + mixer.heads) + gates + small

    @property
    def mlp_parameters(self) -> int:
        """Of three matrices, or of all experts and the router."""
        if self.experts is None:
            return 3 * self.hidden * self.ffn
        return self.experts.count * (3 * self.hidden * self.experts.ffn + self.hidden)

    @property
    def parameters(self) -> int:
        """Weights: embedding, every layer with its two norms, last norm, output."""
        mixers = sum(self.has_mixer(layer) for layer in range(self.layers))
        layers = (
            (self.layers - mixers) * self.attention_parameters
            + mixers * self.mixer_parameters
            + self.layers * (self.mlp_parameters + 2 * self.hidden)
        )
        embeddings = self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)
        return embeddings + layers + self.hidden


# From 125 million to 3 billion parameters; widths, groups and vocabularies of published models, so
# that no two have the same mix of products, attention and logits. The mixture has 0.3 billion
# active parameters.
MODELS = (
    Model("125M", 12, 768, 12, 12, 64, 2048, 50304, tied_embeddings=True),
    Model("360M", 24, 1024, 16, 16, 64, 2816, 50304, tied_embeddings=True),
    Model("760M", 24, 1536, 12, 12, 128, 4096, 50304, tied_embeddings=False),
    Model("1.1B", 22, 2048, 32, 4, 64, 5632, 32000, tied_embeddings=False),
    Model("1.2B", 16, 2048, 32, 8, 64, 8192, 128256, tied_embeddings=True),
    Model("1.7B", 24, 2048, 32, 32, 64, 8192, 49152, tied_embeddings=True),
    Model("3.2B", 28, 3072, 24, 8, 128, 8192, 128256, tied_embeddings=True),
    Model(
        "1.7B-mixture", 16, 1024, 16, 8, 64, 0, 50304, tied_embeddings=True,
        experts=Experts(32, 4, 1024),
    ),
    Model(
        "0.8B-hybrid", 24, 1536, 12, 4, 128, 4096, 50304, tied_embeddings=True,
        mixer=Mixer(12, 128, 4),
    ),
)  # fmt: skip


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
    compiled: bool = False
    fp8: bool = False
    library: bool = False  #: the decoder as Hugging Face Transformers has it, not ours

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
        words += ["compiled"] if self.compiled else []
        words += ["fp8"] if self.fp8 else []
        words += ["graphs"] if self.cuda_graphs else []
        words += ["transformers"] if self.library else []
        return " ".join(words)

    @property
    def tokens(self) -> int:
        """Of one step."""
        return self.sequence * self.micro_batch * self.micro_batches


def common_cases(model: Model) -> list[Case]:
    """Plain, compiled, recomputed, from CUDA graphs, and one short sequence alone.

    Small models take larger micro-batches, so that no step is all launch and none fills the memory
    of an 80 GB GPU; the last case is all launch in the small models.
    """
    size = model.parameters
    batch = 8 if size < 5e8 else 4 if size < 1.5e9 else 2 if size < 3e9 else 1
    out = [
        Case(model, 2048, batch, 2),
        Case(model, 2048, 2 * batch, 1, recompute=True),
        Case(model, 1024, 1, 4),
    ]
    if model.mixer is None:  # the kernels of the mixer are Triton's already, and tune themselves
        out.append(Case(model, 2048, batch, 2, compiled=True))
        out.append(Case(model, 1024, batch, 2, cuda_graphs=True))
    return out


def library_cases() -> list[Case]:
    """Decoders of somebody else's code: large and small, recomputed, long, and one that the CPU
    limits."""
    small, middle, llama, wide, large = (
        by_name(name) for name in ("360M", "760M", "1.2B", "1.7B", "3.2B")
    )
    return [
        Case(llama, 2048, 4, 2, library=True),
        Case(large, 2048, 1, 2, library=True),
        Case(wide, 2048, 2, 2, library=True),
        Case(small, 2048, 8, 2, library=True),
        Case(llama, 2048, 8, 1, recompute=True, library=True),
        Case(large, 8192, 1, 1, recompute=True, library=True),
        Case(middle, 1024, 1, 4, library=True),
    ]


def by_name(name: str) -> Model:
    """The model called `name`."""
    return next(model for model in MODELS if model.name == name)


def cases(quick: bool = False) -> list[Case]:
    """The common cases of every model; then a library's decoders, 8-bit products, long sequences
    and large micro-batches; quickly: one case a model. In the order in which they are worth having,
    if time runs out."""
    plain = [Case(m, 2048, common_cases(m)[0].micro_batch, 2) for m in MODELS]
    if quick:
        return plain
    rows = [common_cases(model) for model in MODELS]
    depth = max(len(row) for row in rows)
    out = [row[i] for i in range(depth) for row in rows if i < len(row)]
    one, llama, wide, large = (by_name(n) for n in ("1.1B", "1.2B", "1.7B", "3.2B"))
    out += library_cases()
    out += [
        Case(llama, 2048, 4, 2, compiled=True, fp8=True),
        Case(large, 2048, 1, 2, compiled=True, fp8=True),
        Case(llama, 8192, 1, 2, compiled=True),
        Case(large, 8192, 1, 1, recompute=True),
        Case(one, 16384, 1, 1),
        Case(llama, 32768, 1, 1, recompute=True, compiled=True),
        Case(one, 1024, 16, 1, compiled=True),
        Case(wide, 4096, 2, 2, compiled=True, fp8=True),
        Case(by_name("125M"), 1024, 16, 1, cuda_graphs=True, compiled=True),
        Case(by_name("0.8B-hybrid"), 8192, 1, 2),
        Case(by_name("1.7B-mixture"), 4096, 4, 1),
        Case(one, 32768, 1, 1, recompute=True),
    ]
    return sorted(out, key=lambda case: case.model.mixer is not None)  # they compile for minutes


# What torch_step.py does, in Headway's words. Not speeds: those come from the catalogue or the
# profile.
FRAMEWORK = {
    "name": "plain PyTorch",
    "attention_kernels": "flash2",
    "joined_heads": True,
    "scaling": "tensor",
    "gradient_bytes": 4,
    "step_overhead": "0 s",
}
#: Operators one by one, gate and up halves of one product; the CPU's time a kernel is that of the
#: catalogue's eager framework.
EAGER = {
    "elementwise": "eager",
    "loss": "separate",
    "fused_permute": False,
    "joined_gate": True,
    "host": {"launch": "10 us"},
}
#: The same of Transformers: every matrix is a product of its own (LlamaAttention, LlamaMLP).
LIBRARY = {
    **EAGER,
    "joined_gate": False,
    "joined_heads": False,
    "separate_projections": True,
}
#: Layers and loss compiled.
COMPILED = {"elementwise": "compiled", "loss": "fused", "fused_permute": False}


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


def model_keys(model: Model) -> dict[str, object]:
    """`model:` of the scenario."""
    out: dict[str, object] = {
        "name": model.name,
        "layers": model.layers,
        "hidden": model.hidden,
        "heads": model.heads,
        "key_value_heads": model.key_value_heads,
        "head_dim": model.head_dim,
        "ffn": model.ffn,
        "vocabulary": model.vocabulary,
        "tied_embeddings": model.tied_embeddings,
    }
    if model.experts is not None:
        experts = model.experts
        out["moe"] = {"experts": experts.count, "top_k": experts.chosen, "ffn": experts.ffn}
    if model.mixer is not None:
        mixer = model.mixer
        out["mixer"] = {
            "kind": "kimi_delta",
            "heads": mixer.heads,
            "key_dim": mixer.width,
            "value_dim": mixer.width,
            "convolution": mixer.convolution,
        }
        out["layer_pattern"] = ["mixer"] * (mixer.period - 1) + ["attention"]
    return out


def scenario(case: Case, machine: Machine) -> dict[str, object]:
    """The scenario of `case`, as the keys of a Headway file."""
    written = COMPILED if case.compiled else LIBRARY if case.library else EAGER
    framework = {**FRAMEWORK, **written}
    out: dict[str, object] = {
        "headway": 1,
        "name": case.name,
        "cluster": {
            "nodes": 1,
            "node": {"use": machine.node, "gpus": 1, "nic": {"count": 1, "bandwidth": "400 Gbps"}},
            "fabric": {"use": "rail-optimized-ndr"},
            "storage": {"use": "nfs-small"},
        },
        "model": model_keys(case.model),
        "training": {
            "sequence_length": case.sequence,
            "global_batch": case.micro_batch * case.micro_batches,
            "precision": "fp8" if case.fp8 else "bf16",
            "framework": {**framework, "cuda_graphs": case.cuda_graphs},
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
