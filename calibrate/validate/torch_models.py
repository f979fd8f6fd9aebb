"""The decoders of cases.MODELS in plain PyTorch: their kernels are what the scenario says.

Eager operators are those that Headway counts: Hugging Face's RMSNorm, torchtitan's rotary
embedding, SiLU and product apart. Compiled layers have the same definitions, but for the rotary
embedding: complex numbers are not compiled.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from cases import Case, Model
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).parents[1] / "pytorch"))

from operators import complex_rotary, composed_rms_norm, swiglu  # noqa: E402


class Norm(nn.Module):
    """RMSNorm in fp32, as LlamaRMSNorm has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., width] -> the same."""
        return composed_rms_norm(x, self.weight)


def rotation(sequence: int, head_dim: int, device: torch.device) -> torch.Tensor:
    """Angles of every position, [sequence, head_dim / 2], fp32."""
    steps = torch.arange(0, head_dim, 2, device=device, dtype=torch.float32) / head_dim
    return torch.outer(torch.arange(sequence, device=device, dtype=torch.float32), 10000**-steps)


def rotated_halves(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    """Rotary positions on [batch, sequence, heads, head_dim] in real numbers, of which a compiler
    makes one kernel; `turn` are angles."""
    cos, sin = turn.cos()[None, :, None, :], turn.sin()[None, :, None, :]
    left, right = x.float().chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, left * sin + right * cos), dim=-1).type_as(x)


class Attention(nn.Module):
    """Grouped-query attention by scaled_dot_product_attention."""

    def __init__(self, model: Model, compiled: bool) -> None:
        super().__init__()
        self.model = model
        self.compiled = compiled
        self.query_width = model.heads * model.head_dim
        self.key_width = model.key_value_heads * model.head_dim
        self.qkv = nn.Linear(model.hidden, self.query_width + 2 * self.key_width, bias=False)
        self.projection = nn.Linear(self.query_width, model.hidden, bias=False)

    def forward(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        """[batch, sequence, hidden] -> the same."""
        batch, sequence, _ = x.shape
        parts = self.qkv(x).split([self.query_width, self.key_width, self.key_width], -1)
        q, k, v = (part.view(batch, sequence, -1, self.model.head_dim) for part in parts)
        turned = rotated_halves if self.compiled else complex_rotary
        out = F.scaled_dot_product_attention(
            turned(q, turn).transpose(1, 2),
            turned(k, turn).transpose(1, 2),
            v.transpose(1, 2),
            is_causal=True,
            enable_gqa=self.model.heads != self.model.key_value_heads,
        )
        return self.projection(out.transpose(1, 2).reshape(batch, sequence, -1))


class DeltaMixer(nn.Module):
    """Kimi delta attention by the kernels of flash-linear-attention."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        from fla.modules import FusedRMSNormGated, ShortConvolution

        assert model.mixer is not None
        mixer = model.mixer
        self.heads, self.width = mixer.heads, mixer.width
        all_heads = mixer.heads * mixer.width
        self.qkv = nn.Linear(model.hidden, 3 * all_heads, bias=False)
        self.strength = nn.Linear(model.hidden, mixer.heads, bias=False)
        self.decay = nn.Sequential(
            nn.Linear(model.hidden, mixer.width, bias=False),
            nn.Linear(mixer.width, all_heads, bias=False),
        )
        self.gate = nn.Sequential(
            nn.Linear(model.hidden, mixer.width, bias=False),
            nn.Linear(mixer.width, all_heads, bias=False),
        )
        self.convolution = ShortConvolution(
            hidden_size=3 * all_heads, kernel_size=mixer.convolution, bias=False, activation="silu"
        )
        self.decay_log = nn.Parameter(torch.zeros(mixer.heads))
        self.decay_bias = nn.Parameter(torch.zeros(all_heads))
        self.norm = FusedRMSNormGated(mixer.width, activation="sigmoid", eps=1e-5)
        self.output = nn.Linear(all_heads, model.hidden, bias=False)

    def forward(self, x: torch.Tensor, _turn: torch.Tensor) -> torch.Tensor:
        """[batch, sequence, hidden] -> the same."""
        from fla.ops.kda import chunk_kda

        heads = (*x.shape[:2], self.heads, self.width)
        mixed, _ = self.convolution(x=self.qkv(x))
        q, k, v = (part.reshape(heads) for part in mixed.chunk(3, dim=-1))
        out, _ = chunk_kda(
            q=q,
            k=k,
            v=v,
            g=self.decay(x).view(heads),
            beta=self.strength(x),
            A_log=self.decay_log.float(),
            dt_bias=self.decay_bias.float(),
            use_qk_l2norm_in_kernel=True,
            use_gate_in_kernel=True,
            use_beta_sigmoid_in_kernel=True,
        )
        return self.output(self.norm(out, self.gate(x).view(heads)).flatten(2))


class GatedMlp(nn.Module):
    """SwiGLU, gate and up in one product."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.gate_up = nn.Linear(model.hidden, 2 * model.ffn, bias=False)
        self.down = nn.Linear(model.ffn, model.hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., hidden] -> the same."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(swiglu(gate, up))


class MixtureMlp(nn.Module):
    """Router, tokens sorted by expert, grouped products, results weighted in fp32 and added up.

    The load is balanced by force, as benchmarks of mixtures do: the router's choice is computed and
    weights the results, but token t goes to experts t x chosen, t x chosen + 1, ... modulo count.
    """

    def __init__(self, model: Model) -> None:
        super().__init__()
        assert model.experts is not None
        experts = model.experts
        self.count, self.chosen = experts.count, experts.chosen
        self.router = nn.Linear(model.hidden, experts.count, bias=False)
        bound = model.hidden**-0.5
        shape = (experts.count, 2 * experts.ffn, model.hidden)
        self.gate_up = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        shape = (experts.count, model.hidden, experts.ffn)
        self.down = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[batch, sequence, hidden] -> the same."""
        product = getattr(F, "grouped_mm", None) or torch._grouped_mm
        rows = x.reshape(-1, x.shape[-1])
        weights, _ = F.softmax(self.router(rows), dim=-1, dtype=torch.float32).topk(self.chosen, -1)
        slots = torch.arange(rows.shape[0] * self.chosen, device=x.device)
        order = torch.argsort(slots % self.count, stable=True)
        each = slots.numel() // self.count
        ends = torch.arange(each, slots.numel() + 1, each, device=x.device, dtype=torch.int32)
        token = order // self.chosen
        gate, up = product(rows[token], self.gate_up.transpose(-2, -1), offs=ends).chunk(2, dim=-1)
        out = product(swiglu(gate, up), self.down.transpose(-2, -1), offs=ends)
        out = (out.float() * weights.flatten()[order, None]).to(x.dtype)
        return torch.zeros_like(rows).index_add(0, token, out).view_as(x)


class Layer(nn.Module):
    """Attention or mixer, then MLP or experts, with a norm before each."""

    def __init__(self, case: Case, index: int) -> None:
        super().__init__()
        model = case.model
        self.mixing_norm = Norm(model.hidden)
        self.mixing: nn.Module = (
            DeltaMixer(model) if model.has_mixer(index) else Attention(model, case.compiled)
        )
        self.mlp_norm = Norm(model.hidden)
        self.mlp: nn.Module = GatedMlp(model) if model.experts is None else MixtureMlp(model)

    def forward(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        """[batch, sequence, hidden] -> the same."""
        x = x + self.mixing(self.mixing_norm(x), turn)
        return x + self.mlp(self.mlp_norm(x))


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean loss of [batch, sequence, vocabulary] logits in fp32."""
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class Decoder(nn.Module):
    """Embedding, layers, last norm, logits."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        model = case.model
        self.recompute = case.recompute
        self.embedding = nn.Embedding(model.vocabulary, model.hidden)
        self.layers = nn.ModuleList(Layer(case, index) for index in range(model.layers))
        self.norm = Norm(model.hidden)
        self.output = nn.Linear(model.hidden, model.vocabulary, bias=False)
        if model.tied_embeddings:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        """[batch, sequence] -> [batch, sequence, vocabulary]."""
        x = self.embedding(tokens)
        for layer in self.layers:
            if self.recompute:
                x = checkpoint(layer, x, turn, use_reentrant=False)
            else:
                x = layer(x, turn)
        return self.output(self.norm(x))


class LibraryDecoder(nn.Module):
    """LlamaForCausalLM of Hugging Face Transformers: products of their own for queries, keys,
    values, gate and up; rotate_half in 16 bits."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        from transformers import LlamaConfig, LlamaForCausalLM

        model = case.model
        config = LlamaConfig(
            hidden_size=model.hidden,
            intermediate_size=model.ffn,
            num_hidden_layers=model.layers,
            num_attention_heads=model.heads,
            num_key_value_heads=model.key_value_heads,
            head_dim=model.head_dim,
            vocab_size=model.vocabulary,
            tie_word_embeddings=model.tied_embeddings,
            max_position_embeddings=case.sequence,
            attn_implementation="sdpa",
            use_cache=False,
        )
        self.model = LlamaForCausalLM(config).train()
        if case.recompute:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})

    def forward(self, tokens: torch.Tensor, _turn: torch.Tensor) -> torch.Tensor:
        """[batch, sequence] -> [batch, sequence, vocabulary]."""
        return self.model(input_ids=tokens).logits


def loss_of(case: Case) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Mean loss of logits and targets; compiled where the layers are."""
    return torch.compile(cross_entropy, dynamic=False) if case.compiled else cross_entropy


def decoder(case: Case, device: torch.device) -> nn.Module:
    """The model of `case` on `device` in bf16: its layers compiled and in 8 bits where the case
    says so, the head always in 16."""
    if case.library:
        with device:
            return LibraryDecoder(case).to(torch.bfloat16)
    if case.model.mixer is not None:
        from triton_tuning import tune_among_few

        tune_among_few()
    with device:
        model = Decoder(case).to(torch.bfloat16)
    if case.fp8:
        from torchao.float8 import convert_to_float8_training

        convert_to_float8_training(
            model, module_filter_fn=lambda module, name: name.startswith("layers.")
        )
    if case.compiled:
        for layer in model.layers:
            layer.compile(dynamic=False)
    return model


def turn_of(case: Case, device: torch.device) -> torch.Tensor:
    """What the layers turn queries and keys by: angles if compiled, else complex numbers."""
    angles = rotation(case.sequence, case.model.head_dim, device)
    return angles if case.compiled else torch.polar(torch.ones_like(angles), angles)
