"""Results of the network's verbs against the committed JSON Schemas."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

SCHEMAS = Path(__file__).parents[2] / "configs" / "schema"
HEADER = "system,gpu,n_nodes,n_gpus,inter_node_network,collective,message_bytes,time_us"


def check(name: str, printed) -> dict:
    assert printed.returncode == 0, printed.stderr
    values = json.loads(printed.stdout)
    schema = json.loads((SCHEMAS / name).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(values)
    return values


def test_topo(command):
    printed = command("topo", "rail-optimized-ndr", "--nodes", "8", "--format", "json")
    assert check("headway.topo-1.json", printed)["connected"]


def test_collective(command):
    arguments = ("--cluster", "dgx-h100", "-b", "8", "-e", "1G", "-f", "8", "--format", "json")
    printed = command("collective", "all_gather", *arguments)
    rows = check("headway.collective-1.json", printed)["rows"]
    assert rows[0]["time_s"] is None  # eight bytes are no whole part for each of eight ranks
    assert rows[-1]["time_s"] > 0


def test_validate_collectives(command, tmp_path):
    table = tmp_path / "rows.csv"
    rows = [HEADER, "a,H100-80G-SXM,1,8,single node,all_reduce,1048576,30"]
    rows.append("b,n/a,4,32,see source,all_reduce,1048576,30")
    table.write_text("\n".join(rows) + "\n")
    printed = command("validate", "--collectives", table, "--format", "json")
    summary = check("headway.validate-collectives-1.json", printed)["summary"]
    assert summary["n"] == summary["n_skipped"] == 1


def test_validate_collectives_calibrated(command, tmp_path):
    table = tmp_path / "rows.csv"
    rows = [HEADER]
    rows += [f"b,n/a,4,32,see source,all_reduce,{2**k},{10 + 2**k / 1e5}" for k in range(20, 26)]
    table.write_text("\n".join(rows) + "\n")
    printed = command("validate", "--collectives", table, "--calibrated", "--format", "json")
    result = check("headway.validate-collectives-1.json", printed)
    assert result["calibration"] == "leave_one_out"
    assert result["summary"]["n"] == 6  # a machine nobody named: its own curve places its rows


def test_calibrate_compare(command, tmp_path):
    log = tmp_path / "a.log"
    lines = ["size count type redop root time algbw busbw #wrong"]
    for k in range(10, 31, 2):
        us = 20 + 2**k / 270e3
        rate = 2**k / us / 1e3
        lines.append(f"{2**k} {2**k // 4} float sum -1 {us:.2f} {rate:.2f} {1.75 * rate:.2f} 0")
    log.write_text("# " + "\n".join(lines) + "\n")
    samples, profile = tmp_path / "samples.csv", tmp_path / "profile.yaml"
    group = ("--ranks", "8", "--ranks-per-node", "8")
    made = command("calibrate", "import", "nccl-tests", log, *group, "--out", samples)
    assert made.returncode == 0, made.stderr
    assert command("calibrate", "fit", samples, "--out", profile).returncode == 0
    printed = command("calibrate", "compare", profile, log, *group, "--format", "json")
    result = check("headway.calibrate-compare-1.json", printed)
    assert result["summary"]["median_abs_error"] < 0.02
