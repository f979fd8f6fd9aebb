#!/usr/bin/env python3
"""What `headway plan` finds beside the layouts that published runs used (docs/planner_truth.md).

    .venv/bin/python scripts/planner_truth.py [--only NAME,...] [--simulate 50] [--out FILE]

Each run is predicted with its own layout and searched for a better one on the same machine, with
the same batch, sequence, precision and software; the search varies all of the layout. What differs
is read from the two results: the degrees, and the causes of the step that changed most.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HEADWAY = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin" / "headway"
SCENARIOS = ROOT / "configs" / "scenarios"


def scenario(
    name: str,
    source: str,
    cluster: dict[str, Any],
    model: str,
    training: dict[str, Any],
    parallelism: dict[str, Any],
) -> dict[str, Any]:
    return {
        "headway": 1,
        "name": name,
        "source": source,
        "cluster": {**cluster, "storage": {"use": "lustre"}},
        "model": {"use": model},
        "training": training,
        "parallelism": parallelism,
    }


def used(entry: str) -> dict[str, str]:
    return {"use": entry}


A100 = {"node": used("dgx-a100"), "fabric": used("rail-optimized-hdr")}
H100 = {"node": used("dgx-h100"), "fabric": used("rail-optimized-ndr")}
MADE = {
    "bloom-176b": scenario(
        "BLOOM 176B on 384 A100",
        "Le Scao et al. (arXiv 2211.05100), section 3.4, and its chronicles: tensor 4, "
        "pipeline 12, data 8, micro-batch 2, ZeRO 1, full recompute; 105 s a step",
        {"nodes": 48, **A100},
        "bloom-176b",
        {
            "sequence_length": 2048,
            "global_batch": 2048,
            "precision": "bf16",
            "framework": used("megatron-deepspeed-bf16-2022"),
        },
        {
            "tensor": 4,
            "sequence": False,
            "pipeline": 12,
            "first_stage_layers": 5,
            "last_stage_layers": 5,
            "data": 8,
            "sharding": "zero1",
            "micro_batch": 2,
            "schedule": "1f1b",
            "recompute": "full",
        },
    ),
    "mt-nlg-530b": scenario(
        "MT-NLG 530B on 2,240 A100",
        "Smith et al. (arXiv 2201.11990), section 2.3: tensor 8, pipeline 35, data 8; 60.1 s",
        {"nodes": 280, **A100},
        "mt-nlg-530b",
        {
            "sequence_length": 2048,
            "global_batch": 1920,
            "precision": "bf16",
            "framework": used("megatron-lm-2021"),
        },
        {
            "tensor": 8,
            "sequence": False,
            "pipeline": 35,
            "data": 8,
            "sharding": "zero0",
            "micro_batch": 1,
            "schedule": "1f1b",
            "recompute": "full",
        },
    ),
    "nemotron-4-340b": scenario(
        "Nemotron-4 340B on 6,144 H100",
        "Adler et al. (arXiv 2406.11704), table 2: tensor 8, pipeline 12 interleaved (8 chunks), "
        "data 64, distributed optimizer; 8.0 s a step",
        {"nodes": 768, **H100},
        "nemotron-4-340b",
        {
            "sequence_length": 4096,
            "global_batch": 2304,
            "precision": "bf16",
            "framework": used("megatron-core-2024"),
        },
        {
            "tensor": 8,
            "pipeline": 12,
            "virtual": 8,
            "data": 64,
            "sharding": "zero1",
            "micro_batch": 1,
            "schedule": "interleaved",
            "recompute": "none",
        },
    ),
    "qwen3-235b": scenario(
        "Qwen3 235B-A22B on 256 GB200",
        "NVIDIA Megatron-Bridge performance summary 26.08: pipeline 8 interleaved (3 chunks), "
        "expert 32, data 32",
        {"nodes": 64, "node": used("nvl72-gb200"), "fabric": used("rail-optimized-xdr")},
        "qwen3-235b-a22b",
        {
            "sequence_length": 4096,
            "global_batch": 8192,
            "precision": "mxfp8",
            "framework": used("megatron-bridge-2026-nvl72"),
        },
        {
            "tensor": 1,
            "sequence": False,
            "pipeline": 8,
            "virtual": 3,
            "chunk_layers": [3, *[4] * 22, 3],
            "data": 32,
            "expert": 32,
            "sharding": "zero1",
            "micro_batch": 1,
            "schedule": "interleaved",
            "recompute": "none",
        },
    ),
}
FILES = {
    "llama-3-405b-8k-gpus": "llama-3.1-405b-8k-h100",
    "llama-3-405b-16k-gpus": "llama-3.1-405b-16k-h100",
    "llama-3-405b-128k-context": "llama-3.1-405b-16k-h100-128k-context",
    "deepseek-v3": "deepseek-v3-2048-h800",
    "gpt-3-175b": "gpt-3-175b-1024-a100",
    "gpt-1t": "megatron-1t-3072-a100",
}
DEGREES = ("tensor", "context", "pipeline", "virtual", "expert", "data", "micro_batch")
WORDS = ("schedule", "sharding", "recompute")


def answer(*words: object) -> dict[str, Any]:
    """A result of the program; no plan that fits is an answer too."""
    done = subprocess.run(
        [str(word) for word in (HEADWAY, *words, "--format", "json")],
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 3, 4):
        raise SystemExit(f"{words}: {done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def layout_words(layout: dict[str, Any]) -> str:
    degrees = [f"{key} {layout[key]}" for key in DEGREES if layout[key] != 1 or key == "tensor"]
    words = ", ".join([*degrees, *(str(layout[key]) for key in WORDS)]).replace("_", " ")
    return words + (" of some layers" if layout["chunk_recompute"] else "")


def reason(before: dict[str, float], after: dict[str, float]) -> str:
    """The two causes of the step that fell most, and the one that rose most."""
    change = {key: after.get(key, 0) - value for key, value in before.items()}
    order = sorted(change, key=lambda key: change[key])
    least = 0.005 * sum(before.values())
    parts = [
        f"{key.replace('_', ' ')} {change[key]:+.2f} s" for key in order[:2] if change[key] < -least
    ]
    if change[order[-1]] > least:
        parts.append(f"{order[-1].replace('_', ' ')} {change[order[-1]]:+.2f} s")
    return ", ".join(parts) or "no cause moves by half a per cent"


def line(name: str, file: Path, simulate: int) -> str:
    # The layout that was used, as a search of that one alone gives it: one hash, no campaign.
    search = ("--set", "run.until=null", "--set", "assert=[]", "--top", 1)
    own = answer(
        "plan",
        file,
        *search,
        "--set",
        "search.vary=[rank_order]",
        "--set",
        "search.rank_order=[tp-cp-dp-pp]",
    )
    best = answer("plan", file, *search, "--simulate", simulate)
    title = best["scenario"]["name"]
    if not best["plans"]:
        return f"| {title} | - | - | - | - | no layout fits |"
    found = best["plans"][0]
    if own["plans"]:
        was = own["plans"][0]
        words = layout_words(was["layout"])
    else:  # it leaves less memory free than a search asks for
        was = {"layout": None, **answer("run", file, *search[:4])}
        words = was["asked"][-1]
    gain = 1 - found["step"]["time_s"] / was["step"]["time_s"]
    same = found["layout"] == was["layout"]
    return (
        f"| {title} | {words} | {was['step']['time_s']:.3g} | "
        f"{'the same' if same else layout_words(found['layout'])} | "
        f"{found['step']['time_s']:.3g} ({-100 * gain:+.1f} %) | "
        f"{'' if same else reason(was['step']['breakdown_s'], found['step']['breakdown_s'])} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--simulate", type=int, default=50)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    names = asked.only.split(",") if asked.only else [*FILES, *MADE]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            file = SCENARIOS / f"{FILES[name]}.yaml" if name in FILES else Path(folder) / "s.yaml"
            if name in MADE:
                file.write_text(json.dumps(MADE[name]))
            lines.append(line(name, file, asked.simulate))
            print(lines[-1], flush=True)
    if asked.out:
        asked.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
