"""Files of other tools: read as entries and scenarios, written for them; measurements fitted."""

from __future__ import annotations

from typing import Literal

from headway._arguments import Collective, Foreign, Framework, Table, checked
from headway._words import Changes, PathLike, Source, _call, _file_of, _options


@checked
def import_(
    format: Foreign,
    *files: PathLike,
    gpu: str | None = None,
    model: PathLike | None = None,
    gpus: int | None = None,
    sequence_length: int | None = None,
    cluster: PathLike | None = None,
    framework: PathLike | None = None,
    accelerator: str | None = None,
    region: str | None = None,
    spot: bool = False,
    rate: str | None = None,
    cards: int | None = None,
    name: str | None = None,
    out: PathLike | None = None,
    force: bool = False,
) -> str:
    """A foreign file as YAML: an entry for ``use:``, or a scenario from a launch file.

    Parameters
    ----------
    format : str
        ``"ibnetdiscover"``, ``"megatron-args"``, ...
    *files : path
    gpu : str, optional
        Entry of the GPU of a node, or of the cluster that a launch file runs on.
    model, cluster, framework : str, optional
        Of launch files: entries for what they do not say, another profile of the software.
    gpus : int, optional
        Of launch files: how many train.
    sequence_length : int, optional
        Of launch files, in tokens.
    accelerator, region : str, optional
        Of prices: of which, as the file names it; where, without it the cheapest.
    spot : bool
        Of prices: of servers that may be taken away.
    rate : str, optional
        Of a cable or card, where the file does not tell: ``"400 Gbps"``.
    cards : int, optional
        Of ``"slurm-topology"``: network cards of a server, on its leaf.
    name : str, optional
        Printed in reports.
    out : path, optional
        File to write in place of the text returned.
    force : bool
        Overwrite it.

    Raises
    ------
    headway.Error
        If a file cannot be read or lacks something, with the text that the program prints.
    """
    words = _options(
        None, gpu=gpu, model=model, gpus=gpus, cluster=cluster, framework=framework,
        accelerator=accelerator, region=region, spot=spot, rate=rate, cards=cards, name=name,
        out=out, force=force, **{"sequence-length": sequence_length},
    )  # fmt: skip
    return _call("import", format, *files, "--quiet", *words)


@checked
def export(
    framework: Framework,
    scenario: Source,
    *,
    out: PathLike | None = None,
    ranks: str | None = None,
    force: bool = False,
    set: Changes | None = None,
) -> str:
    """The launch file of a training framework, as text, or a step as execution traces.

    Parameters
    ----------
    framework : str
        ``"megatron"``, ``"maxtext"``, ...; ``"chakra"`` for traces.
    scenario, set
        As in `run`.
    out : path, optional
        File to write in place of the text returned; of traces the folder, which they need.
    ranks : str, optional
        Traces of these ranks alone: ``"0-7,64"``.
    force : bool
        Overwrite files.
    """
    words = _options(set, out=out, ranks=ranks, force=force)
    with _file_of(scenario) as file:
        return _call("export", framework, file, "--quiet", *words)


@checked
def calibrate(
    verb: Literal["import", "fit", "compare", "anchor"],
    *arguments: PathLike,
    collective: Collective | None = None,
    ranks: int | None = None,
    ranks_per_node: int | None = None,
    gpu: str | None = None,
    name: str | None = None,
    tolerance: float | None = None,
    flagged: PathLike | None = None,
    tables: PathLike | None = None,
    step: str | None = None,
    set: Changes | None = None,
    seed: int | None = None,
    trials: int | None = None,
    format: Table | None = None,
    out: PathLike | None = None,
    force: bool = False,
) -> str:
    """What ``headway calibrate VERB ARGUMENT...`` prints; of another verb an option is refused.

    Parameters
    ----------
    verb : str
        ``"import"``: measurements of other programs as samples; ``"fit"``: samples as a profile;
        ``"compare"``: a profile beside a log; ``"anchor"``: a profile scaled by a measured step.
    *arguments : path
        Of ``"import"`` the format and files; of ``"fit"`` tables of samples; of ``"compare"`` a
        profile and a log; of ``"anchor"`` the scenario measured, then others.
    collective : str, optional
        Of ``"import"`` and ``"compare"``, where a log does not say which was measured.
    ranks, ranks_per_node : int, optional
        Of the same, where a log does not list its ranks or hosts.
    gpu : str, optional
        Of ``"fit"``: entry whose peaks kernels are shares of.
    name : str, optional
        Of ``"fit"`` and ``"anchor"``: printed in reports.
    tolerance : float, optional
        Of ``"fit"``: of curves thinned to fewer points, relative; 0.02 without it.
    flagged, tables : path, optional
        Of ``"fit"``: also the samples with flags, and GEMM tables by shape.
    step : str, optional
        Of ``"anchor"``: mean time of an undisturbed step, as ``"4.2 s"``.
    set, seed, trials
        Of ``"anchor"``, as in `run`.
    format : str, optional
        Of ``"compare"``: ``"json"``, ...; a table without it.
    out : path, optional
        File to write in place of the text returned.
    force : bool
        Overwrite files.

    Raises
    ------
    headway.Error
        If a file cannot be read or an option is of another verb, with the text that the program
        prints.
    """
    words = _options(
        set, collective=collective, ranks=ranks, gpu=gpu, name=name, tolerance=tolerance,
        flagged=flagged, tables=tables, step=step, seed=seed, trials=trials, format=format,
        out=out, force=force, **{"ranks-per-node": ranks_per_node},
    )  # fmt: skip
    return _call("calibrate", verb, *arguments, *words)
