"""Shards of a sweep, run or plan on the workers of a Dask cluster: what ``--engine dask`` does.

A worker simulates a shard and sends its lines back; the file is written here, under another name
first. So workers share no folder, one that dies costs its shard's time, and what was stopped goes
on with the shards that are missing.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from headway import _core
from headway._files import deliver
from headway._progress import watched
from headway._words import _roots

INCOMPLETE, WRONG_INPUT, INTERRUPTED = 5, 2, 130
IN_FLIGHT = 4  # shards a thread of the cluster that wait for it
LOST_WORKERS = 10  # of one shard, before it is said to kill them
# Nobody looks at the dashboard of a cluster that is started here, so nothing is sampled for it: one
# of two workers takes 0.02 s of processor time a second while it waits, not 0.05.
CLUSTER: dict[str, Any] = {
    "distributed.scheduler.allowed-failures": LOST_WORKERS,
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
if sys.platform == "linux":
    # A worker is a copy of this process, which has loaded Dask and computes nothing itself: that
    # halves what a cluster costs apart from its points (docs/sweep.md, What it costs).
    CLUSTER["distributed.worker.multiprocessing-method"] = "fork"


@functools.lru_cache(maxsize=4)
def _opened(manifest: str) -> _core.Shards:
    """What all shards begin with, once a worker: the scenario, its step."""
    return _core.Shards(manifest, _roots())


def _shard(manifest: str, shard: int, fold: bool) -> tuple[int, str]:
    """What a worker does, with its own installation's catalogue."""
    shards = _opened(manifest)
    return shard, watched(lambda watch: shards.lines(shard, 1, fold, watch))


def _manifest(folder: Path) -> str:
    """What the folder is made from."""
    work = folder / "work.json"
    return (work if work.exists() else folder / "sweep.json").read_text(encoding="utf-8")


def missing(folder: Path, manifest: str) -> list[int]:
    """Numbers, from 1, of the shards that are not there."""
    return [
        shard
        for shard in range(1, _core.shard_count(manifest) + 1)
        if not (folder / _core.shard_name(manifest, shard)).exists()
    ]


def complete(folder: Path, client: Any, *, fold: bool = True) -> Iterator[int]:
    """Simulates the shards that are missing; yields each when its file is there.

    Parameters
    ----------
    folder : Path
        A folder that ``--keep`` of ``headway sweep``, ``run`` or ``plan`` made.
    client : distributed.Client
        Whose workers simulate.
    """
    distributed: Any = importlib.import_module("distributed")  # it is not typed
    manifest = _manifest(folder)
    todo = iter(missing(folder, manifest))

    # By the name that workers know, also where this file is the program.
    task = importlib.import_module("headway._dask")._shard

    def submit(shard: int) -> Any:
        return client.submit(task, manifest, shard, fold, pure=False)

    threads = sum(client.nthreads().values())
    first = [submit(shard) for shard in itertools.islice(todo, IN_FLIGHT * max(1, threads))]
    running = distributed.as_completed(first)
    del first  # a future that nobody holds is forgotten, and its lines with it
    for future in running:
        shard, lines = future.result()
        deliver(folder / _core.shard_name(manifest, shard), lines.encode(), force=True)
        following = next(todo, None)
        if following is not None:
            running.add(submit(following))
        yield shard


def _client(stack: ExitStack, scheduler: str | None, workers: int) -> Any:
    distributed: Any = importlib.import_module("distributed")
    dask: Any = importlib.import_module("dask")
    if scheduler is not None:
        return stack.enter_context(distributed.Client(scheduler, timeout="10s"))
    dask.config.set(CLUSTER)
    cluster = stack.enter_context(
        distributed.LocalCluster(
            n_workers=workers or os.cpu_count() or 1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
        )
    )
    return stack.enter_context(distributed.Client(cluster))


def _run(folder: Path, scheduler: str | None, workers: int, fold: bool, quiet: bool) -> None:
    count = len(missing(folder, _manifest(folder)))
    if count == 0:
        return
    with ExitStack() as stack:
        client = _client(stack, scheduler, workers)
        start = time.monotonic()
        for done, _ in enumerate(complete(folder, client, fold=fold), start=1):
            tenth = done * 10 // count > (done - 1) * 10 // count
            if tenth and not quiet:
                left = (time.monotonic() - start) * (count - done) / done
                print(f"{done} of {count} shards, {left:.0f} s left", file=sys.stderr)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m headway._dask", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scheduler", help="address such as tcp://10.0.0.1:8786; absent: here")
    parser.add_argument("--workers", type=int, default=0, help="processes here; 0: one a core")
    parser.add_argument("--fold", choices=("on", "off"), default="on")
    parser.add_argument("--quiet", action="store_true")
    asked = parser.parse_args(arguments)
    try:
        _run(asked.folder, asked.scheduler, asked.workers, asked.fold == "on", asked.quiet)
    except ModuleNotFoundError as error:
        print(f"--engine dask: {error}; pip install 'headway[dask]'", file=sys.stderr)
        return WRONG_INPUT
    except _core.Error as error:
        print(f"--engine dask: {error}", file=sys.stderr, end="")
        return WRONG_INPUT
    except OSError as error:
        print(f"--engine dask: {asked.scheduler or asked.folder}: {error}", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # a worker that dies again and again is no fault of the program
        if type(error).__name__ != "KilledWorker":
            raise
        print(f"--engine dask: {error}", file=sys.stderr)
        return INCOMPLETE
    return 0


if __name__ == "__main__":
    sys.exit(main())
