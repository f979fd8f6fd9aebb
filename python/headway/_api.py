"""The verbs of the program as functions."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from headway import _core
from headway._arguments import Engine, Kind, Network, Objective, checked
from headway._files import deliver
from headway._progress import Progress, listener, watched
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
    _rooted,
    _roots,
    _with_tables,
)
from headway.results import (
    DiagnoseResult,
    ExpectResult,
    PlacementResult,
    PlanResult,
    RunResult,
    SolveResult,
)


def _drawn(request: tuple[str, str, list[str], list[str], int, bool, bool, bool, str]) -> str:
    """The result of a run again, with pictures, in silence."""
    return watched(lambda watch: _core.run(*request, watch))[0]


@checked
def run(
    scenario: Source,
    *,
    set: Changes | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int = 0,
    fold: bool = True,
    explain: bool = False,
    pictures: bool = False,
    network: Network = "fluid",
    trace: PathLike | None = None,
    trace_ranks: str | None = None,
    trace_steps: int | None = None,
    trace_format: Literal["perfetto", "chrome"] | None = None,
    trace_run: PathLike | None = None,
    power: PathLike | None = None,
    force: bool = False,
    keep: PathLike | None = None,
    engine: Engine | None = None,
    scheduler: str | None = None,
    progress: Progress = False,
) -> RunResult:
    """Predicts one scenario.

    Parameters
    ----------
    scenario : path, Scenario or mapping
        The scenario file, or a scenario made in Python.
    set : mapping, optional
        Values to change, such as ``{"cluster.nodes": 64, "cluster.node.gpu.memory": "94 GiB"}``. A
        mapping replaces the whole section, as ``--set`` does.
    trials, seed : int, optional
        Instead of ``run.trials`` and ``run.seed``.
    threads : int
        0: all cores. No result depends on it.
    fold : bool
        Simulate classes of equal ranks once. No result depends on it.
    explain : bool
        Also ``explanation``: what the step is made of, with formulas, and its sensitivities.
    pictures : bool
        Also ``pictures``: the timeline of every stage and its memory as figures. Charts, pages and
        traces of a result without them make them on demand, of fluid flows.
    network : str
        What times the traffic of the step: ``"fluid"`` flows, or each ``"packet"``, of the
        fabric's own transport or another (``"packet:dcqcn"``); then one step is simulated, not the
        run, and `step` has ``packets``.
    trace : path, optional
        Also the step as a trace for ui.perfetto.dev, with power; ``.json``: in Chrome's format.
    trace_ranks : str, optional
        Also these ranks' kernels and transfers in `trace`: ``"0-7,64"``.
    trace_steps : int, optional
        So many steps in `trace`.
    trace_format : "perfetto" or "chrome", optional
        Of both traces, whatever their names end in.
    trace_run : path, optional
        Also the failures of one trial as a trace.
    power : path, optional
        Also what the cluster draws over a step: kW over time (CSV), and ``power`` of the result.
    force : bool
        Overwrite these files.
    keep : path, optional
        Folder that keeps finished trials of the run: one that was begun there goes on.
    engine, scheduler : str, optional
        As in `sweep`, for the trials in that folder.
    progress : bool or callable
        True: a bar of tqdm. Else it is told what is done now, how much of it and how much there
        is: ``progress("simulating the campaign", 20, 200)``. What it raises ends the call.

    Returns
    -------
    RunResult
        The object of ``headway run --format json``; a scenario that is infeasible or whose
        condition fails is returned too, and `status` says so.

    Raises
    ------
    headway.Error
        If the scenario is wrong, with the text that the program prints.
    """
    changes = _changes(set, seed, trials)
    path, text = _path_and_text(scenario)
    roots = _roots()
    here = Path.cwd()

    rooted = _changes({} if set is None else _rooted(set), seed, trials)

    # Wherever the process, or another that has a copy of the result, is by then.
    elsewhere = (os.fspath(here / path), text, [os.fspath(here / root) for root in roots], rooted)
    drawn = functools.partial(_drawn, (*elsewhere, threads, fold, explain, True, network))

    files = {
        "trace": trace, "trace-ranks": trace_ranks, "trace-steps": trace_steps,
        "trace-format": trace_format, "trace-run": trace_run, "power": power,
        "keep": keep, "engine": engine, "scheduler": scheduler,
    }  # fmt: skip
    with listener(progress) as told:
        if any(value is not None for value in files.values()):
            how = {"threads": threads or None, "fold": None if fold else "off"}
            packets = None if network == "fluid" else network
            words = _options(set, seed=seed, trials=trials, network=packets, **how, **files)
            words += _options(explain=explain, pictures=pictures, force=force)
            words += _options(quiet=told is None)
            with _file_of(scenario) as file:
                json_text, table = _with_tables("run", file, *words, told=told)
        else:
            request = (path, text, roots, changes, threads, fold, explain, pictures, network)
            json_text, table = watched(lambda watch: _core.run(*request, watch), told)
    return RunResult(json_text, table, None if pictures or network != "fluid" else drawn)


def _save(folder: PathLike | None, files: Sequence[tuple[str, str]]) -> None:
    """Files by their names, the best plan's first; none is written over."""
    if folder is None:
        return
    for name, _ in files:
        if (Path(folder) / name).exists():
            raise _core.Error(f"{Path(folder) / name} is there already; name another folder\n")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in files:
        deliver(Path(folder) / name, text.encode())


def _search_changes(
    over: Axes | None,
    machines: Iterable[Changes] | None,
    vary: str | Sequence[str],
    hold: str | Sequence[str],
) -> list[str]:
    """What is said of the search as changes of the scenario, as the command line makes them."""
    changes = []
    if over is not None:
        changes.append("search.over=" + _grid(over))
    if machines is not None:
        rows = ["; ".join(_changes(machine, None, None)) for machine in machines]
        changes.append("search.machines=" + json.dumps(rows))
    for key, fields in (("vary", vary), ("hold", hold)):
        if fields:
            names = [fields] if isinstance(fields, str) else fields
            changes.append(f"search.{key}=[{','.join(names)}]")
    return changes


@checked
def plan(
    scenario: Source,
    *,
    over: Axes | None = None,
    machines: Iterable[Changes] | None = None,
    nodes: int | Sequence[int] = (),
    vary: str | Sequence[str] = (),
    hold: str | Sequence[str] = (),
    objective: Objective | Sequence[Objective] = (),
    limits: Mapping[str, object] | None = None,
    set: Changes | None = None,
    top: int = 10,
    all: bool = False,
    simulate: int = 50,
    verify: int = 0,
    sensitivity: bool = False,
    save: PathLike | None = None,
    keep: PathLike | None = None,
    engine: Engine | None = None,
    scheduler: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int = 0,
    fold: bool = True,
    progress: Progress = False,
) -> PlanResult:
    """Searches the parallel layouts of a scenario, on its machine or on several.

    Parameters
    ----------
    scenario, set, trials, seed, threads, fold
        As in `run`.
    over : mapping, optional
        Fields of the scenario and what each is tried with, such as
        ``{"cluster.node": ["dgx-h100", "dgx-b200"]}``: every combination is a candidate machine.
    machines : iterable of mappings, optional
        Candidates one by one, each the fields that it changes.
    nodes : int or sequence of int
        Cluster sizes to look at, instead of ``cluster.nodes``.
    vary, hold : str or sequence of str
        Fields of ``parallelism`` to vary, all others being held; to hold as the scenario has them.
    objective : str or sequence of str
        What makes a plan better, such as ``"dollars"``; of several, the first and the Pareto front.
    limits : mapping, optional
        Such as ``{"deadline": "60 d", "budget": "5e6 USD", "power": "2 MW", "racks": 16}``.
    top : int
        Plans that are kept.
    all : bool
        Variants of a plan's degrees too, not only the best.
    simulate : int
        Layouts simulated at most, of each cluster.
    verify : int
        Layouts drawn from those left out, simulated to learn whether any is better.
    sensitivity : bool
        Also ``choice``: how much an input must change before another of the plans wins.
    save : path, optional
        Folder for the plans as scenarios, ``plan-1.yaml`` being the best, and as files that start
        the training software, where it has such a file.
    keep : path, optional
        Folder that keeps the machines that were searched, several by `over`, `machines` or `nodes`:
        a search that was begun there goes on.
    engine, scheduler : str, optional
        As in `sweep`, for the machines in that folder.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    PlanResult
        The object of ``headway plan --format json``.

    Raises
    ------
    headway.Error
        If the scenario is wrong, with the text that the program prints; if `save` has such files.
    """
    changes = _changes(set, seed, trials) + _search_changes(over, machines, vary, hold)
    goals: list[str] = [objective] if isinstance(objective, str) else list(objective)
    sizes = list(nodes) if isinstance(nodes, Iterable) else [nodes]
    bounds = [f"{key}={value}" for key, value in (limits or {}).items()]
    if keep is not None or engine is not None or scheduler is not None:
        words = [word for change in changes for word in ("--set", change)]
        words += _options(
            nodes=",".join(map(str, sizes)) or None, objective=",".join(goals) or None,
            limit=bounds, top=top, all=all, simulate=simulate, verify=verify,
            sensitivity=sensitivity, keep=keep, threads=threads or None,
            fold=None if fold else "off",
        )  # fmt: skip
        with listener(progress) as told, _file_of(scenario) as file:
            once = _options(engine=engine, scheduler=scheduler, save=save, quiet=told is None)
            return PlanResult(*_with_tables("plan", file, *words, *once, told=told))
    path, text = _path_and_text(scenario)
    counts = (sizes, simulate, verify, all, sensitivity)
    request = (path, text, _roots(), changes, threads, fold, top, goals, bounds, *counts)
    with listener(progress) as told:
        printed, table, files = watched(lambda watch: _core.plan(*request, watch), told)
    _save(save, files)
    return PlanResult(printed, table)


@checked
def place(
    scenario: Source,
    *,
    draws: int = 4,
    save: PathLike | None = None,
    set: Changes | None = None,
    seed: int | None = None,
    threads: int = 0,
    fold: bool = True,
    progress: Progress = False,
) -> PlacementResult:
    """Which free nodes of a partly occupied fabric to take: ``headway plan --placement``.

    Parameters
    ----------
    scenario, set, seed, threads, fold
        As in `run`; the scenario has ``cluster.occupancy``.
    draws : int
        Random choices beside the others.
    save : path, optional
        Folder for the choices as scenarios: ``placement-1.yaml`` is the best.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    PlacementResult
        The object of ``headway plan --placement --format json``: `candidates`, the best first.

    Raises
    ------
    headway.Error
        If the scenario is wrong, with the text that the program prints; if `save` has such files.
    """
    path, text = _path_and_text(scenario)
    changes = _changes(set, seed)
    with listener(progress) as told:
        request = (path, text, _roots(), changes, threads, fold, draws)
        printed, table, files = watched(lambda watch: _core.place(*request, watch), told)
    _save(save, files)
    return PlacementResult(printed, table)


@checked
def solve(
    scenario: Source,
    key: str,
    condition: str,
    *,
    within: tuple[object, object] | None = None,
    precision: float = 0.01,
    set: Changes | None = None,
    trials: int | None = None,
    seed: int | None = None,
    threads: int = 0,
    fold: bool = True,
    progress: Progress = False,
) -> SolveResult:
    """Which value of one field meets a condition on a figure of the run.

    Parameters
    ----------
    scenario, set, trials, seed, threads, fold
        As in `run`, of all values that are looked at.
    key : str
        Field that is one number, such as ``"cluster.nodes"``.
    condition : str
        Figure, comparison and number, such as ``"campaign.wall_days.p95 <= 30"``.
    within : pair, optional
        Where to look, such as ``(16, 128)`` or ``("100 Gbps", "800 Gbps")``; without it the value
        at hand is doubled and halved.
    precision : float
        Of the answer, relative; whole numbers are exact.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    SolveResult
        The object of ``headway solve --format json``; `answer` is None where no value will do.

    Raises
    ------
    headway.Error
        If the field is no number, the condition is none, or the scenario is wrong.
    """
    changes = _changes(set, seed, trials)
    path, text = _path_and_text(scenario)
    ends = "" if within is None else ":".join(str(end) for end in within)
    question = (key, condition, ends, precision)
    request = (path, text, _roots(), changes, *question, threads, fold)
    with listener(progress) as told:
        return SolveResult(*watched(lambda watch: _core.solve(*request, watch), told))


def _names(paths: tuple[PathLike, ...]) -> list[str]:
    return [os.fspath(path) for path in paths]


@checked
def expect(
    scenario: Source,
    *against: PathLike,
    set: Changes | None = None,
    nodes: int = 0,
    nvcre: PathLike | None = None,
    cvs: PathLike | None = None,
    cvs_rccl: PathLike | None = None,
    force: bool = False,
    progress: Progress = False,
) -> ExpectResult:
    """What a sound cluster must reach; measured figures held to it.

    Parameters
    ----------
    scenario, set
        As in `run`.
    *against : path
        Logs of nccl-tests and tables of measured figures.
    nodes : int
        Also thresholds of a group of so many nodes; 0: none.
    nvcre, cvs, cvs_rccl : path, optional
        Also the thresholds in the forms that these test suites read.
    force : bool
        Overwrite these files.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    ExpectResult
        The object of ``headway expect --format json``; `status` says whether all limits are kept.

    Raises
    ------
    headway.Error
        If the scenario is wrong or a file cannot be read, with the text that the program prints.
    """
    path, text = _path_and_text(scenario)
    request = (path, text, _roots(), _changes(set), nodes, _names(against))
    wanted = (("nvcre", nvcre), ("cvs", cvs), ("cvs-rccl", cvs_rccl))
    outs = [(form, Path(out)) for form, out in wanted if out is not None]
    there = [os.fspath(out) for _, out in outs if out.exists() and not force]
    if there:
        raise _core.Error(f"{', '.join(there)}: there already; force=True writes over them\n")
    with listener(progress) as told:
        result = ExpectResult(*watched(lambda watch: _core.expect(*request, watch), told))
    for form, out in outs:
        with _file_of(scenario) as file:
            words = _options(set, nodes=nodes or None, out=out, force=force)
            _call("expect", file, *words, "--quiet", "--format", form)
    return result


@checked
def diagnose(
    scenario: Source,
    *logs: PathLike,
    set: Changes | None = None,
    threads: int = 0,
    progress: Progress = False,
) -> DiagnoseResult:
    """Why a job is slower than it should be, from its logs.

    Parameters
    ----------
    scenario, set, threads
        As in `run`; the scenario is that of the job as it should be.
    *logs : path
        Logs of training programs and nccl-tests, traces of torch.profiler, tables of monitors.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    DiagnoseResult
        The object of ``headway diagnose --format json``: `suspects`, the likeliest first.

    Raises
    ------
    headway.Error
        If the scenario is wrong or a file cannot be read, with the text that the program prints.
    """
    path, text = _path_and_text(scenario)
    request = (path, text, _roots(), _changes(set), threads, _names(logs))
    with listener(progress) as told:
        return DiagnoseResult(*watched(lambda watch: _core.diagnose(*request, watch), told))


@checked
def check(*scenarios: Source, set: Changes | None = None) -> None:
    """Reads scenarios, also those made in Python, and catalogue entries; simulates nothing.

    Raises
    ------
    headway.Error
        With every error of every file.
    """
    sources = [_path_and_text(scenario) for scenario in scenarios]
    request = ([path for path, text in sources if not text], _roots(), _changes(set))
    watched(lambda _: _core.check(*request))
    for scenario, (_, text) in zip(scenarios, sources, strict=True):
        if text:
            scenario_values(scenario, set, checked=True)


@checked
def yaml_of(scenario: Source) -> str:
    """The text of a file that says the same, every default written out."""
    path, text = _path_and_text(scenario)
    return watched(lambda _: _core.scenario_text(path, text, _roots()))


@checked
def scenario_values(
    scenario: Source, set: Changes | None = None, *, checked: bool = False
) -> dict[str, Any]:
    """What a scenario says, every ``use`` looked up and every default written out, as texts.

    With `checked` it has to keep all rules, as ``headway check`` asks of it.
    """
    path, text = _path_and_text(scenario)
    request = (path, text, _roots(), _changes(set), checked)
    parsed: dict[str, Any] = json.loads(watched(lambda _: _core.scenario_values(*request)))
    return parsed


@checked
def schema(kind: Kind = "scenarios") -> dict[str, Any]:
    """The JSON Schema (draft-07) of scenario files or of one kind of catalogue entry."""
    parsed: dict[str, Any] = json.loads(_core.schema(kind))
    return parsed
