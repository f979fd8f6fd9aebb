#!/usr/bin/env python3
"""Makes configs/calibrations/nccl-*.yaml from public tables of NCCL timings.

    scripts/collective_profiles.py nccl_single_node.csv

Reads columns gpu, collective, dtype, n_gpus, elements, element_bytes, time_us; takes the 16-bit
rows, writes samples, and lets `headway calibrate fit` turn them into one profile a GPU, with fitted
lines and errors.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADWAY = ROOT / "build" / "release" / "bin" / "headway"
SOURCE = "public tables of ai-dynamo/aiconfigurator (Apache-2.0), 2026: median over runs"
NAMES = {"gb200": "NCCL on 4 x GB200", "gb300": "NCCL on 4 x GB300"}
OPS = {"alltoall": "all_to_all"}
COLUMNS = "kind,op,precision,ranks,ranks_per_node,bytes,seconds"


def heading(gpus: int, gpu: str) -> str:
    return (
        f"# Collectives inside one node of {gpus} x {gpu}, measured with nccl-tests (NCCL 2.27 "
        "to 2.29), 16-bit elements, "
        "no other work on the node.\n"
        "# Groups of other sizes and several nodes are not in it; they fall to the nearest curve "
        "or to the cost model.\n"
        "# Fitted by scripts/collective_profiles.py; errors are of the fit and of reading "
        "between points.\n"
    )


def samples(rows: list[dict[str, str]]) -> str:
    lines = ["# headway-samples 1", COLUMNS]
    for row in rows:
        op = OPS.get(row["collective"], row["collective"])
        size = int(row["elements"]) * int(row["element_bytes"])
        ranks = row["n_gpus"]
        seconds = float(row["time_us"]) * 1e-6
        lines.append(f"collective,{op},fp16,{ranks},{ranks},{size},{seconds!r}")
    return "\n".join(lines) + "\n"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    by_gpu: dict[str, list[dict[str, str]]] = defaultdict(list)
    with open(sys.argv[1], newline="") as table:
        for row in csv.DictReader(table):
            if row["dtype"] == "half":
                by_gpu[row["gpu"]].append(row)
    for gpu, rows in sorted(by_gpu.items()):
        entry = gpu.replace("_", "-")
        gpus = max(int(row["n_gpus"]) for row in rows)
        words = gpu.split("_")[0].upper() + (" SXM" if gpu.endswith("_sxm") else "")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.csv"
            path.write_text(samples(rows))
            name = NAMES.get(gpu, f"NCCL on {gpus} x {words}")
            command = [str(HEADWAY), "calibrate", "fit", str(path), "--name", name]
            made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stderr, file=sys.stderr)
            return made.returncode
        text = heading(gpus, words) + f'source: "{SOURCE}"\n' + made.stdout
        (ROOT / "configs" / "calibrations" / f"nccl-{entry}.yaml").write_text(text)
        print(f"nccl-{entry}: {len(rows)} samples", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
