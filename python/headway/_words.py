"""Scenarios, changes and options of Python as the words that the program takes, and its answers."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headway import _core
from headway._program import program
from headway._progress import Listener
from headway._record import Record
from headway.scenario import Scenario, to_mapping

PathLike = str | os.PathLike[str]
Source = PathLike | Scenario | Mapping[str, Any]
Changes = Mapping[str, object]
Axes = Mapping[str, Iterable[object]]


_OWN_FAULT = 1
_USAGE = 2


def configs() -> Path:
    """The folder of the catalogue and the scenarios that come with the package."""
    packaged = Path(__file__).parent / "configs"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "configs"


def _roots() -> list[str]:
    """Where names of ``use:`` are looked up, in order; as the program does."""
    roots = [folder for folder in os.environ.get("HEADWAY_CONFIGS", "").split(":") if folder]
    for folder in roots:
        if not Path(folder).is_dir():
            raise _core.Error(f"HEADWAY_CONFIGS names '{folder}', which is no folder\n")
    return [*roots, str(configs())]


def _plain(value: object) -> object:
    """A value of NumPy or pandas, or a time, as Python's own or as text with its unit.

    Raises
    ------
    TypeError
        If it is none of them.
    """
    if isinstance(value, datetime.timedelta):  # pandas.Timedelta is one
        return f"{value.total_seconds()!r} s"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    listed = getattr(value, "tolist", None)  # scalars and arrays of NumPy, Series of pandas
    if callable(listed):
        return listed()
    raise TypeError(
        f"{value!r} is a {type(value).__name__}; write a number, a text with its unit, or a list"
    )


def _value_text(value: object) -> str:
    """A Python value as `--set` takes it."""
    if isinstance(value, (str, datetime.timedelta, os.PathLike)):
        return str(value if isinstance(value, str) else _plain(value))
    if isinstance(value, float):
        return repr(float(value))  # NumPy's double is a float that writes its type
    if hasattr(value, "tolist"):
        return _value_text(_plain(value))
    return json.dumps(value, default=_plain)


def _grid(axes: Axes) -> str:
    """Axes as the fields that list them take them: ``sweep.grid``, ``search.over``."""
    for key, values in axes.items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise TypeError(f"'{key}' takes a list of values, such as [{values!r}], not {values!r}")
    return json.dumps(
        [
            {"key": key, "values": [_value_text(value) for value in values]}
            for key, values in axes.items()
        ]
    )


def _changes(
    changes: Changes | None, seed: int | None = None, trials: int | None = None
) -> list[str]:
    if changes is not None and not hasattr(changes, "items"):
        raise TypeError(
            f"set is a mapping of paths to values, such as {{'cluster.nodes': 4}}, not {changes!r}"
        )
    texts = [
        f"{path}={_value_text(value)}"
        for path, value in ({} if changes is None else changes).items()
    ]
    if seed is not None:
        texts.append(f"run.seed={seed}")
    if trials is not None:
        texts.append(f"run.trials={trials}")
    return texts


def _path_and_text(scenario: Source) -> tuple[str, str]:
    """A file, or the YAML text of a scenario made in Python (JSON is YAML); one reader for both.

    Where there is no such file, that of the catalogue's scenario of this name.
    """
    if isinstance(scenario, Record):
        raise TypeError(
            "a result is no scenario: pass the path, Scenario or mapping that it was predicted of"
        )
    if isinstance(scenario, (Scenario, Mapping)):
        return "<scenario>", json.dumps(to_mapping(scenario), default=_plain)
    if not isinstance(scenario, (str, os.PathLike)):
        raise TypeError(f"a scenario is a path, a Scenario or a mapping, not {scenario!r}")
    path = os.fspath(scenario)
    if not os.path.exists(path) and os.path.basename(path) == path:
        entries = (Path(root) / "scenarios" / f"{path}.yaml" for root in _roots())
        return next((str(entry) for entry in entries if entry.is_file()), path), ""
    return path, ""


def _command(words: Iterable[object]) -> list[str]:
    """The program and what it is asked."""
    named = (os.fspath(w) if isinstance(w, os.PathLike) else str(w) for w in words)
    return [str(program()), *named]


def _call(*words: object, told: Listener | None = None) -> str:
    """What the program prints; it may say on the way that limits are missed (codes 3 to 5).

    Parameters
    ----------
    told : callable, optional
        Hears how far a verb is that says so.
    """
    command = [*_command(words), *(("--progress", "json") if told else ())]
    said: list[str] = []
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        ) as process,
    ):
        assert process.stderr
        try:
            for line in process.stderr:
                if told and line.startswith('{"phase"'):
                    where = json.loads(line)
                    told(where["phase"], where.get("done", 0), where.get("total", 0))
                else:
                    said.append(line)
            process.wait()
        except BaseException:  # above all KeyboardInterrupt
            process.kill()
            raise
        output.seek(0)
        printed = output.read()
    if process.returncode == _OWN_FAULT:
        raise RuntimeError("".join(said))
    if process.returncode == _USAGE or (process.returncode and not printed):
        raise _core.Error("".join(said))
    return printed


def _with_tables(*words: object, told: Listener | None = None) -> tuple[str, str]:
    """What the program prints as JSON, and all tables of the same answer."""
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        tables = Path(folder) / "tables.txt"
        printed = _call(*words, "--tables", tables, "--format", "json", told=told)
        return printed, tables.read_text(encoding="utf-8")


def _options(set: Changes | None = None, **values: object) -> list[str]:
    """Options as words: True is a flag, a sequence is repeated, None and False are left out."""
    words = [word for change in _changes(set) for word in ("--set", change)]
    for name, value in values.items():
        option = f"--{name}" if len(name) > 1 else f"-{name}"
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words += [word for each in value for word in (option, os.fspath(each))]
        elif value is not None and value is not False:
            words += [option, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return words


def _rooted(value: Any, key: str = "") -> Any:
    """A scenario, or changes, whose files are those of this folder, wherever they are read."""
    if isinstance(value, Mapping):
        return {name: _rooted(each, str(name)) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rooted(each) for each in value]
    # Any value may be a file; without a suffix it is an entry of the catalogue.
    names_a_file = key.rpartition(".")[2] not in ("name", "source") and isinstance(value, str)
    is_there = names_a_file and Path(value).suffix and Path(value).is_file()
    return os.path.abspath(value) if is_there else value


@contextlib.contextmanager
def _file_of(scenario: Source) -> Iterator[str]:
    """The name of a file that holds the scenario while the block runs."""
    path, text = _path_and_text(scenario)
    if not text:
        yield path
        return
    text = json.dumps(_rooted(json.loads(text)))
    with tempfile.TemporaryDirectory(prefix="headway-") as folder:
        file = Path(folder) / "scenario.yaml"
        file.write_text(text, encoding="utf-8")
        yield str(file)
