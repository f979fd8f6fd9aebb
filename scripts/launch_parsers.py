"""Files of `headway export`, read by torchtitan's and DeepSpeed's own parsers (launch_parsers)."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
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
    out = folder / f"{scenario.stem}.{ {'torchtitan': 'toml', 'deepspeed': 'json'}[tool] }"
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


if __name__ == "__main__":
    main()
