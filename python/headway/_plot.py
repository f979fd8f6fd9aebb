"""Charts of results: the Vega-Lite specifications of the report page, shown by notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from headway import _core
from headway._progress import watched

WIDTH = 640
"""Of a chart in a notebook [pixels]; in a page it is that of the page."""


class Chart:
    """A Vega-Lite specification; Jupyter draws it where it is the value of a cell.

    Attributes
    ----------
    title : str
    specification : dict
        For any program that reads Vega-Lite, such as ``altair.Chart.from_dict``.
    """

    def __init__(self, title: str, specification: dict[str, Any]) -> None:
        self.title = title
        self.specification = {**specification, "width": WIDTH, "title": title}

    def __repr__(self) -> str:
        return f"<chart {self.title!r}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        # Versions of Jupyter know different versions of the format; the newest they know is drawn.
        return {
            "application/vnd.vegalite.v6+json": self.specification,
            "application/vnd.vegalite.v5+json": self.specification,
            "text/plain": repr(self),
        }


class Plots:
    """The charts of one result: ``result.plot.step()``, or any by name: ``result.plot("cost")``.

    `list(result.plot)` names those that there are.
    """

    def __init__(self, json_text: str) -> None:
        text = watched(lambda _: _core.charts(json_text))
        self._charts = {chart["id"]: chart for chart in json.loads(text)}

    def __call__(self, name: str) -> Chart:
        if name not in self._charts:
            known = ", ".join(self._charts) or "none"
            raise ValueError(
                f"this result has no chart {name!r}; it has {known}"
                " (headway.run draws more with explain=True, pictures=True)"
            )
        return Chart(self._charts[name]["title"], self._charts[name]["specification"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._charts)

    def __len__(self) -> int:
        return len(self._charts)

    def step(self) -> Chart:
        """Where the step goes."""
        return self("breakdown")

    def timeline(self) -> Chart:
        """What every pipeline stage does in a step; needs ``pictures=True``."""
        return self("timeline")

    def memory(self, stage: int | None = None) -> Chart:
        """What a GPU holds while the step goes on, by kind; needs ``pictures=True``.

        Peaks of all stages are ``plot("memory")``, which results without pictures have too, of the
        fullest stage.

        Parameters
        ----------
        stage : int, optional
            The first, the last or the fullest stage, in place of the fullest; a notebook lets the
            reader choose.

        Raises
        ------
        ValueError
            If the chart has no such stage.
        """
        chart = self("kinds")
        values = chart.specification["data"]["values"]
        known = list(dict.fromkeys(row["stage"] for row in values))
        if stage is None or [stage] == known:
            return chart
        if stage not in known:
            raise ValueError(
                f"the chart has stages {', '.join(map(str, known))} (the fullest, the first and"
                f" the last) and no stage {stage}; result.pictures.timeline.stages has all"
            )
        (choice,) = chart.specification["params"]
        params = [{**choice, "value": stage}]
        return Chart(chart.title, {**chart.specification, "params": params})

    def goodput(self) -> Chart:
        """Goodput of the trials; needs ``pictures=True`` and ``run.until``."""
        return self("goodput")
