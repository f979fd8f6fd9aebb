"""One scenario at many points, in this process or on the workers of any executor."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, as_completed
from typing import Any, Literal

from headway import _core
from headway._arguments import Engine, checked
from headway._progress import Listener, Progress, listener, watched
from headway._words import (
    Axes,
    Changes,
    PathLike,
    Source,
    _call,
    _changes,
    _file_of,
    _grid,
    _options,
    _path_and_text,
    _roots,
)
from headway.results import SweepResult, SweepRow

# Path, text, roots, changes and figures: what the compiled functions make a sweep from.
Request = tuple[str, str, list[str], list[str], list[str]]


class Sweep(SweepResult):
    """The object of ``headway sweep --format json``: `rows`, a point each, in order."""

    __slots__ = ()

    @property
    def best_row(self) -> SweepRow | None:
        """The best point whose status is ok."""
        return next((row for row in self.rows if row.point == self.best_point), None)

    def to_pandas(self) -> Any:
        """A line a point: number, changes, figures by their paths, status and reason.

        Numbers among the changes are numbers. ``.to_parquet(path)`` of the frame needs
        ``headway[parquet]``.
        """
        import pandas

        lines = [
            {
                "point": row.point,
                **{key: _number(value) for key, value in row.changes.items()},
                **row.figures,
                "status": row.status,
                "reason": row.reason,
                "digest": row.digest,
                "memory_warning": row.memory_warning,
            }
            for row in self.rows
        ]
        return pandas.DataFrame(lines)


def _number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _rows(request: Request, points: list[int], threads: int, fold: bool) -> str:
    """What a worker does: a function of the module, so that it travels to other processes."""
    return watched(lambda watch: _core.sweep_rows(*request, points, threads, fold, watch))


def _from_executor(
    executor: Executor, request: Request, points: int, chunk: int, fold: bool, told: Listener | None
) -> str:
    tasks = [
        executor.submit(_rows, request, list(range(start, min(start + chunk, points))), 1, fold)
        for start in range(0, points, chunk)
    ]
    for done, task in enumerate(as_completed(tasks), 1):
        task.result()  # the first failure ends the wait
        if told is not None:
            told("points", min(done * chunk, points), points)
    return "".join(task.result() for task in tasks)


@checked
def sweep(
    scenario: Source,
    axes: Axes | None = None,
    *,
    set: Changes | None = None,
    figures: Sequence[str] = (),
    best: str | None = None,
    best_is: Literal["lowest", "highest"] | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int = 0,
    fold: bool = True,
    executor: Executor | None = None,
    chunk: int = 8,
    keep: PathLike | None = None,
    engine: Engine | None = None,
    scheduler: str | None = None,
    dry_run: bool = False,
    progress: Progress = False,
) -> Sweep:
    """Predicts one scenario at many points.

    Parameters
    ----------
    scenario : path, Scenario or mapping
        As in `run`; its block ``sweep:`` says which points there are.
    axes : mapping, optional
        Fields and the values that each takes, such as ``{"cluster.nodes": [16, 32, 64]}``: every
        combination is a point. They stand in place of the block's ``grid``.
    figures : sequence of str
        Paths of the figures of a run that each row has; empty: the block's, or the usual ones.
    best, best_is : str, optional
        The figure by which points are ranked, and ``"lowest"`` or ``"highest"``.
    set, trials, seed, threads, fold
        As in `run`, of all points.
    executor : concurrent.futures.Executor, optional
        Simulates the points on its workers, `chunk` of them a task, each on one thread: a
        ``ProcessPoolExecutor``, or ``dask.distributed.Client(...).get_executor()``. No result
        depends on it.
    keep : path, optional
        Folder that keeps finished points: a sweep that was begun there goes on.
    engine, scheduler : str, optional
        ``"dask"``: its workers, those of a scheduler (``"tcp://HOST:PORT"``) or started here, work
        out the points in that folder.
    dry_run : bool
        The points alone, whose status is ``"listed"``; none is simulated.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    Sweep
        A point that breaks a rule or does not fit has its status and reason; the others go on.

    Raises
    ------
    headway.Error
        If the scenario, an axis, a value or a figure is wrong, before anything is simulated.
    """
    changes = _changes(set, seed, trials)
    if axes is not None:
        changes.append("sweep.grid=" + _grid(axes))
    if best is not None:
        changes.append(f"sweep.best={best}")
    if best_is is not None:
        changes.append(f"sweep.best_is={best_is}")
    if keep is not None or engine is not None or scheduler is not None or dry_run:
        if executor is not None:
            raise ValueError("points of an executor are kept in no folder: give one or the other")
        words = _options(figures=",".join(figures) or None, keep=keep, threads=threads or None)
        words += [word for change in changes for word in ("--set", change)]
        words += _options(fold=None if fold else "off") + (["--dry-run"] if dry_run else [])
        with listener(progress) as told, _file_of(scenario) as file:
            once = _options(engine=engine, scheduler=scheduler, quiet=told is None)
            printed = _call("sweep", file, *words, *once, "--format", "json", told=told)
            return Sweep(printed, _call("sweep", file, *words, "--quiet", "--format", "table"))
    path, text = _path_and_text(scenario)
    request: Request = (path, text, _roots(), changes, list(figures))
    points = watched(lambda _: _core.sweep_size(*request))
    with listener(progress) as told:
        if executor is None:
            whole = (*request, list(range(points)), threads, fold)
            lines = watched(lambda watch: _core.sweep_rows(*whole, watch), told)
        else:
            lines = _from_executor(executor, request, points, max(1, chunk), fold, told)
    return Sweep(*watched(lambda _: _core.sweep(*request, lines)))
