"""Verbs that the package's program answers: a process each, so that Ctrl-C ends it at once."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar, overload

from headway import _core
from headway._arguments import Collective, Kind, Transport, checked
from headway._progress import Listener, Progress, listener, watched
from headway._record import Result
from headway._words import (
    Changes,
    PathLike,
    Source,
    _call,
    _changes,
    _file_of,
    _options,
    _path_and_text,
    _roots,
    _with_tables,
)
from headway.results import (
    CollectiveResult,
    CompareProfileResult,
    CompareResult,
    DrillResult,
    ReplayResult,
    TableResult,
    TopoResult,
    TopoStressResult,
    ValidateAnchorResult,
    ValidateCollectivesResult,
    ValidateFlowModelResult,
    ValidateGoodputResult,
    ValidateResult,
)

Answer = TypeVar("Answer", bound=Result)


def _result(kind: type[Answer], words: Sequence[object], told: Listener | None = None) -> Answer:
    """The answer of the program as JSON, and its tables."""
    return kind(*_with_tables(*words, told=told))


def _rows(*words: object) -> TableResult:
    """Rows of a verb that answers at once, in both forms."""
    return TableResult(_call(*words, "--format", "json"), _call(*words, "--format", "table"))


@checked
def compare(
    a: Source,
    b: Source,
    *,
    layers: bool = False,
    set: Changes | None = None,
    seed: int | None = None,
    trials: int | None = None,
    threads: int = 0,
    fold: bool = True,
    progress: Progress = False,
) -> CompareResult:
    """Two scenarios side by side.

    Parameters
    ----------
    a, b : path, Scenario or mapping
    layers : bool
        Divide the difference among the layers of the architecture.
    set, seed, trials, threads, fold
        As in `run`, of both.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    CompareResult
        The object of ``headway compare --format json``.

    Raises
    ------
    headway.Error
        If a scenario is wrong, with the text that the program prints.
    """
    changes = _changes(set, seed, trials)
    sides = (_path_and_text(a), _path_and_text(b))
    request = (*sides, _roots(), changes, threads, fold, layers)
    with listener(progress) as told:
        return CompareResult(*watched(lambda watch: _core.compare(*request, watch), told))


@checked
def compare_profiles(
    scenario: Source,
    *profiles: PathLike,
    set: Changes | None = None,
    progress: Progress = False,
) -> CompareProfileResult:
    """Profiles of ``torch.profiler`` beside the predicted step of the same ranks.

    Parameters
    ----------
    scenario, set
        As in `run`.
    *profiles : path
        What ``export_chrome_trace`` wrote (``.json``, ``.json.gz``), one file a rank.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    CompareProfileResult
        The object of ``headway compare SCENARIO PROFILE... --format json``: `rows`, one a figure.

    Raises
    ------
    headway.Error
        If a file is no profile or of another job, with the text that the program prints.
    """
    with listener(progress) as told, _file_of(scenario) as file:
        words = ["compare", file, *profiles, *_options(set, quiet=told is None)]
        return _result(CompareProfileResult, words, told)


@checked
def drill(
    scenario: Source,
    fault: str,
    *,
    monitor: Mapping[str, str] | None = None,
    hours: float = 24,
    remedies: bool = True,
    set: Changes | None = None,
    progress: Progress = False,
) -> DrillResult:
    """One fault in a running job: what follows, what it costs, what helps.

    Parameters
    ----------
    scenario, set
        As in `run`.
    fault : str
        As ``--fault`` takes it: ``"nic-down@node7"``.
    monitor : mapping, optional
        Watchers and their times, ``"on"`` or ``"off"``: ``{"watchdog": "off"}``.
    hours : float
        Simulated time after the fault.
    remedies : bool
        Also run the drill with changes of design.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    DrillResult
        The object of ``headway drill --format json``.

    Raises
    ------
    headway.Error
        If the scenario or the fault is wrong, with the text that the program prints.
    """
    path, text = _path_and_text(scenario)
    monitors = [f"{name}={value}" for name, value in (monitor or {}).items()]
    request = (path, text, _roots(), _changes(set), fault, monitors, hours, remedies)
    with listener(progress) as told:
        return DrillResult(*watched(lambda watch: _core.drill(*request, watch), told))


@checked
def collective(
    kind: Collective,
    cluster: Source | str,
    *,
    gpus: int | None = None,
    nodes: int | None = None,
    node: str | None = None,
    fabric: str | None = None,
    first: str | None = None,
    last: str | None = None,
    factor: float | None = None,
    type: str | None = None,
    compare: PathLike | None = None,
    granularity: str | None = None,
    set: Changes | None = None,
    progress: Progress = False,
) -> CollectiveResult:
    """The table of nccl-tests, predicted.

    Parameters
    ----------
    kind : str
        ``"all_reduce"``, ``"all_gather"``, ...
    cluster : path, entry of the catalogue, Scenario or mapping
    gpus : int, optional
        The first so many GPUs; 8 by default.
    nodes : int, optional
        Nodes, where `cluster` is a fabric or a node.
    node, fabric : str, optional
        The entry of the other kind.
    first, last : str, optional
        Smallest and largest message, as ``"8"`` and ``"16G"``.
    factor : float, optional
        From one size to the next.
    type : str, optional
        Of the elements.
    compare : path, optional
        Log of nccl-tests to lay beside.
    granularity : str, optional
        ``"fluid"``, each message (``"stepped"``, ``"blocking"``, ``"stepped:tree"``) or each packet
        (``"packet"``, ``"packet:dcqcn"``).
    set : mapping, optional
        As in `run`.
    progress : bool or callable
        As in `run`; sizes are counted.

    Returns
    -------
    CollectiveResult
        The object of ``headway collective --format json``: `rows`, one a size.
    """
    with listener(progress) as told, _file_of(cluster) as file:
        values = {
            "b": first, "e": last, "f": factor, "d": type, "gpus": gpus, "nodes": nodes,
            "node": node, "fabric": fabric, "compare": compare, "granularity": granularity,
        }  # fmt: skip
        words = ["collective", kind, "--cluster", file, *_options(set, **values)]
        return _result(CollectiveResult, words, told)


@checked
def replay(
    *traces: PathLike,
    cluster: Source | str | None = None,
    nodes: int | None = None,
    groups: PathLike | None = None,
    ranks: int | None = None,
    set: Changes | None = None,
) -> ReplayResult:
    """Execution traces (Chakra), checked, and run on a cluster.

    Parameters
    ----------
    *traces : path
        One a rank (``NAME.RANK.et``), or folders of them.
    cluster : path, entry of the catalogue, Scenario or mapping, optional
        Without one the traces are only checked.
    nodes : int, optional
        Nodes, where `cluster` is a fabric or a node.
    groups : path, optional
        Process groups that the traces do not define: ``{"1": [0, 1]}``.
    ranks : int, optional
        So many ranks do what the one trace says.
    set : mapping, optional
        As in `run`, of the cluster.

    Returns
    -------
    ReplayResult
        The object of ``headway replay --format json``: `time_s`, `rows`, `collectives`, `links`.

    Raises
    ------
    headway.Error
        If a trace is incomplete, with the text that the program prints.
    """
    words: list[object] = ["replay", *traces]
    with contextlib.ExitStack() as files:
        if cluster is not None:
            words += ["--cluster", files.enter_context(_file_of(cluster))]
        return _result(
            ReplayResult, [*words, *_options(set, nodes=nodes, groups=groups, ranks=ranks)]
        )


@overload
def topo(
    cluster: Source | str,
    *,
    nodes: int | None = None,
    node: str | None = None,
    fabric: str | None = None,
    down: Sequence[str] = (),
    stress: None = None,
    dot: PathLike | None = None,
    graphml: PathLike | None = None,
    force: bool = False,
    set: Changes | None = None,
    progress: Progress = False,
) -> TopoResult: ...
@overload
def topo(
    cluster: Source | str,
    *,
    nodes: int | None = None,
    node: str | None = None,
    fabric: str | None = None,
    down: Sequence[str] = (),
    stress: Transport,
    dot: PathLike | None = None,
    graphml: PathLike | None = None,
    force: bool = False,
    set: Changes | None = None,
    progress: Progress = False,
) -> TopoStressResult: ...
@checked
def topo(
    cluster: Source | str,
    *,
    nodes: int | None = None,
    node: str | None = None,
    fabric: str | None = None,
    down: Sequence[str] = (),
    stress: Transport | None = None,
    dot: PathLike | None = None,
    graphml: PathLike | None = None,
    force: bool = False,
    set: Changes | None = None,
    progress: Progress = False,
) -> Result:
    """A fabric: tiers, oversubscription, bisection, diameter.

    Parameters
    ----------
    cluster : path, entry of the catalogue, Scenario or mapping
    nodes : int, optional
        Nodes, where `cluster` is a fabric or a node.
    node, fabric : str, optional
        The entry of the other kind.
    down : sequence of str
        Switches that have failed, as ``"leaf:3"``.
    stress : str, optional
        A transport: its stress tests packet by packet, beside the fluid model.
    dot, graphml : path, optional
        Also the graph for Graphviz, as GraphML.
    force : bool
        Overwrite these files.
    set : mapping, optional
        As in `run`.
    progress : bool or callable
        As in `run`, of `stress`.

    Returns
    -------
    TopoResult or, with `stress`, TopoStressResult
        The object of ``headway topo --format json``.
    """
    with listener(progress) as told, _file_of(cluster) as file:
        values = {"nodes": nodes, "node": node, "fabric": fabric, "down": list(down)}
        words = ["topo", file, *_options(set, **values)]
        if dot is not None or graphml is not None:
            words += _options(dot=dot, graphml=graphml, force=force)
        words += _options(stress=stress)
        return _result(TopoResult if stress is None else TopoStressResult, words, told)


@overload
def validate(
    *,
    runs: PathLike | None = None,
    only: str | None = None,
    quick: bool = False,
    progress: Progress = False,
) -> ValidateResult: ...
@overload
def validate(
    *,
    anchor: str,
    runs: PathLike | None = None,
    progress: Progress = False,
) -> ValidateAnchorResult: ...
@overload
def validate(
    *,
    collectives: PathLike,
    only: str | None = None,
    calibrated: bool = False,
    progress: Progress = False,
) -> ValidateCollectivesResult: ...
@overload
def validate(*, goodput: PathLike, progress: Progress = False) -> ValidateGoodputResult: ...
@overload
def validate(
    *,
    flow_model: Literal[True],
    only: str | None = None,
    progress: Progress = False,
) -> ValidateFlowModelResult: ...
@checked
def validate(
    *,
    runs: PathLike | None = None,
    collectives: PathLike | None = None,
    goodput: PathLike | None = None,
    flow_model: bool = False,
    only: str | None = None,
    anchor: str | None = None,
    quick: bool = False,
    calibrated: bool = False,
    progress: Progress = False,
) -> Result:
    """Published measurements beside predictions; without a file those that come with the program.

    Parameters
    ----------
    runs, collectives, goodput : path, optional
        Files of your own (CSV); at most one of them.
    flow_model : bool
        In place of them the fluid network model against simulated packets.
    only : str, optional
        Rows whose id begins so; of `flow_model` fabrics.
    anchor : str, optional
        Scale the profile by this row and say what it does to the others.
    quick, calibrated : bool
        As the options of ``headway validate``.
    progress : bool or callable
        As in `run`.

    Returns
    -------
    ValidateResult, or that of `anchor`, `collectives`, `goodput` or `flow_model`
        The object of ``headway validate --format json``.
    """
    values = {"runs": runs, "collectives": collectives, "goodput": goodput, "only": only}
    flags = {"flow-model": flow_model, "quick": quick, "calibrated": calibrated}
    words = _options(None, **values, anchor=anchor, **flags)
    with listener(progress) as told:
        words += _options(quiet=told is None)
        return _result(Result, ["validate", *words], told)


@checked
def report(*results: Result, path: PathLike, force: bool = False) -> None:
    """Writes one page of several results, as ``headway report`` does; of one: `Result.report`.

    Raises
    ------
    headway.Error
        If the file is there and `force` is not set.
    """
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        names = []
        for i, result in enumerate(results):
            name = Path(folder) / f"{i}.json"
            name.write_text(result._drawn_json(), encoding="utf-8")
            names.append(name)
        _call("report", *names, "--out", path, "--quiet", *_options(None, force=force))


def faults() -> str:
    """What `drill` can inject, with keys, units and defaults, and who may watch."""
    return _call("drill", "--list")


@checked
def explain(key: str) -> str:
    """What a key of a scenario, or a figure of a result, means."""
    return _call("explain", key)


@checked
def catalog(kind: Kind | Literal["constants"] | None = None) -> TableResult:
    """What `use:` can name: ``headway.catalog("gpus").to_pandas()``.

    Parameters
    ----------
    kind : str, optional
        ``"gpus"``, ``"nodes"``, ``"models"``, ...: its entries with the figures that tell them
        apart, in SI units; without one the names of all kinds.
        ``"constants"``: the constants of the models.

    Returns
    -------
    TableResult
        The object of ``headway catalog list --format json``: `rows`, one an entry.

    Raises
    ------
    headway.Error
        If there is no such kind, with the text that the program prints.
    """
    if kind == "constants":
        return _rows("catalog", "constants")
    return _rows("catalog", "list", *([kind] if kind else []))


@checked
def entry(kind: Kind, name: str) -> str:
    """The file of one entry of the catalogue, with its sources: ``entry("gpus", "h100-sxm")``.

    Raises
    ------
    headway.Error
        If there is no such entry, with the text that the program prints.
    """
    return _call("catalog", "show", kind, name)


@checked
def init(
    path: PathLike = "scenario.yaml",
    *,
    model: str | None = None,
    adapters: PathLike | None = None,
    gpus: int | None = None,
    gpu: str | None = None,
    name: str | None = None,
    force: bool = False,
) -> Path:
    """Writes a commented scenario to start from: ``headway.run(headway.init("my.yaml"))``.

    Parameters
    ----------
    path : path
        File to write.
    model : str, optional
        Entry of the catalogue, or ``"hf:"`` and the path of a ``config.json``.
    adapters : path, optional
        ``adapter_config.json`` of Hugging Face PEFT.
    gpus : int, optional
        How many train; whole nodes.
    gpu : str, optional
        Entry of the catalogue, or the beginning of one: ``"h100"``.
    name : str, optional
        Printed in reports.
    force : bool
        Overwrite the file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    headway.Error
        If the model or GPU is not known, no layout fits, or the file is there and `force` is not
        set, with the text that the program prints.
    """
    values = {"model": model, "adapters": adapters, "gpus": gpus, "gpu": gpu, "name": name}
    _call("init", path, "--quiet", *_options(None, **values, force=force))
    return Path(path)
