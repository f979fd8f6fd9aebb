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
