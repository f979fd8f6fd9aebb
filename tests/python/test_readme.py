"""The README prints what the program prints."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIO = "configs/scenarios/llama-3.1-405b-16k-h100.yaml"


def figure(text: str, label: str) -> list[float]:
    """The numbers behind a label, up to the end of the line."""
    line = next(line for line in text.splitlines() if label in line)
    return [float(word) for word in re.findall(r"[0-9]+(?:\.[0-9]+)?", line.split(label, 1)[1])]


def close(shown: float, value: float) -> bool:
    """Equal to the three figures that are shown, a tie rounded either way."""
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    return abs(shown - value) <= 0.5001 * unit


def test_the_printed_result_is_current(command):
    block = (ROOT / "README.md").read_text().split("The first prints", 1)[1].split("```")[1]
    done = command("run", ROOT / SCENARIO, "--format", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    step, campaign = result["step"], result["campaign"]
    assert close(figure(block, "time [s]")[0], step["time_s"])
    interval = figure(block, "90 % interval [s]")
    assert all(close(a, b) for a, b in zip(interval, step["time_interval_s"], strict=False))
    assert close(figure(block, "model TFLOP/s a GPU")[0], step["model_tflops_per_gpu"])
    assert close(figure(block, "MFU, attention in full [%]")[0], 100 * step["mfu"])
    for label, key in (
        ("  compute", "compute"),
        ("tensor-parallel communication", "tensor"),
        ("the pipeline bubble", "pipeline_bubble"),
        ("unequal stages", "stage_imbalance"),
        ("transfers between pipeline stages", "pipeline_p2p"),
        ("data-parallel communication", "data"),
    ):
        seconds, share = figure(block, label)[:2]
        assert close(seconds, step["breakdown_s"][key]), label
        assert abs(share - 100 * step["breakdown_s"][key] / step["time_s"]) < 0.051, label
    for label, key, scale in (
        ("wall clock [days]", "wall_days", 1),
        ("ETTR [%]", "ettr", 100),
        ("interruptions", "interruptions", 1),
    ):
        shown = figure(block, label)
        expected = [scale * campaign[key][quantile] for quantile in ("p5", "p50", "p95")]
        assert all(close(a, b) for a, b in zip(shown, expected, strict=False)), label
