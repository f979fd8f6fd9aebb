"""One scenario at many points, from Python."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import distributed
import headway
import pytest

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


def test_dask_goes_on_when_a_worker_is_killed() -> None:
    axes = {"training.global_batch": range(32, 32 * 41, 32)}
    points = headway.sweep(SMALL, axes)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(0.2, os.kill, (victim, signal.SIGKILL))
        killer.start()
        again = headway.sweep(SMALL, axes, executor=client.get_executor(), chunk=1)
        killer.join()
        assert victim not in client.run(os.getpid).values()
    assert again.json == points.json


def test_slips_are_found_first() -> None:
    with pytest.raises(headway.Error, match="did you mean 'tensor'"):
        headway.sweep(SMALL, {"parallelism.tensr": [1]})
    with pytest.raises(headway.Error, match="nothing to sweep"):
        headway.sweep(SMALL)
