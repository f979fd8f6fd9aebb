"""Files of `headway export`, read by the tools' own parsers or judged by their rules."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import shlex
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "configs" / "scenarios"


class _Name(type):
    """Classes whose attributes, calls and items are classes again."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _made(name)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        return cls

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __bool__(cls) -> bool:
        return False


def _made(name: str) -> Any:
    return _Name(name, (), {})


class _Module(types.ModuleType):
    __path__: list[str] = []
    __version__ = "2.6.0"  # DeepSpeed compares it
    dtype = _Name  # of which torch.float16 is one

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _made(name)


class _PyTorch(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules with any name in them, in place of PyTorch's."""

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in ("torch", "torchao"):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _bare(package: str) -> None:
    """A package without what its __init__ imports."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None
    module = types.ModuleType(package)
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[package] = module


def export(program: str, tool: str, scenario: Path, folder: Path) -> Path:
    ends = {"torchtitan": "toml", "deepspeed": "json", "megatron": "sh"}
    out = folder / f"{scenario.stem}.{ends[tool]}"
    subprocess.run(
        [program, "export", tool, str(scenario), "--out", str(out), "--force"],
        check=True,
        capture_output=True,
    )
    return out


def torchtitan(program: str, scenarios: list[Path], folder: Path) -> None:
    _bare("torchtitan")
    manager = importlib.import_module("torchtitan.config.manager").ConfigManager
    for scenario in scenarios:
        file = export(program, "torchtitan", scenario, folder)
        config = manager().parse_args(["--job.config-file", str(file)])
        text = file.read_text()
        for line in text.splitlines():
            if line.startswith("tensor_parallel_degree"):
                assert config.parallelism.tensor_parallel_degree == int(line.split("=")[1])
            if line.startswith("seq_len"):
                assert config.training.seq_len == int(line.split("=")[1])
    # It does find a key that it does not know.
    broken = folder / "broken.toml"
    broken.write_text("[parallelism]\nno_such_degree = 2\n")
    try:
        manager().parse_args(["--job.config-file", str(broken)])
    except Exception:
        return
    raise SystemExit("launch_parsers: torchtitan takes keys that it does not know")


def deepspeed(program: str, scenarios: list[Path], folder: Path) -> None:
    parts = [
        *("comm", "inference", "model_implementations", "module_inject", "moe", "ops", "runtime"),
        *("ops.transformer", "ops.transformer.inference", "runtime.zero", "runtime.fp16"),
    ]
    for package in ("deepspeed", *(f"deepspeed.{part}" for part in parts)):
        _bare(package)
    comm = sys.modules["deepspeed.comm"]
    vars(comm).update(get_rank=lambda: 0, __getattr__=_made)
    vars(sys.modules["deepspeed"]).update(comm=comm)
    parse = importlib.import_module("deepspeed.runtime.config").DeepSpeedConfig

    for scenario in scenarios:
        file = export(program, "deepspeed", scenario, folder)
        asked = json.loads(file.read_text())
        batch, micro = asked["train_batch_size"], asked["train_micro_batch_size_per_gpu"]
        ranks = batch // micro // asked["gradient_accumulation_steps"]
        # The ranks that share the batch, as a launcher would say.
        mpu = types.SimpleNamespace(get_data_parallel_world_size=lambda ranks=ranks: ranks)
        config = parse(str(file), mpu)
        assert config.train_batch_size == batch
        assert int(config.zero_config.stage) == asked["zero_optimization"]["stage"]


# Arguments that core_transformer_config_from_args (Megatron-LM, megatron/training/arguments.py)
# hands to TransformerConfig under another name.
_FIELDS = {
    "num_experts": "num_moe_experts",
    "fp8_format": "fp8",
    "fp4_format": "fp4",
    "decoder_first_pipeline_num_layers": "num_layers_in_first_pipeline_stage",
    "decoder_last_pipeline_num_layers": "num_layers_in_last_pipeline_stage",
    "num_virtual_stages_per_pipeline_rank": "virtual_pipeline_model_parallel_size",
}


def _arguments(text: str) -> dict[str, list[str]]:
    """The flags of an exported script, each with the words behind it."""
    words = shlex.split(text, comments=True)
    found: dict[str, list[str]] = {}
    key = ""
    for word in words[: words.index("torchrun")]:
        if word.startswith("--"):
            key = word[2:].replace("-", "_")
            found[key] = []
        elif key and word != ")" and not word.endswith("=("):
            found[key].append(word)
    return found


def _value(words: list[str]) -> Any:
    def one(word: str) -> Any:
        for kind in (int, float):
            try:
                return kind(word)
            except ValueError:
                pass
        return word

    return True if not words else one(words[0])


def _transformer_config(arguments: dict[str, list[str]], module: Any) -> Any:
    """TransformerConfig of the arguments that are fields of it; its __post_init__ raises."""
    latent = "multi_latent_attention" in arguments
    kind = module.MLATransformerConfig if latent else module.TransformerConfig
    values: dict[str, Any] = {"pipeline_dtype": "bf16"}
    for key, words in arguments.items():
        name = _FIELDS.get(key, key)
        if name in kind.__dataclass_fields__:
            values[name] = words if key == "recompute_modules" else _value(words)
    values["add_bias_linear"] = "disable_bias_linear" not in arguments
    gated = "swiglu" in arguments
    values["gated_linear_unit"] = gated
    values["activation_func"] = module.F.silu if gated else module.F.gelu
    values["bias_activation_fusion"] = (
        gated or "no_bias_gelu_fusion" not in arguments
    ) and "squared_relu" not in arguments
    values["cpu_offloading"] = int(values.get("cpu_offloading_num_layers", 0)) > 0
    values.pop("moe_layer_freq", None)  # a list that only the layers' specification reads
    return kind(**values)


def megatron(program: str, scenarios: list[Path], folder: Path) -> None:
    """Whether megatron-core's TransformerConfig takes what Megatron-LM's arguments say."""
    for package in ("megatron", "megatron.core", "megatron.core.transformer"):
        _bare(package)
    functional = importlib.import_module("torch.nn.functional")
    vars(functional).update(gelu=_made("gelu"), silu=_made("silu"))
    # Kernels of Transformer Engine, which is taken for installed.
    kernels = types.ModuleType("megatron.core.transformer.moe.moe_utils")
    kernels.__getattr__ = lambda name: object()  # type: ignore[method-assign]
    sys.modules[kernels.__name__] = kernels
    module: Any = importlib.import_module("megatron.core.transformer.transformer_config")
    vars(module).update(is_te_min_version=lambda *_: True, is_torch_min_version=lambda *_: True)
    for scenario in scenarios:
        text = export(program, "megatron", scenario, folder).read_text()
        try:
            config = _transformer_config(_arguments(text), module)
        except (AssertionError, ValueError) as refused:
            raise SystemExit(
                f"launch_parsers: megatron refuses {scenario.stem}: {refused}"
            ) from None
        assert config.num_layers == int(_arguments(text)["num_layers"][0])
    # It does refuse what is no module of a dense model.
    broken = {"num_layers": ["2"], "hidden_size": ["8"], "num_attention_heads": ["2"]}
    broken |= {"recompute_granularity": ["selective"], "recompute_modules": ["moe_act"]}
    try:
        _transformer_config(broken, module)
    except ValueError:
        return
    raise SystemExit("launch_parsers: megatron takes moe_act without grouped products")


def main() -> None:
    program = sys.argv[1]
    sys.meta_path.insert(0, _PyTorch())
    names = [
        "llama-3.1-405b-8k-h100",
        "small-llama-8b-64-h100",
        "gpt-3-175b-1024-a100",
        "coreweave-30b-1024-h100",
    ]
    scenarios = [SCENARIOS / f"{name}.yaml" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        for read in (torchtitan, deepspeed):
            read(program, scenarios, Path(folder))
            print(f"launch_parsers: {read.__name__}: {len(scenarios)} exports understood")
        every = sorted(SCENARIOS.glob("*.yaml"))
        megatron(program, every, Path(folder))
        print(f"launch_parsers: megatron: {len(every)} exports taken")


if __name__ == "__main__":
    main()
