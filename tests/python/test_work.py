"""Trials of a run and machines of a plan on the workers of a Dask cluster."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import headway
import pytest
from clusters import ENGINE, with_a_killed_worker
from headway import _core
from headway._words import _roots

RUN: dict[str, Any] = {
    "headway": 1,
    "name": "Small",
    "cluster": {
        "nodes": 2,
        "node": {"use": "dgx-h100"},
        "fabric": {"use": "rail-optimized-ndr"},
        "storage": {"use": "lustre"},
    },
    "model": {"use": "llama-3.1-8b"},
    "training": {"sequence_length": 4096, "global_batch": 32},
    "parallelism": {"tensor": 2, "pipeline": 2, "data": "auto"},
    "run": {
        "until": {"steps": 200000},
        "failures": {"use": "llama-3-54-days"},
        "recovery": {"use": "automated-2024"},
        "prices": {"use": "h100-on-demand-2026-05"},
        "trials": 4000,
    },
    "search": {
        "vary": ["tensor", "pipeline", "micro_batch"],
        "machines": [f"cluster.nodes={nodes}" for nodes in (1, 2, 4, 8, 16)],
    },
}
# Verb, words of it, words that cut it, how many shards there are.
WAYS = [
    ("run", [], ["--shards", "40"], 40),
    ("plan", ["--set", "run.trials=20", "--objective", "dollars,days", "--top", "6"], [], 5),
]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(RUN))
    return file


def _line(program: Path, verb: str, file: Path, *words: object) -> list[str]:
    return [str(word) for word in (program, verb, file, *words, "--format", "json")]


def _result(out: bytes) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(out)
    del result["timing"]
    return result


@pytest.mark.parametrize(("verb", "words", "cut", "shards"), WAYS)
def test_dask_gives_the_answer_of_one_process(
    scenario: Path, program: Path, verb: str, words: list[str], cut: list[str], shards: int
) -> None:
    kept = scenario.parent / "kept"
    alone = subprocess.run(
        _line(program, verb, scenario, *words), check=True, capture_output=True
    ).stdout
    line = _line(
        program, verb, scenario, *words, *cut, "--keep", kept, "--engine", "dask", "--threads", 2
    )
    done = subprocess.run(line, check=False, capture_output=True, env=ENGINE)
    assert done.returncode == 0, done.stderr
    assert _result(done.stdout) == _result(alone)
    assert f"{shards} of {shards} shards".encode() in done.stderr
    # The shards are those that a worker of the command line writes.
    one = next(iter(kept.glob(f"*-00002-of-{shards:05}.jsonl")))
    written = one.read_bytes()
    one.unlink()
    subprocess.run(
        [program, "worker", kept, "--shard", f"2/{shards}", "--quiet"], check=True, env=ENGINE
    )
    assert one.read_bytes() == written


@pytest.mark.deep  # as a sweep's, by the same engine (test_sweep.py)
@pytest.mark.parametrize(("verb", "words", "cut", "shards"), WAYS)
def test_dask_goes_on_when_a_worker_is_killed(
    scenario: Path, program: Path, verb: str, words: list[str], cut: list[str], shards: int
) -> None:
    kept = scenario.parent / "kept"
    line = _line(program, verb, scenario, *words, *cut, "--keep", kept, "--engine", "dask")
    out = with_a_killed_worker(line, kept, shards)
    alone = subprocess.run(
        _line(program, verb, scenario, *words), check=True, capture_output=True
    ).stdout
    assert _result(out) == _result(alone)


def test_a_worker_with_another_catalogue_refuses(scenario: Path, program: Path) -> None:
    kept = scenario.parent / "kept"
    subprocess.run(
        [program, "run", scenario, "--keep", kept, "--shards", "3"], check=True, capture_output=True
    )
    manifest = (kept / "work.json").read_text()
    changed = json.loads(manifest)
    changed["digest"] = "0123456789abcdef"
    with pytest.raises(_core.Error, match="the run was begun as 0123456789abcdef"):
        _core.Shards(json.dumps(changed), _roots())
    assert _core.shard_count(manifest) == 3
    assert _core.shard_name(manifest, 2).endswith("-00002-of-00003.jsonl")


def test_python_keeps_trials_too(scenario: Path) -> None:
    kept = scenario.parent / "kept"
    plain = headway.run(scenario)
    assert {**headway.run(scenario, keep=kept), "timing": None} == {**plain, "timing": None}
    begun = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert begun, "nothing is kept"
    assert headway.run(scenario, keep=kept).campaign == plain.campaign
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == begun
    with pytest.raises(headway.Error, match="--scheduler"):
        headway.run(scenario, scheduler="tcp://127.0.0.1:1")
