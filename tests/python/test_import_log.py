"""A failure log of a real cluster becomes an entry that a scenario replays."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT, SMALL

LOG = """\
date,event,nodes_lost
2022-03-01,start,
2022-03-02,gpu_crash,1
2022-03-03,hang_at_eval,0
2022-03-04,straggler,0
"""


def replayed(command, tmp_path, log) -> dict:
    entry = tmp_path / "failures.yaml"
    done = command("import", "failure-log", log, "--out", entry)
    assert done.returncode == 0, done.stderr
    scenario = tmp_path / "s.yaml"
    text = SMALL.replace("failures: {use: llama-3-54-days}", "failures: {use: failures.yaml}")
    scenario.write_text(text.replace("{steps: 20000}", "{wall: 90 d}"))
    done = command("run", scenario, "--format", "json", "--quiet")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["campaign"]


def test_a_log_is_replayed(command, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(LOG)
    campaign = replayed(command, tmp_path, log)
    assert campaign["interruptions"]["p5"] == campaign["interruptions"]["p95"] == 2
    done = command("import", "failure-log", log, "--out", tmp_path / "again.yaml")
    assert "'straggler' did not stop the job" in done.stderr


@pytest.mark.parametrize("name, stops", [("bloom176b", 5), ("glm130b", 12)])
def test_published_logs_are_replayed(command, tmp_path, name, stops):
    log = ROOT / "tests/data" / f"{name}_events.csv"
    assert replayed(command, tmp_path, log)["interruptions"]["p50"] == stops
