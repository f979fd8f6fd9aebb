"""What a user writes against the package passes the strict checks of mypy and pyright."""

from __future__ import annotations

import ast
import json
import keyword
import subprocess
import sys
from pathlib import Path

import headway
from headway import results

USE = """
import headway
from headway import Scenario
from headway.results import RunResult, StepResult

scenario = Scenario.load("s.yaml", set={"cluster.nodes": 64})
nodes: int = scenario.cluster.nodes
memory: str = scenario.cluster.node.gpu.memory
pipeline: int = scenario.parallelism.pipeline
until = scenario.run.until  # not every job has an end
print(scenario.training.global_batch / nodes, memory.upper(), until.tokens if until else None)
larger = scenario.with_({"cluster.nodes": 2 * nodes, "run.checkpoint.interval": "900 s"})
larger.save("larger.yaml", force=True)
for line in larger.to_yaml().splitlines():
    print(line)
print(larger.run.checkpoint.interval, larger.model.layers // pipeline, len(larger.assert_))
made = Scenario(name="Made here", cluster=headway.scenario.ClusterSpec(nodes=2))
headway.run(larger)
result = headway.run(scenario, set={"run.trials": 10}, pictures=True)
time: float = result.step.time_s
print(result.status, time, result.to_pandas())
result.plot.step()
for plan in headway.plan(scenario, over={"cluster.nodes": [32, 64]}, top=3).plans:
    print(plan.step.time_s, scenario.with_layout(plan).name)
    quicker: bool = plan.step.time_s < time
if result.campaign is not None:  # not every run has one
    days: float = result.campaign.wall_days.p50
table_text: str = headway.import_("nccl-xml", "x.xml", gpu="h100-sxm", gpus=8)
profile: str = headway.calibrate("fit", "a.csv", "b.csv", gpu="h100-sxm", tolerance=0.01)
headway.plan("s.yaml", objective="dollars", vary="tensor", hold=["schedule"], nodes=[2, 4])
print(headway.catalog("constants").rows, headway.schema("gpus"), headway.schema())
print(headway.drill("s.yaml", "hang").timeline[0].at_s, result.step.time_interval_s[1])
table = headway.sweep(scenario, {"parallelism.tensor": [1, 2]})
value: float | None = table.rows[0].figures["step.time_s"]
if table.best_row is not None:
    change: str = table.best_row.changes["parallelism.tensor"]
a: str = headway.compare("a.yaml", "b.yaml").a.name
row = headway.collective("all_reduce", "dgx-h100").rows[0]
bandwidth: float | None = row.bus_bandwidth_bytes_per_s
tiers: int = len(headway.topo("s.yaml").tiers)
transport: str = headway.topo("s.yaml", stress="dcqcn").transport
error: float | None = headway.validate(goodput="cases.csv").rows[0].error
for gpu in headway.catalog("gpus").rows:
    print(gpu.name)
headway.check("s.yaml")


def tokens(run: RunResult, step: StepResult) -> float:
    return step.tokens_per_s * run.step.time_s


print(tokens(result, result.step))
"""

WRONG = [
    'headway.run("s.yaml", sead=1)',
    "result.step.tiem_s",
    "result.campain",
    "result.step.time_s.mean",
    "result.step.time_s = 1.0",
    "result.campaign.goodput",
    'headway.plan("s.yaml").plans[0].stepp',
    'headway.topo("s.yaml").transport',
    'headway.validate(goodput="cases.csv", anchor="row")',
    'headway.import_("nonsense", "x")',
    'headway.import_("nccl-xml", "x", bogus=1)',
    'headway.export("megatorn", "s.yaml")',
    'headway.calibrate("nonsense")',
    'headway.calibrate("fit", "x.csv", bogus=1)',
    'headway.catalog("nonsense")',
    'headway.entry("gpu", "h100-sxm")',
    'headway.schema("nonsense")',
    'headway.plan("s.yaml", objective="nonsense")',
    'headway.plan("s.yaml", objective=["days", "nonsense"])',
    'headway.collective("nonsense", "dgx-h100")',
    'headway.topo("s.yaml", stress="nonsense")',
    'headway.run("s.yaml", network="nonsense")',
    'headway.run("s.yaml", engine="nonsense")',
    'headway.run("s.yaml", threads=1.5)',
    'headway.sweep("s.yaml", best_is="nonsense")',
    'headway.share("sweep", "s.yaml", "d", shards=1, emit="nonsense")',
    'headway.report([], path="x.html")',
]
"""Each is one mistake."""


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


def lines_of_mistakes() -> list[int]:
    first = USE.count("\n") + 1
    return list(range(first, first + len(WRONG)))


def test_pyright(tmp_path):
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11"}
    settings["reportUnusedExpression"] = False
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    words = ("basedpyright", "--pythonpath", sys.executable, "--outputjson")
    done = run_checker(tmp_path, USE + "\n".join(WRONG), *words)
    complaints = json.loads(done.stdout)["generalDiagnostics"]
    lines = {c["range"]["start"]["line"] + 1 for c in complaints}
    assert sorted(lines) == lines_of_mistakes(), complaints


def test_mypy(tmp_path):
    done = run_checker(tmp_path, USE + "\n".join(WRONG), "mypy", "--strict")
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert sorted(lines) == lines_of_mistakes(), done.stdout + done.stderr


def classes_of_the_stub() -> dict[str, set[str]]:
    stub = ast.parse(Path(headway.__file__).with_name("results.pyi").read_text())
    return {
        each.name: {part.name for part in each.body if isinstance(part, ast.FunctionDef)}
        for each in stub.body
        if isinstance(each, ast.ClassDef)
    }


def test_names_of_the_stub_are_there_and_hide_nothing():
    classes = classes_of_the_stub()
    for name, figures in classes.items():
        base = getattr(results, name)
        assert base in (headway.Record, headway.Result)
        assert not figures & set(dir(base)), name
        assert not any(keyword.iskeyword(figure) for figure in figures), name
    assert {n for n in vars(results) if n[0] != "_"} == {*classes, "Record", "Result"}


def test_the_stub_has_what_a_run_has(small):
    classes = classes_of_the_stub()
    run = headway.run(small, explain=True, pictures=True)
    assert set(run) - {"verdict"} <= classes["RunResult"]
    assert set(run.step) == classes["StepResult"] - {"packets"}
