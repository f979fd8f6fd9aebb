#!/usr/bin/env python3
"""How much each published run depends on each constant that is judged from published runs.

usage: scripts/constant_slopes.py [--headway PROGRAM] [--configs FOLDER] [--only CONSTANT ...]

Each constant is moved by 5 % in a copy of the catalogue and all published runs are predicted again:
one evaluation of all rows a constant. The slopes d log(prediction) / d log(constant) are written to
configs/validation/constant_slopes.csv, a run a line. `headway validate` refits the constants with
them, leaving out one source at a time (sim/validation/constant_fit.h): linear algebra on these
slopes, no new simulations. With --only, the columns of the other constants stay as they are.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HOPPER = ["gpus/h100-sxm.yaml", "gpus/h100-sxm-96gb.yaml", "gpus/h200-sxm.yaml"]
AMPERE = ["gpus/a100-80gb-sxm.yaml", "gpus/a100-40gb-sxm.yaml"]
BLACKWELL = ["gpus/b200-sxm.yaml", "gpus/b300-sxm.yaml", "gpus/gb200.yaml", "gpus/gb300.yaml"]
RACKS = [file for file in BLACKWELL if "b200-sxm" not in file]  # its 16-bit share is measured
RECIPES = [
    "frameworks/megatron-core.yaml",
    "frameworks/megatron-core-2024.yaml",
    "frameworks/mlperf.yaml",
    "frameworks/megatron-core-2023.yaml",
    "frameworks/nemo-2024.yaml",
    "frameworks/megatron-bridge-2025.yaml",
    "frameworks/megatron-bridge-2026-nvl72.yaml",
    "frameworks/megatron-lm-2025.yaml",
    "frameworks/megatron-fsdp-2025.yaml",
]
DEEPSPEED = [
    "frameworks/megatron-deepspeed-2022.yaml",
    "frameworks/megatron-deepspeed-bf16-2022.yaml",
]
FSDP = [
    "frameworks/llm-foundry.yaml",
    "frameworks/pytorch-fsdp.yaml",
    "frameworks/torchtitan-2024.yaml",
    "frameworks/torchtitan.yaml",
    "frameworks/megatron-fsdp-2025.yaml",
]
NEWEST = [file for file in RECIPES if "core-202" not in file]  # FlashAttention-2 before
PYTHON_LAUNCH = [file for file in RECIPES if "2023" not in file and "mlperf" not in file]
CONSTANTS = {
    "A100 gemm_16bit": (AMPERE, "gemm_16bit"),
    "H100 gemm_16bit": (HOPPER, "gemm_16bit"),
    "H100 gemm_8bit": (HOPPER, "gemm_8bit"),
    "B200 gemm_16bit": (RACKS, "gemm_16bit"),
    "B200 gemm_8bit": (BLACKWELL, "gemm_8bit"),
    "tensor_interference": (RECIPES, "tensor_interference"),
    "message_overhead": (RECIPES, "message_overhead"),
    "DeepSpeed accumulation_bytes": (DEEPSPEED, "accumulation_bytes"),
    "Omni-Path efficiency": (["fabrics/omni-path-100.yaml"], "efficiency"),
    "weight_gradient": (["gpus/*.yaml"], "weight_gradient"),
    "score_rows": (["gpus/*.yaml"], "score_rows"),
    "attention_share": (NEWEST, "attention_share"),
    "cpu_launch": (PYTHON_LAUNCH, "launch"),
    "FSDP data_interference": (FSDP, "data_interference"),
}
# Of GPUs whose file leaves them to the program's default, which `headway catalog constants` prints.
DEFAULTS = {"weight_gradient": 0.85, "score_rows": 0.75}
STEP = 1.05
TABLES = ["training_runs.csv", "training_runs_unfitted.csv"]
PLACE = pathlib.PurePath("validation", "constant_slopes.csv")


def scale(path: pathlib.Path, key: str, factor: float) -> None:
    text = path.read_text()
    pattern = re.compile(rf"(^\s*{key}: (?:{{value: )?)([0-9.]+)", re.MULTILINE)
    changed, count = pattern.subn(lambda m: m.group(1) + repr(float(m.group(2)) * factor), text)
    if count == 0 and key in DEFAULTS:
        changed, count = re.subn(
            r"^sustained:\n",
            f"sustained:\n  {key}: {DEFAULTS[key] * factor!r}\n",
            text,
            flags=re.MULTILINE,
        )
    if count != 1:
        raise SystemExit(f"{path}: {count} places with '{key}'")
    path.write_text(changed)


def predict(program: str, configs: pathlib.Path) -> dict[str, float]:
    """Predicted tokens/s/GPU of every run of both tables, fitted and not."""
    predicted: dict[str, float] = {}
    for table in TABLES:
        runs = configs / "validation" / table
        out = subprocess.run(
            [program, "validate", "--quick", "--format", "json", "--quiet", "--runs", runs],
            env={**os.environ, "HEADWAY_CONFIGS": str(configs)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for row in json.loads(out)["rows"]:
            if row["error"] is not None:
                predicted[row["id"]] = row["predicted_tokens_per_s_per_gpu"]
    return predicted


def perturbed(program: str, configs: pathlib.Path, name: str) -> dict[str, float]:
    files, key = CONSTANTS[name]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "configs"
        shutil.copytree(configs, copy)
        for pattern in files:
            for file in sorted(copy.glob(pattern)):
                scale(file, key, STEP)
        return predict(program, copy)


def slope(moved: float, base: float) -> str:
    text = f"{math.log(moved / base) / math.log(STEP):.4f}"
    return "0" if float(text) == 0 else text.rstrip("0")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--headway", default="build/release/bin/headway")
    parser.add_argument("--configs", type=pathlib.Path, default=pathlib.Path("configs"))
    parser.add_argument("--only", nargs="*", choices=list(CONSTANTS), default=list(CONSTANTS))
    arguments = parser.parse_args()
    file = arguments.configs / PLACE
    before: dict[str, dict[str, str]] = {}
    if file.exists():
        before = {row["id"]: row for row in csv.DictReader(file.open())}
    base = predict(arguments.headway, arguments.configs)
    rows = {i: {"id": i, **{name: "0" for name in CONSTANTS}} for i in base}
    for i, row in rows.items():
        row.update({name: before.get(i, {}).get(name, "0") for name in CONSTANTS})
    for name in arguments.only:
        moved = perturbed(arguments.headway, arguments.configs, name)
        for i, row in rows.items():
            row[name] = slope(moved[i], base[i])
        print(name, flush=True)
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, ["id", *CONSTANTS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


if __name__ == "__main__":
    main()
