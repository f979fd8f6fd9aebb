"""Results: read-only mappings whose keys are also attributes."""

from __future__ import annotations

import difflib
import functools
import html
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._arguments import checked
from headway._files import deliver
from headway._plot import Chart, Plots
from headway._progress import watched

if TYPE_CHECKING:
    import pandas


class Record(Mapping[str, Any]):
    """A JSON object that cannot be changed: ``record.step.mfu`` is ``record["step"]["mfu"]``."""

    __slots__ = ("_values",)

    _values: Mapping[str, Any]

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", {key: _frozen(value) for key, value in values.items()})

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    if not TYPE_CHECKING:  # checkers know what each result has from results.pyi

        def __getattr__(self, key: str) -> Any:
            # No key of a result begins so; copying and pickling probe for such names.
            if key.startswith("_"):
                raise AttributeError(key)
            try:
                return self._values[key]
            except KeyError:
                meant = meant_by(key, self)
                guess = f"did you mean {' or '.join(meant)}; " if meant else ""
                there = f"{guess}there are {', '.join(self._values)}"
                raise AttributeError(f"no '{key}'; {there}") from None

    def __setattr__(self, key: str, value: object) -> None:
        raise AttributeError("results cannot be changed")

    def __delattr__(self, key: str) -> None:
        raise AttributeError("results cannot be changed")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.to_dict(),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_dict()!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dictionaries and lists."""
        return {key: _thawed(value) for key, value in self._values.items()}


class Result(Record):
    """What a verb of the program printed: its JSON as a record, and its table.

    Two are equal if they say the same of the same: ``timing``, how long this machine took, is left
    out.

    Attributes
    ----------
    json : str
        The JSON text, as ``--format json`` prints it.
    table : str
        All tables, as ``--full`` prints them; also ``str(result)``.
    """

    __slots__ = ("_draw", "json", "table")

    json: str
    table: str
    _draw: Callable[[], str] | None

    def __init__(self, json_text: str, table: str, draw: Callable[[], str] | None = None) -> None:
        super().__init__(json.loads(json_text))
        object.__setattr__(self, "json", json_text)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "_draw", draw)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.json, self.table, self._draw)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return super().__eq__(other)
        return _untimed(self) == _untimed(other)

    def __hash__(self) -> int:
        return hash(Record(_untimed(self)))

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        named = [self.get("scenario", self), self.get("a", {}), self.get("b", {})]
        name = " and ".join(each["name"] for each in named if each.get("name"))
        return (
            f"<{self['schema']} {name!r}: {self.verdict}>"
            if self.verdict
            else (f"<{self['schema']} with {', '.join(self)}>")
        )

    @property
    def verdict(self) -> str:
        """The sentence that matters: what limits a run, which plan is the best, or why there is
        none; may be empty."""
        if said := self.get("verdict", self.get("limit", "")):
            return str(said)
        return " ".join(self.get("sentences", ()) or self.get("reasons", ()))

    def _figures_html(self) -> str:
        """The figures that decide, and the verdict; of a list its rows."""
        if self._is_list():
            return self._rows_html()
        return watched(lambda _: _core.summary(self.json))

    def _repr_html_(self) -> str:
        """What a viewer of HTML alone shows: the figures, and the main chart as a picture where
        vl-convert-python is installed."""
        chart = self._main_chart()
        try:
            return self._figures_html() + ("" if chart is None else chart.to_svg())
        except ModuleNotFoundError:
            return self._figures_html()

    def _rows_html(self) -> str:
        rows = self.to_dict()["rows"]
        columns = list(dict.fromkeys(key for row in rows for key in row))
        head = "".join(f"<th>{html.escape(key)}</th>" for key in columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(_shown(row.get(key)))}</td>" for key in columns)
            + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _is_list(self) -> bool:
        """Rows alone, as of the catalogue: neither figures that decide nor a chart."""
        return set(self) == {"schema", "version", "rows"}

    def _main_chart(self) -> Chart | None:
        return None if self._is_list() else self.plot.main()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The figures that decide, and the main chart; what shows one thing of it picks."""
        chart = self._main_chart()
        bundle = {} if chart is None else chart._repr_mimebundle_()
        return {**bundle, "text/html": self._figures_html(), "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        """Both of them, in notebooks: of one output they would show one form alone."""
        from IPython.display import display as untyped

        display: Callable[..., object] = untyped
        display({"text/html": self._figures_html(), "text/plain": repr(self)}, raw=True)
        chart = self._main_chart()
        if chart is not None:
            display(chart._repr_mimebundle_(), raw=True)

    def _drawn_json(self) -> str:
        """The JSON with ``pictures``: a run that was made without them is made again, once.

        Raises
        ------
        ValueError
            If the files of the scenario say something else now.
        """
        if self._draw is None:
            return self.json
        drawn = self._draw()
        if json.loads(drawn)["scenario"]["digest"] != self["scenario"]["digest"]:
            raise ValueError(
                "the scenario's files have changed since this result, which was made without"
                " pictures; run it again"
            )
        object.__setattr__(self, "_draw", functools.partial(str, drawn))  # may be copied
        return drawn

    @property
    def plot(self) -> Plots:
        """Charts, as the page of the result has them; of a list none."""
        if self._is_list():
            return Plots()
        return Plots(self.json, self._drawn_json if self._draw else None)

    def to_pandas(self) -> pandas.DataFrame:
        """The result as a table: the list that was asked for (plans, rows, moments of a drill),
        a line each, of two scenarios their figures side by side, or else all figures in one line.
        Columns are dotted paths.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        import pandas

        values = self.to_dict()
        if values.get("schema", "").startswith("headway.compare/"):
            return _side_by_side(values)
        if "plans" in values and not values["plans"]:
            return pandas.DataFrame()
        for key in (
            "plans",
            "rows",
            "points",
            "timeline",
            "suspects",
            "thresholds",
            "layers",
            "tiers",
        ):
            if isinstance(values.get(key), list) and values[key]:
                return pandas.json_normalize(values[key])
        return pandas.json_normalize(values)

    @checked
    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the page that ``headway run --report`` writes, with its timelines: a run that was
        made without ``pictures=True`` is predicted once more.

        Parameters
        ----------
        path : path
            File of HTML.
        force : bool
            Overwrite it.

        Raises
        ------
        FileExistsError
            If it is there and `force` is not set.
        """
        library = Path(__file__).parent / "share" / "headway" / "charts.packed"
        charts = library.read_text(encoding="utf-8") if library.is_file() else ""
        page = watched(lambda _: _core.page(self._drawn_json(), "from Python", charts))
        deliver(path, page.encode(), force=force)

    @checked
    def trace(
        self,
        path: str | os.PathLike[str],
        *,
        of_trial: bool = False,
        steps: int = 1,
        force: bool = False,
    ) -> None:
        """Writes a trace for ui.perfetto.dev: of a step with its memory and busiest links, of one
        trial, or of a drill. Power and single ranks are in that of
        ``headway.run(..., trace=path)``.

        Parameters
        ----------
        path : path
            A file that ends in ``.json`` is in Chrome's format.
        of_trial : bool
            The failures and checkpoints of one trial instead of the step.
        steps : int
            So many steps, one after another; all are alike.
        force : bool
            Overwrite the file.

        Raises
        ------
        FileExistsError
            If it is there and `force` is not set.
        headway.Error
            If the result has nothing to trace, as that of a plan.
        """
        if not self["schema"].startswith(("headway.run/", "headway.drill/")) or (
            self.get("step", {}).get("packets") is not None
        ):
            raise _core.Error(
                "results of headway.run, of fluid flows, and of headway.drill can be"
                " traced; this is none\n"
            )
        data = watched(lambda _: _core.trace(self._drawn_json(), os.fspath(path), of_trial, steps))
        deliver(path, data, force=force)


def meant_by(key: str, record: Record) -> list[str]:
    """What somebody may mean by a name that a result does not have: names like it, and the same
    name, or with its unit, in its parts."""
    inside = [
        (f"{part}.{name}", name)
        for part, value in record.items()
        if isinstance(value, Record)
        for name in value
    ]
    same = [path for path, name in inside if name == key]
    own = [name for name in record if name.startswith(f"{key}_")]
    longer = [path for path, name in inside if name.startswith(f"{key}_")]
    return (same or own or longer or difflib.get_close_matches(key, record, 1))[:2]


def _side_by_side(values: dict[str, Any]) -> pandas.DataFrame:
    """A line a figure: on both sides, their difference and ratio, what each layer makes of it."""
    import pandas

    a, b = (values[side]["figures"] for side in "ab")
    lines = []
    for key in a:
        if isinstance(a[key], bool) or (a[key] is None and b[key] is None):
            continue
        both = a[key] is not None and b[key] is not None
        line: dict[str, Any] = {"figure": key, "a": a[key], "b": b[key]}
        line["difference"] = b[key] - a[key] if both else None
        line["ratio"] = b[key] / a[key] if both and a[key] else None
        for layer in values["layers"]:
            if key in layer["figures"]:
                line[layer["layer"]] = layer["figures"][key]["shapley"]
        lines.append(line)
    return pandas.DataFrame(lines).set_index("figure")


def _untimed(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != "timing"}


def _shown(value: object) -> str:
    return "" if value is None else str(value)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Record(value)
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(each) for each in value)
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_thawed(each) for each in value]
    return value
