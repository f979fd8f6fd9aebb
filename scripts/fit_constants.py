#!/usr/bin/env python3
"""Fits the few fitted constants of the catalogue to a table of published runs, and says how certain
they are.

usage: scripts/fit_constants.py RUNS.csv [--headway PROGRAM] [--configs FOLDER] [--out FILE.json]

Each constant is moved by 5 % in a copy of the catalogue and all runs are predicted again: one
evaluation of all rows a constant. With these slopes of log(prediction) a robust linear fit (Huber,
5 %) finds the best factors; fits of parts of the rows are linear algebra on the same slopes.
Printed are the factor, its standard error over 200 random halves of the groups, and the errors in
sample and in a cross-validation that leaves out one of ten parts at a time. A group is all rows of
one model, GPU and precision, so that none of them is in both parts. Round values that were chosen
on the same rows are moved and cross-validated with the fitted ones. The files are not changed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HOPPER = ["gpus/h100-sxm.yaml", "gpus/h200-sxm.yaml"]
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
]
DEEPSPEED = [
    "frameworks/megatron-deepspeed-2022.yaml",
    "frameworks/megatron-deepspeed-bf16-2022.yaml",
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
    "grouped": (["gpus/*.yaml"], "grouped"),
    "weight_gradient": (["gpus/*.yaml"], "weight_gradient"),
    "score_rows": (["gpus/*.yaml"], "score_rows"),
    "attention_share": (NEWEST, "attention_share"),
    "cpu_launch": (PYTHON_LAUNCH, "cpu_launch"),
    "FSDP data_interference": (
        [
            "frameworks/llm-foundry.yaml",
            "frameworks/pytorch-fsdp.yaml",
            "frameworks/torchtitan-2024.yaml",
            "frameworks/torchtitan.yaml",
        ],
        "data_interference",
    ),
}
# Of GPUs whose file leaves them to the program's default, which `headway catalog constants` prints.
DEFAULTS = {"grouped": 0.8, "weight_gradient": 0.85, "score_rows": 0.75}
STEP = 1.05
HUBER = 0.05
NORMAL_90 = 1.645  # two-sided 90 % of a normal distribution, in standard deviations


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


def predict(arguments: argparse.Namespace, configs: pathlib.Path) -> dict[str, float]:
    environment = {**os.environ, "HEADWAY_CONFIGS": str(configs)}
    out = subprocess.run(
        [arguments.headway, "validate", "--runs", arguments.runs, "--format", "json"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {row["id"]: row["error"] for row in json.loads(out)["rows"] if row["error"] is not None}


def perturbed(arguments: argparse.Namespace, name: str) -> dict[str, float]:
    files, key = CONSTANTS[name]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "configs"
        shutil.copytree(arguments.configs, copy)
        for pattern in files:
            for file in sorted(copy.glob(pattern)):
                scale(file, key, STEP)
        return predict(arguments, copy)


def robust_fit(slopes: Array, errors: Array, weights: Array) -> Array:
    """Change of log constants that makes the weighted Huber loss of log errors least."""
    change = np.zeros(slopes.shape[1])
    for _ in range(50):
        left = errors + slopes @ change
        w = weights * np.minimum(1, HUBER / np.maximum(np.abs(left), 1e-9))
        ridge = 1e-3 * np.eye(slopes.shape[1])
        change -= np.linalg.solve(
            slopes.T @ (w[:, None] * slopes) + ridge, slopes.T @ (w * left) + ridge @ change
        )
    return change


def report(title: str, logs: Array) -> dict[str, float]:
    errors = np.abs(np.expm1(logs))
    figures = {
        "median": float(np.median(errors)),
        "mean": float(errors.mean()),
        "p90": float(np.quantile(errors, 0.9)),
        "within_5": float((errors <= 0.05).mean()),
        "within_10": float((errors <= 0.10).mean()),
    }
    print(title, " ".join(f"{k} {100 * v:.1f} %" for k, v in figures.items()))
    return figures


def cross_validate(slopes: Array, errors: Array, weights: Array, groups: list[str]) -> Array:
    names = sorted(set(groups))
    fold_of = {name: i % 10 for i, name in enumerate(np.random.default_rng(1).permutation(names))}
    folds = np.array([fold_of[g] for g in groups])
    left = np.empty_like(errors)
    for fold in range(10):
        inside = folds != fold
        change = robust_fit(slopes[inside], errors[inside], weights[inside])
        left[~inside] = errors[~inside] + slopes[~inside] @ change
    return left


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs")
    parser.add_argument("--headway", default="build/release/bin/headway")
    parser.add_argument("--configs", default="configs")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    rows = {
        r["id"]: r
        for r in csv.DictReader(open(arguments.runs))
        if r["arch"] in ("dense", "moe") and "MI3" not in r["gpu"]
    }
    base = predict(arguments, arguments.configs)
    ids = [i for i in base if i in rows]
    errors = np.log1p(np.array([base[i] for i in ids]))
    slopes = np.stack(
        [
            (np.log1p(np.array([moved[i] for i in ids])) - errors) / np.log(STEP)
            for moved in (perturbed(arguments, name) for name in CONSTANTS)
        ],
        axis=1,
    )
    weights = np.array([float(rows[i]["weight"] or 1) for i in ids])
    groups = ["|".join(rows[i][column] for column in ("model", "gpu", "precision")) for i in ids]
    change = robust_fit(slopes, errors, weights)
    halves = []
    random = np.random.default_rng(2)
    names = np.array(sorted(set(groups)))
    for _ in range(200):
        chosen = set(random.choice(names, len(names) // 2, replace=False))
        part = np.array([g in chosen for g in groups])
        halves.append(robust_fit(slopes[part], errors[part], weights[part]))
    deviation = np.std(halves, axis=0)
    result: dict[str, Any] = {
        "constants": {
            name: {"factor": float(np.exp(c)), "standard_error": float(d)}
            for name, c, d in zip(CONSTANTS, change, deviation, strict=False)
        }
    }
    for name, fitted in result["constants"].items():
        print(f"{name:32s} x {fitted['factor']:.3f} +- {fitted['standard_error']:.3f}")
    dense = np.array([rows[i]["arch"] == "dense" for i in ids])
    result["as it is"] = report("as it is:", errors[dense])
    result["refitted"] = report("refitted:", (errors + slopes @ change)[dense])
    print(f"{len(ids)} rows in {len(set(groups))} groups")
    unseen = cross_validate(slopes, errors, weights, groups)
    result["cross-validated"] = report(
        "cross-validated by model, GPU and precision:", unseen[dense]
    )
    result["mixtures"] = {
        name: report(f"mixtures, {name}:", logs[~dense])
        for name, logs in (
            ("as it is", errors),
            ("refitted", errors + slopes @ change),
            ("cross-validated", unseen),
        )
    }
    # What CalibrationSpec::relative_error is by default: the normal deviation whose 90 % interval
    # holds 90 % of unseen rows.
    result["relative_error"] = float(np.quantile(np.abs(unseen[dense]), 0.9) / NORMAL_90)
    print(f"relative error of a step {100 * result['relative_error']:.1f} %")
    if arguments.out:
        pathlib.Path(arguments.out).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
