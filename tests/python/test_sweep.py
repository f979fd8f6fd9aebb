"""One scenario at many points, from Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import dask
import distributed
import headway
import pandas
import pytest
from clusters import ENGINE, a_worker, two_workers, with_a_killed_worker
from headway import _dask

AXES = {"parallelism.tensor": [1, 2, 3], "training.global_batch": [32, 64]}
SMALL = {
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
}


def test_rows_are_the_programs(tmp_path: Path, program: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(SMALL))
    words = [
        word
        for key, values in AXES.items()
        for word in ("--sweep", f"{key}={','.join(str(value) for value in values)}")
    ]
    out = subprocess.run(
        [program, "sweep", file, "--format", "json", *words],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    points = headway.sweep(file, AXES)
    assert points["rows"] == headway.Record(json.loads(out))["rows"]
    assert points.best_row is not None
    assert points.best_row.changes["parallelism.tensor"] == "1"
    assert points.rows[4].status == "refused"
    alone = headway.run(file, set={"parallelism.tensor": 2, "training.global_batch": 64})
    assert points.rows[3].figures["step.time_s"] == alone.step.time_s
    assert points.rows[3].digest == alone.scenario.digest


def test_points_that_are_kept_go_on(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []

    def told(phase: str, done: int, total: int) -> None:
        heard.append((phase, done, total))

    plain = headway.sweep(SMALL, AXES)
    kept = headway.sweep(SMALL, AXES, keep=tmp_path / "kept", progress=told)
    assert (kept.json, kept.table) == (plain.json, plain.table)
    assert heard[-1][1:] == (6, 6)
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "kept").iterdir()}
    assert headway.sweep(SMALL, AXES, keep=tmp_path / "kept").json == plain.json
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "kept").iterdir()} == files
    with pytest.raises(ValueError, match="one or the other"):
        headway.sweep(SMALL, AXES, keep=tmp_path / "kept", executor=ProcessPoolExecutor(1))


def test_files_of_a_mapping_are_those_of_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lengths.csv").write_text("length,documents\n1024,3\n4096,1\n")
    packed = {**SMALL, "training": {**SMALL["training"], "documents": "lengths.csv"}}
    few = {"training.global_batch": [32]}
    plain = headway.sweep(packed, few)
    kept = headway.sweep(packed, few, keep="kept")
    assert kept.rows[0].status == "ok"
    assert kept.rows[0].figures == plain.rows[0].figures


def test_points_can_be_listed_alone() -> None:
    listed = headway.sweep(SMALL, AXES, dry_run=True)
    assert [row.status for row in listed.rows] == ["listed"] * 6
    assert listed.rows[1].changes["training.global_batch"] == "64"


def test_machines_that_are_kept_go_on(tmp_path: Path) -> None:
    over = {"cluster.nodes": [1, 2]}
    limits = {"headroom": 0.05}
    asked = {"over": over, "limits": limits, "hold": ["schedule"], "simulate": 3, "top": 2}
    plain = headway.plan(SMALL, **asked)
    kept = headway.plan(SMALL, **asked, keep=tmp_path / "kept")
    assert kept.plans == plain.plans
    files = sorted((tmp_path / "kept").iterdir())
    assert headway.plan(SMALL, **asked, keep=tmp_path / "kept").plans == plain.plans
    assert files == sorted((tmp_path / "kept").iterdir())
    assert files


def test_an_executor_changes_nothing() -> None:
    points = headway.sweep(SMALL, AXES, figures=["step.mfu"], best="step.mfu", best_is="highest")
    pool: Executor
    with ProcessPoolExecutor(2) as pool:
        again = headway.sweep(
            SMALL,
            AXES,
            figures=["step.mfu"],
            best="step.mfu",
            best_is="highest",
            executor=pool,
            chunk=1,
        )
    assert again.json == points.json
    assert again.table == points.table
    frame = points.to_pandas()
    assert list(frame["parallelism.tensor"]) == [1, 1, 2, 2, 3, 3]
    assert frame["step.mfu"].idxmax() == points.best_point
    assert list(frame["status"]) == ["ok", "ok", "ok", "ok", "refused", "refused"]


def test_a_sweep_is_a_parquet_file(tmp_path: Path) -> None:
    frame = headway.sweep(SMALL, AXES).to_pandas()
    frame.to_parquet(tmp_path / "points.parquet")
    again = pandas.read_parquet(tmp_path / "points.parquet")
    assert list(again.columns) == list(frame.columns)
    for column in frame:  # nothing is None before and not-a-number after
        there = frame[column].notna()
        assert list(again[column].notna()) == list(there)
        assert list(again[column][there]) == list(frame[column][there])


@pytest.mark.deep  # the engine's own executor loses a worker below
def test_dask_goes_on_when_a_worker_is_killed() -> None:
    axes = {"training.global_batch": range(32, 32 * 41, 32)}
    points = headway.sweep(SMALL, axes)
    with two_workers() as cluster, distributed.Client(cluster) as client:
        victim = a_worker(client)
        killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
        killer.start()
        again = headway.sweep(SMALL, axes, executor=client.get_executor(), chunk=1)
        killer.join()
        assert victim not in client.run(os.getpid).values()
    assert again.json == points.json


MANY = ("--sweep", "training.global_batch=32:1280:32", "--shards", "20")


def _in_process(program: Path, file: Path) -> bytes:
    return subprocess.run(
        [program, "sweep", file, *MANY[:2], "--format", "jsonl"], check=True, capture_output=True
    ).stdout


def _with_dask(program: Path, file: Path, kept: Path, *words: str) -> list[str]:
    line = [program, "sweep", file, *MANY, "--keep", kept, "--engine", "dask", *words]
    return [str(word) for word in [*line, "--format", "jsonl"]]


def test_the_dask_engine_gives_the_same_bytes(tmp_path: Path, program: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(SMALL))
    line = _with_dask(program, file, tmp_path / "kept", "--threads", "2")
    done = subprocess.run(line, check=True, capture_output=True, env=ENGINE)
    assert done.stdout == _in_process(program, file)
    assert b"20 of 20 shards" in done.stderr
    # What is there is not simulated again, and what is missing is.
    next(iter((tmp_path / "kept").glob("*-00007-of-00020.jsonl"))).unlink()
    again = subprocess.run(line, check=True, capture_output=True, env=ENGINE)
    assert again.stdout == done.stdout
    assert b"1 of 1 shards" in again.stderr


def test_the_dask_engine_goes_on_when_a_worker_is_killed(tmp_path: Path, program: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(SMALL))
    kept = tmp_path / "kept"
    out = with_a_killed_worker(_with_dask(program, file, kept), kept, 20)
    assert out == _in_process(program, file)


def test_workers_that_the_engine_starts_sample_nothing() -> None:
    with ExitStack() as stack:
        client = _dask._client(stack, None, 1)
        for setting, value in _dask.CLUSTER.items():
            assert list(client.run(dask.config.get, setting).values()) == [value], setting


def test_the_dask_engine_says_what_it_lacks(tmp_path: Path, program: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(SMALL))

    def refused(kept: str, *words: str, python: str = sys.executable) -> str:
        line = _with_dask(program, file, tmp_path / kept, *words)
        done = subprocess.run(
            line,
            check=False,
            capture_output=True,
            text=True,
            env={**os.environ, "HEADWAY_PYTHON": python},
        )
        assert done.returncode == 2, done.stderr
        return done.stderr

    assert "'/no/python' cannot be started" in refused("a", python="/no/python")
    assert "HEADWAY_PYTHON names the Python" in refused("b", python="false")
    assert "tcp://127.0.0.1:9" in refused("c", "--scheduler", "tcp://127.0.0.1:9")
    line = [program, "sweep", file, *MANY[:2], "--engine", "dask"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--engine requires --keep" in done.stderr


def test_slips_are_found_first() -> None:
    with pytest.raises(headway.Error, match="did you mean 'tensor'"):
        headway.sweep(SMALL, {"parallelism.tensr": [1]})
    with pytest.raises(headway.Error, match="nothing to sweep"):
        headway.sweep(SMALL)
