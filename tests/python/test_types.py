"""What a user writes against the package passes the strict checks of mypy and pyright."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

USE = """
import headway
from headway import Scenario

scenario = Scenario.load("s.yaml", set={"cluster.nodes": 64})
nodes: int = scenario.cluster.nodes
memory: str = scenario.cluster.node.gpu.memory
pipeline: int = scenario.parallelism.pipeline
until = scenario.run.until  # not every job has an end
print(scenario.training.global_batch / nodes, memory.upper(), until.tokens if until else None)
larger = scenario.with_({"cluster.nodes": 2 * nodes, "run.checkpoint.interval": "900 s"})
print(larger.run.checkpoint.interval, larger.model.layers // pipeline, len(larger.assert_))
made = Scenario(name="Made here", cluster=headway.scenario.ClusterSpec(nodes=2))
headway.run(larger)
result = headway.run(scenario, set={"run.trials": 10}, pictures=True)
time: float = result.step.time_s
print(result.status, time, result.to_pandas())
result.plot.step()
for plan in headway.plan(scenario, over={"cluster.nodes": [32, 64]}, top=3).plans:
    print(plan.step.time_s)
print(headway.drill("s.yaml", "hang").summary())
table = headway.sweep(scenario, {"parallelism.tensor": [1, 2]})
headway.check("s.yaml")
"""


def run_checker(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "use.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", *words, "use.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("wrong", ["", 'headway.run("s.yaml", sead=1)\n'])
def test_pyright(tmp_path, wrong):
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    words = ("basedpyright", "--pythonpath", sys.executable, "--outputjson")
    done = run_checker(tmp_path, USE + wrong, *words)
    complaints = json.loads(done.stdout)["generalDiagnostics"]
    assert [c["message"] for c in complaints if "sead" not in c["message"]] == []
    assert bool(complaints) == bool(wrong)


def test_mypy(tmp_path):
    done = run_checker(tmp_path, USE, "mypy", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
