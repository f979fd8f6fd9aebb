"""Work that other processes do: shards of a sweep, run or plan, and the page that is served."""

from __future__ import annotations

import subprocess
import tempfile
import weakref
from types import TracebackType
from typing import IO, Literal

from headway import _core
from headway._arguments import JobFile, checked
from headway._program import program
from headway._sweep import Sweep
from headway._verbs import _rows
from headway._words import Axes, Changes, PathLike, Source, _call, _file_of, _grid, _options
from headway.results import TableResult


@checked
def share(
    verb: Literal["sweep", "run", "plan"],
    scenario: Source,
    folder: PathLike,
    *,
    shards: int,
    axes: Axes | None = None,
    emit: JobFile | None = None,
    set: Changes | None = None,
    trials: int | None = None,
    seed: int | None = None,
) -> str:
    """Cuts a sweep, the trials of a run or the machines of a plan into shards; simulates nothing.

    Parameters
    ----------
    verb : {"sweep", "run", "plan"}
    scenario : path, Scenario or mapping
        As in `run`.
    folder : path
        Made where it is not there; `worker` does its shards on any machine that sees it.
    shards : int
        How many; a plan has one a machine at most.
    axes : mapping, optional
        Of a sweep, as in `sweep`; of a plan what it searches ``over``.
    emit : str, optional
        Also a job file: ``"slurm"``, ``"k8s"``, ``"hq"`` or ``"condor"``.
    set, trials, seed
        As in `run`.

    Returns
    -------
    str
        What was cut, and how its shards are run.

    Raises
    ------
    headway.Error
        If the scenario is wrong or the folder is of other work, with the text that the program
        prints.
    """
    words = _options(set, shards=shards, keep=folder, emit=emit, trials=trials, seed=seed)
    if axes is not None:
        field = {"sweep": "sweep.grid", "plan": "search.over"}.get(verb)
        if field is None:
            raise ValueError(f"axes are of a sweep or a plan, not of '{verb}'")
        words += ["--set", f"{field}={_grid(axes)}"]
    with _file_of(scenario) as file:
        return _call(verb, file, *words)


@checked
def worker(
    folder: PathLike, *, shard: str | None = None, threads: int = 0, fold: bool = True
) -> None:
    """Does the shards of a folder that `share` made, and leaves alone those that are there.

    Parameters
    ----------
    folder : path
    shard : str, optional
        ``"7/64"``, from 1; without it all that are missing.
    threads, fold
        As in `run`.

    Raises
    ------
    headway.Error
        If there is no such shard, or this machine's catalogue reads otherwise than the one that
        the work was cut with.
    """
    _call(
        "worker",
        folder,
        "--quiet",
        *_options(shard=shard, threads=threads or None, fold=None if fold else "off"),
    )


@checked
def collect(folder: PathLike) -> Sweep:
    """The points of a sweep from the shards of its folder.

    Returns
    -------
    Sweep
        `missing` counts the points of shards that are not there; no row is of them.

    Raises
    ------
    headway.Error
        If the folder holds no sweep.
    """
    words = ("collect", folder)
    return Sweep(_call(*words, "--format", "json"), _call(*words, "--format", "table"))


def doctor() -> TableResult:
    """What this installation finds: version, threads, folders, catalogue, Python.

    Returns
    -------
    TableResult
        The object of ``headway doctor --format json``.
    """
    return _rows("doctor")


@checked
def completion(shell: Literal["bash", "zsh", "fish", "man"]) -> str:
    """The completion script of a shell, or the manual page."""
    return _call("completion", shell)


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()


class Page:
    """A page that `serve` serves; it ends with `close`, with the block, or with this process."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self._url = url
        weakref.finalize(self, _end, process)

    @property
    def url(self) -> str:
        """The address to open, with the token of this start."""
        return self._url

    def close(self) -> None:
        """Ends the server and what it simulates."""
        self._process.terminate()
        self._process.wait()

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._url if self._process.poll() is None else "ended"
        return f"Page({state})"

    def _repr_html_(self) -> str:
        return f'<a href="{self._url}" target="_blank">{self._url.split("#")[0]}</a>'


def _address(process: subprocess.Popen[str], errors: IO[str]) -> str:
    """The line that the server prints when it listens."""
    assert process.stdout
    for line in process.stdout:
        if line.strip().startswith("http://"):
            return line.strip()
    process.wait()
    errors.seek(0)
    raise _core.Error(errors.read())


@checked
def serve(
    scenario: PathLike | None = None,
    *,
    port: int = 0,
    host: str | None = None,
    limit: int | None = None,
    simulations: int | None = None,
    set: Changes | None = None,
    threads: int = 0,
) -> Page:
    """Serves a page that predicts while a scenario is changed; its address is ``page.url``.

    Parameters
    ----------
    scenario : path, optional
        The file to start from; without one an example.
    port : int
        0: any that is free.
    host : str, optional
        Another address of this machine than 127.0.0.1, over which everything goes unencrypted.
    limit : int, optional
        Longest time of one simulation [s].
    simulations : int, optional
        At a time; further ones are refused.
    set, threads
        As in `run`.

    Returns
    -------
    Page
        It is served while this object lives; ``with headway.serve(...) as page:`` ends it.

    Raises
    ------
    headway.Error
        If the file cannot be read or the port is taken, with the text that the program prints.
    """
    values = {"port": str(port), "host": host, "limit": limit, "simulations": simulations}
    words = _options(set, **values, threads=threads or None)
    command = [str(program()), "serve", *([str(scenario)] if scenario else []), *words]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # Ctrl-C is for another call of this process
        )
        try:
            return Page(process, _address(process, errors))
        except BaseException:
            process.kill()
            process.wait()
            raise
