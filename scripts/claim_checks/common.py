"""What a claim is, and how its commands are run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
S = "configs/scenarios/"
LLAMA = S + "llama-3.1-405b-16k-h100.yaml"
PLAN = S + "claim-405b-4096-h100-50-days.yaml"
CLOUD = S + "coreweave-30b-1024-h100.yaml"
GENERAL = S + "reference-general-purpose.yaml"
BUILT = S + "reference-purpose-built.yaml"
DEEPSEEK = S + "deepseek-v3-2048-h800.yaml"
SMALL = S + "small-llama-8b-64-h100.yaml"
SITES = S + "two-sites-llama-70b-1024-h100.yaml"
SITES_APART = S + "two-sites-diloco-llama-70b-1024-h100.yaml"
BLAST = S + "claim-blast-radius-1024-h100.yaml"
NEW_NODES = S + "claim-burn-in-1024-h100.yaml"
SYNC = f"{LLAMA} --set cluster.nodes=512 --set parallelism.data=32 --set run.checkpoint.mode=sync"
A100_NODES = (
    "--set cluster.node.use=dgx-a100 --set cluster.fabric.use=rail-optimized-hdr "
    "--set run.prices.use=a100-80gb-on-demand-2026-05"
)
A100 = f"{SMALL} {A100_NODES}"
A100_7B = f"{A100} --set model.use=llama-2-7b --trials 4"
A100_70B = (
    f"{A100} --set model.use=llama-3.1-70b --set cluster.nodes=64 --set parallelism.tensor=8 "
    "--set parallelism.pipeline=4 --set parallelism.data=16 --set training.global_batch=512 --trials 4"
)
REDUCE = f"collective all_reduce --cluster {BUILT} --gpus"

HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"
Json = dict[str, Any]
Verdict = tuple[str, str]  # one of these words, and the figures that say so


@dataclass(frozen=True)
class Claim:
    key: str
    text: str
    commands: list[str]
    judge: Callable[[list[Json]], Verdict]


@dataclass(frozen=True)
class Unchecked:
    key: str
    text: str
    reason: str


def run(command: str, known: dict[str, Json]) -> Json:
    """The JSON of one command; equal commands run once."""
    if command not in known:
        program = os.environ.get("HEADWAY_PROGRAM", str(ROOT / "build/release/bin/headway"))
        words = [program, *shlex.split(command), "--format", "json"]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            sys.exit(f"headway {command}\n{done.stderr}")
        known[command] = json.loads(done.stdout)
    return known[command]


def ettr(run: Json) -> float:
    return run["campaign"]["ettr"]["p50"]


def mean_ettr(run: Json) -> float:
    return run["campaign"]["ettr"]["mean"]


def interruptions(run: Json) -> float:
    return run["campaign"]["interruptions"]["mean"]


def days_between(run: Json) -> float:
    return run["campaign"]["wall_days"]["mean"] / interruptions(run)


def assumed_seconds(run: Json, key: str) -> float:
    value = next(a["value"] for a in run["assumptions"] if a["key"] == key)
    return float(value.split()[0])


def shows(drill: Json, symptom: str) -> bool:
    return any(entry["symptom"] == symptom for entry in drill["timeline"])


def alarm(drill: Json) -> Json:
    return next(entry for entry in drill["timeline"] if entry["moment"] == "alarm")


def collective_seconds(result: Json) -> float:
    return result["rows"][0]["time_s"]


def tier(topology: Json, name: str) -> float:
    """Payload rate of one direction of a cable [B/s]."""
    return next(t["cable_rate_bytes_per_s"] for t in topology["tiers"] if t["name"] == name)


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
