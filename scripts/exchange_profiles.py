#!/usr/bin/env python3
"""Makes configs/calibrations/deepep-*.yaml from public timings of the token exchange of mixtures of
experts.

    scripts/exchange_profiles.py moe_dispatch_combine.csv nccl_single_node.csv

Reads columns gpu, nodes, hidden, tokens, top_k, experts, combine_sms, combine_us: DeepEP on the
eight GPUs of a node. A rank's message is what arrives at it, tokens x distinct ranks of their
experts x hidden x 2 bytes (sim/workload/README.md, deduplicated dispatch); its time is that of
combine, which moves bf16, with 24 SMs. The curve is of one shape (hidden 7168, 8 of 256 experts, as
DeepSeek-V3); the error against every other shape is printed and kept in the file. All other
collectives are NCCL's, as in nccl-*.yaml (scripts/collective_profiles.py).
"""

from __future__ import annotations

import csv
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from collective_profiles import HEADWAY, ROOT, samples

SOURCE = "public tables of ai-dynamo/aiconfigurator (Apache-2.0), 2026: DeepEP, normal mode, 24 SMs"
RANKS = 8
SMS = "24"
CURVE = ("7168", "8", "256")


def message(row: dict[str, str]) -> float:
    """Bytes that arrive at a rank: every token once at each rank that holds one of its experts."""
    experts, chosen = int(row["experts"]), int(row["top_k"])
    others = experts - experts // RANKS
    none = math.comb(others, chosen) / math.comb(experts, chosen)
    return int(row["tokens"]) * RANKS * (1 - none) * int(row["hidden"]) * 2


def read_off(curve: list[tuple[float, float]], size: float) -> float:
    """Time between two points, linear in the logarithms."""
    for (a, ta), (b, tb) in zip(curve, curve[1:], strict=False):
        if a <= size <= b:
            share = math.log(size / a) / math.log(b / a)
            return math.exp(math.log(ta) + share * math.log(tb / ta))
    raise ValueError(size)


def errors(curve: list[tuple[float, float]], rows: list[dict[str, str]]) -> list[float]:
    inside = [(message(row), float(row["combine_us"]) * 1e-6) for row in rows]
    inside = [pair for pair in inside if curve[0][0] <= pair[0] <= curve[-1][0]]
    return [abs(read_off(curve, size) / seconds - 1) for size, seconds in inside]


def nccl_rows(path: str, gpu: str) -> list[dict[str, str]]:
    """All but the all-to-all that the exchange replaces."""
    with open(path, newline="") as table:
        rows = [
            row for row in csv.DictReader(table) if row["gpu"] == gpu and row["dtype"] == "half"
        ]
    return [row for row in rows if row["collective"] != "alltoall" or int(row["n_gpus"]) != RANKS]


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    by_gpu: dict[str, list[dict[str, str]]] = defaultdict(list)
    with open(sys.argv[1], newline="") as table:
        for row in csv.DictReader(table):
            if row["combine_sms"] == SMS and row["nodes"] == "1":
                by_gpu[row["gpu"]].append(row)
    for gpu, rows in sorted(by_gpu.items()):
        shape = [row for row in rows if (row["hidden"], row["top_k"], row["experts"]) == CURVE]
        curve = sorted((message(row), float(row["combine_us"]) * 1e-6) for row in shape)
        found = errors(curve, rows)
        text = samples(nccl_rows(sys.argv[2], gpu))
        for size, seconds in curve:
            text += f"collective,all_to_all,fp16,{RANKS},{RANKS},{round(size)},{seconds!r}\n"
        words = gpu.split("_")[0].upper() + " SXM"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples.csv"
            path.write_text(text)
            command = [
                str(HEADWAY),
                "calibrate",
                "fit",
                str(path),
                "--name",
                f"DeepEP and NCCL on {RANKS} x {words}",
            ]
            made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stderr, file=sys.stderr)
            return made.returncode
        said = (
            f"median {100 * statistics.median(found):.1f} %, worst {100 * max(found):.0f} % over "
            f"{len(found)} timings of 18 shapes"
        )
        text = (
            f"# The token exchange of mixtures of experts inside one node of {RANKS} x {words}: "
            "DeepEP combine, bf16, 24 SMs, no other work.\n"
            "# For frameworks with `expert_dispatch: deduplicated` that run DeepEP: "
            "`calibration: {use: deepep-"
            f"{gpu.replace('_', '-')}}}`. Other collectives are NCCL's.\n"
            "# Made by scripts/exchange_profiles.py from one shape; read off it, the others are "
            f"within {said}.\n"
        )
        text += f'source: "{SOURCE}"\n' + re.sub(r"^# .*\n", "", made.stdout)
        (ROOT / "configs" / "calibrations" / f"deepep-{gpu.replace('_', '-')}.yaml").write_text(
            text
        )
        print(f"deepep-{gpu}: {said}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
