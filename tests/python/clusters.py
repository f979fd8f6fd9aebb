"""Dask clusters for tests, and workers that are killed in the middle."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import distributed

# The environment of a program that starts `--engine dask`.
ENGINE = {**os.environ, "HEADWAY_PYTHON": sys.executable}


@contextlib.contextmanager
def two_workers() -> Iterator[distributed.LocalCluster]:
    """A cluster of two processes of one thread."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def a_worker(client: distributed.Client) -> int:
    """The process of one of the workers."""
    return int(next(iter(client.run(os.getpid).values())))


def with_a_killed_worker(line: list[str], kept: Path, shards: int) -> bytes:
    """What a line prints whose workers lose one of their two after the first of its shards."""
    with two_workers() as cluster:
        with distributed.Client(cluster) as client:
            victim = a_worker(client)
        words = [*line, "--scheduler", cluster.scheduler_address]
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENGINE
        ) as engine:
            deadline = time.monotonic() + 60
            while not list(kept.glob("*.jsonl")) and time.monotonic() < deadline:
                time.sleep(0.002)
            before = len(list(kept.glob("*.jsonl")))
            os.kill(victim, signal.SIGKILL)
            out, err = engine.communicate(timeout=120)
        with distributed.Client(cluster) as client:
            assert victim not in client.run(os.getpid).values()
    assert engine.returncode == 0, err
    assert 0 < before < shards
    return out
