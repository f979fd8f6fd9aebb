#!/usr/bin/env python3
"""What a sweep costs beside its points, on one process, in shards and on Dask; its ETA.

    .venv/bin/python benchmarks/sweep_overhead.py [--points 64] [--repeats 3] [--out FILE.json]

Each way simulates the same points with two workers; the rows must be the same bytes. Times are of
the wall and of all processes (user + system), the least of the repeats: on a busy machine the
second says more. The ETA is that of the first line that --progress plain prints once a tenth of the
points is done, beside the time that it took from there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin/headway"
SCENARIO = ROOT / "configs/scenarios/llama-3.1-405b-16k-h100.yaml"
ENVIRONMENT = {**os.environ, "HEADWAY_PYTHON": sys.executable}


def timed(command: str) -> tuple[float, float, bytes]:
    """Wall time, processor time of all processes, and what was printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    out = subprocess.run(command, shell=True, check=True, capture_output=True, env=ENVIRONMENT)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, out.stdout


def ways(points: int, folder: Path) -> dict[str, str]:
    sweep = f"{PROGRAM} sweep {SCENARIO} --sweep run.seed=1:{points}:1 --format jsonl --quiet"
    return {
        "one process": f"{sweep} --threads 2",
        "one process, --keep": f"{sweep} --threads 2 --keep {folder}/kept",
        "shards, xargs -P2": f"{sweep} --shards 16 --keep {folder}/cut >/dev/null && seq 16 | "
        f"xargs -P2 -I K {PROGRAM} worker {folder}/cut --shard K/16 --threads 1 --quiet && "
        f"{PROGRAM} collect {folder}/cut --format jsonl",
        "--engine dask": f"{sweep} --threads 2 --keep {folder}/dask --engine dask",
    }


def eta(*axes: str) -> dict[str, float]:
    """What was said to be left after a tenth, and what was."""
    command = [str(PROGRAM), "sweep", str(SCENARIO), "--progress", "plain", "--threads", "2"]
    for axis in axes:
        command += ["--sweep", axis]
    said: dict[str, float] = {}
    at = 0.0
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            found = re.search(r" (\d+)/(\d+)  (?:\S+/s  )?ETA (\d+) s", line)
            if found and not said and int(found[1]) * 10 >= int(found[2]):
                at = time.monotonic()
                said = {"done": int(found[1]), "points": int(found[2]), "said_s": float(found[3])}
    said["was_s"] = round(time.monotonic() - at, 2)
    said["off"] = round(said["said_s"] / said["was_s"] - 1, 3)
    return said


def overhead(points: int, repeats: int) -> dict[str, dict[str, float]]:
    times: dict[str, list[tuple[float, float]]] = {}
    rows: set[bytes] = set()
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            for way, command in ways(points, Path(folder)).items():
                wall, cpu, out = timed(command)
                times.setdefault(way, []).append((wall, cpu))
                rows.add(out)
    if len(rows) != 1:
        sys.exit("the ways print different rows")
    least = {
        way: (min(wall for wall, _ in of_way), min(cpu for _, cpu in of_way))
        for way, of_way in times.items()
    }
    wall_0, cpu_0 = least["one process"]
    return {
        way: {
            "wall_s": round(wall, 2),
            "cpu_s": round(cpu, 2),
            "cpu_ms_a_point": round(1e3 * cpu / points, 1),
            "wall_more": round(wall / wall_0 - 1, 3),
            "cpu_more": round(cpu / cpu_0 - 1, 3),
        }
        for way, (wall, cpu) in least.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    result: dict[str, Any] = {
        "points": asked.points,
        "overhead": overhead(asked.points, asked.repeats),
        "eta": {
            "equal points": eta(f"run.seed=1:{asked.points}:1"),
            "points that grow": eta(
                "run.trials=20,100,500,1000", f"run.seed=1:{asked.points // 4}:1"
            ),
        },
    }
    text = json.dumps(result, indent=2)
    print(text)
    if asked.out:
        asked.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
