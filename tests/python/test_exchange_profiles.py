"""The curves of the token exchange against the public timings they were made of."""

from __future__ import annotations

import csv
import json
import statistics
import sys

import pytest
import yaml
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import exchange_profiles  # noqa: E402

MIXTURE = """\
headway: 1
name: Mixture
cluster:
  nodes: 1
  node: {{use: dgx-h100}}
  fabric: {{use: rail-optimized-ndr}}
  storage: {{use: lustre}}
model: {{use: mixtral-8x7b}}
training:
  sequence_length: 4096
  global_batch: 64
  framework: {{use: megatron-core, expert_dispatch: deduplicated}}
parallelism: {{expert: 8, data: auto, micro_batch: 1, sharding: zero1}}
{calibration}
"""


@pytest.mark.parametrize("gpu, bound", [("h100_sxm", 0.05), ("b200_sxm", 0.09)])
def test_shapes_that_made_no_curve_are_read_off_it(gpu, bound):
    table = ROOT / "tests/data/measured/moe_dispatch_combine.csv"
    entry = yaml.safe_load(
        (ROOT / f"configs/calibrations/deepep-{gpu.replace('_', '-')}.yaml").read_text()
    )
    curves = [c for c in entry["collectives"] if (c["collective"], c["ranks"]) == ("all_to_all", 8)]
    assert len(curves) == 1
    units = {
        "B": 1,
        "h": 3600,
        "s": 1,
        "us": 1e-6,
        "ns": 1e-9,
        "ms": 1e-3,
        "KiB": 2**10,
        "MiB": 2**20,
        "GiB": 2**30,
    }

    def number(text):
        value, unit = text.split()
        return float(value) * units[unit]

    curve = [(number(p["message"]), number(p["time"])) for p in curves[0]["points"]]
    with table.open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["gpu"] == gpu
            and row["combine_sms"] == exchange_profiles.SMS
            and (row["hidden"], row["top_k"], row["experts"]) != exchange_profiles.CURVE
        ]
    found = exchange_profiles.errors(curve, rows)
    assert len(found) > 100
    assert statistics.median(found) < bound


def test_the_curve_reaches_the_step(command, tmp_path):
    times = {}
    for name in ("nccl-h100-sxm", "deepep-h100-sxm"):
        scenario = tmp_path / f"{name}.yaml"
        scenario.write_text(MIXTURE.format(calibration=f"calibration: {{use: {name}}}"))
        done = command("run", scenario, "--format", "json", "--quiet")
        assert done.returncode in (0, 3), done.stderr
        times[name] = json.loads(done.stdout)["step"]["breakdown_s"]["expert"]
    assert times["nccl-h100-sxm"] != times["deepep-h100-sxm"]
    assert 0.5 < times["deepep-h100-sxm"] / times["nccl-h100-sxm"] < 2
