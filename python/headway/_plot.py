"""Charts of results: the Vega-Lite specifications of the report page, shown by notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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

    def to_svg(self) -> str:
        """The chart as a picture.

        Raises
        ------
        ModuleNotFoundError
            If vl-convert-python is not installed.
        """
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self.specification))


VERBS = {
    "run": (
        "breakdown", "memory", "held", "kinds", "links", "cables", "loads", "sensitivities",
        "ledger", "badput", "goodput", "interruptions", "cost", "interval", "storage", "published",
        "timeline",
    ),
    "plan": ("plans", "front", "plan_memory"),
    "drill": ("cascade", "lost", "remedies"),
    "compare": (
        "sides", "step_parts", "run_parts", "cost_parts", "step_layers", "run_layers",
        "cost_layers",
    ),
    "sweep": ("sweep",),
    "validate": ("validation",),
}  # fmt: skip
"""Charts of each verb, by the names that the page gives them."""

OTHER_NAMES = {
    "breakdown": "step", "step_parts": "step", "kinds": "memory", "interval": "ettr",
    "front": "pareto", "plans": "step", "plan_memory": "memory",
}  # fmt: skip
"""What a chart is called by its method."""

DRAWN = {"timeline", "held", "kinds", "loads", "cables", "goodput", "storage"}
"""Charts of ``pictures``."""

OF_A_RUN = {"ledger", "badput", "goodput", "interruptions", "cost", "interval", "storage"}
"""Charts of ``campaign``."""


def _fails(result: dict[str, Any]) -> bool:
    """Whether anything interrupts the job of a run."""
    return any(hazard["mean"] > 0 for hazard in result["campaign"]["interruptions_by_hazard"])


def why_no_difference(name: str, result: dict[str, Any]) -> str:
    """Why a comparison has no chart of what differs: a sentence."""
    figure, lacks = {
        "sides": ("step_time_s", "A or B has no step"),
        "step_parts": ("step_time_s", "A or B has no step"),
        "run_parts": ("wall_days", "A or B has no run.until"),
        "cost_parts": ("total_usd", "A or B has no run.until, or no run.prices"),
    }[name]
    if any(result[side]["figures"][figure] is None for side in "ab"):
        return lacks
    return "it is the same in both"


def why_not(name: str, result: dict[str, Any]) -> str:
    """Why a result has no chart of a name that another result would have: a sentence."""
    verb = str(result["schema"]).removeprefix("headway.").split("/")[0]
    of = next((other for other, names in VERBS.items() if name in names), "")
    if verb != of:
        return f"it is a chart of `{of}`, this is a result of `{verb}`"
    if name in OF_A_RUN and result.get("campaign") is None:
        return "the scenario has no run.until, so that one step is predicted and no run"
    if name in ("goodput", "interruptions") and not _fails(result):
        goodput = 100 * result["campaign"]["goodput"]["p50"]
        return f"nothing fails in this run: all trials are alike, with a goodput of {goodput:.4g} %"
    if name in DRAWN and result.get("step", {}).get("packets") is not None:
        return "one step of packets has no pictures; that of fluid flows has"
    if name in DRAWN and result.get("pictures") is None:
        return "headway.run draws it with pictures=True"
    if name == "cost":
        return "the scenario has no run.prices"
    if name in ("interval", "storage"):
        return "nothing fails or nothing is saved in this run, so that no interval is better"
    if name == "cables":
        return str(result["pictures"].get("cables_why") or "no cable is between leaves and spines")
    if name == "sensitivities":
        return "headway.run works it out with explain=True"
    if name == "published":
        return "the scenario has no claim of published figures"
    if name.endswith("_layers") and any(not layer["figures"] for layer in result["layers"]):
        return "headway.compare works it out with layers=True"
    if name in VERBS["compare"]:
        return why_no_difference(name.replace("_layers", "_parts"), result)
    if name == "front":
        return "plans have no days and dollars: the scenario has no run.until, or no run.prices"
    return "the result has nothing to draw in it"


class Plots:
    """The charts of one result: ``result.plot.step()``, or any by name: ``result.plot("cost")``.

    `list(result.plot)` and completion name those that there are. Those that show the step or the
    trials as they go on are drawn by a second prediction, the first time that one is asked for,
    where ``run`` had no ``pictures=True``. A chart that the result has not is a ValueError that
    says why.
    """

    def __init__(self, json_text: str = "{}", draw: Callable[[], str] | None = None) -> None:
        self._draw = draw
        self._read(json_text)

    def _read(self, json_text: str) -> None:
        text = "[]" if json_text == "{}" else watched(lambda _: _core.charts(json_text))
        self._json = json_text
        self._charts = {chart["id"]: chart for chart in json.loads(text)}

    def _to_draw(self) -> set[str]:
        """Charts that a second prediction would have, if the scenario has what they show."""
        no_run = json.loads(self._json).get("campaign") is None
        return (DRAWN - (OF_A_RUN if no_run else set())) if self._draw is not None else set()

    def __call__(self, name: str = "") -> Chart:
        if not name:
            raise TypeError(f"name a chart: this result has {', '.join(self) or 'none'}")
        return self._chart(name, repr(name))

    def _chart(self, name: str, asked: str) -> Chart:
        """The chart of a name; where there is none the error says what was asked for."""
        if name in self._to_draw() and self._draw is not None:
            drawn = self._draw()
            self._draw = None
            self._read(drawn)
        if name in self._charts:
            return Chart(self._charts[name]["title"], self._charts[name]["specification"])
        known = ", ".join(self._charts) or "none"
        if any(name in names for names in VERBS.values()):
            why = why_not(name, json.loads(self._json))
            raise ValueError(f"this result has no chart {asked}: {why}; it has {known}")
        raise ValueError(f"there is no chart {name!r}; this result has {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._charts)

    def __len__(self) -> int:
        return len(self._charts)

    def __dir__(self) -> list[str]:
        names = {*self._charts, *self._to_draw()}
        return sorted({*names, *(OTHER_NAMES[c] for c in names if c in OTHER_NAMES)})

    def main(self) -> Chart | None:
        """The chart that a notebook shows with the result; None where it has none."""
        name = "front" if "front" in self._charts else next(iter(self._charts), None)
        return None if name is None else self(name)

    def step(self) -> Chart:
        """Where the step goes; of a comparison where the steps differ; of a plan, of each plan."""
        others = ("step_parts", "plans")
        return self(next((name for name in others if name in self._charts), "breakdown"))

    def timeline(self) -> Chart:
        """What every pipeline stage does in a step."""
        return self("timeline")

    def memory(self, stage: int | None = None) -> Chart:
        """What a GPU holds while the step goes on, by kind; of a plan, the peak of each plan.

        Peaks of all stages are ``plot("memory")``; of a result without pictures, of the fullest
        stage.

        Parameters
        ----------
        stage : int, optional
            The first, the last or the fullest stage, in place of the fullest; a notebook lets the
            reader choose.

        Raises
        ------
        ValueError
            If the result has no pictures, or the chart no such stage.
        """
        if stage is None and "plan_memory" in self._charts:
            return self("plan_memory")
        peaks = ", only that of the peaks, plot('memory')" if "memory" in self._charts else ""
        chart = self._chart("kinds", f"'memory' over the step{peaks}")
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
        """Goodput of the trials; needs ``run.until``."""
        return self("goodput")

    def pareto(self) -> Chart:
        """Days and dollars of each plan, and which are on the front."""
        return self._chart("front", "'pareto'")

    def ettr(self) -> Chart:
        """ETTR against the time between checkpoints."""
        return self._chart("interval", "'ettr'")

    def breakdown(self) -> Chart:
        """Where the step goes."""
        return self("breakdown")

    def held(self) -> Chart:
        """Memory over the step, by stage."""
        return self("held")

    def kinds(self) -> Chart:
        """Memory over the step, by kind: `memory`."""
        return self("kinds")

    def links(self) -> Chart:
        """Use of the busiest link of each tier."""
        return self("links")

    def cables(self) -> Chart:
        """Use of the cables between leaves and spines."""
        return self("cables")

    def loads(self) -> Chart:
        """Load of the busiest links over the step."""
        return self("loads")

    def sensitivities(self) -> Chart:
        """How the step answers to 10 % of each input; needs ``explain=True``."""
        return self("sensitivities")

    def ledger(self) -> Chart:
        """Where the GPU time of the run goes."""
        return self("ledger")

    def badput(self) -> Chart:
        """From all GPU time to goodput, in the words of ml-goodput-measurement."""
        return self("badput")

    def interruptions(self) -> Chart:
        """Interruptions by cause."""
        return self("interruptions")

    def cost(self) -> Chart:
        """Cost of the mean run, by item."""
        return self("cost")

    def interval(self) -> Chart:
        """ETTR against the time between checkpoints: `ettr`."""
        return self("interval")

    def storage(self) -> Chart:
        """ETTR against the bandwidth of the storage."""
        return self("storage")

    def published(self) -> Chart:
        """Published figures and ours."""
        return self("published")

    def plans(self) -> Chart:
        """Where the step of each plan goes: `step`."""
        return self("plans")

    def plan_memory(self) -> Chart:
        """What fills the memory of each plan's fullest GPU: `memory`."""
        return self("plan_memory")

    def front(self) -> Chart:
        """Days and dollars of each plan: `pareto`."""
        return self("front")

    def cascade(self) -> Chart:
        """What happens after the fault of a drill, by layer."""
        return self("cascade")

    def lost(self) -> Chart:
        """Where the time goes that is not useful after a fault."""
        return self("lost")

    def remedies(self) -> Chart:
        """What would have saved time after a fault."""
        return self("remedies")

    def sides(self) -> Chart:
        """What the second scenario of a comparison changes."""
        return self("sides")

    def step_parts(self) -> Chart:
        """Where the steps of two scenarios differ, the largest difference first: `step`."""
        return self("step_parts")

    def run_parts(self) -> Chart:
        """Where the GPU time of two runs differs; both need ``run.until``."""
        return self("run_parts")

    def cost_parts(self) -> Chart:
        """Where the cost of two runs differs; both need ``run.until`` and ``run.prices``."""
        return self("cost_parts")

    def step_layers(self) -> Chart:
        """Which layer of the architecture makes two steps differ; needs ``layers=True``."""
        return self("step_layers")

    def run_layers(self) -> Chart:
        """Which layer makes the days of two runs differ; needs ``layers=True``."""
        return self("run_layers")

    def cost_layers(self) -> Chart:
        """Which layer makes the cost of two runs differ; needs ``layers=True``."""
        return self("cost_layers")

    def sweep(self) -> Chart:
        """The figure of a sweep at its points."""
        return self("sweep")

    def validation(self) -> Chart:
        """Published runs, predictions and intervals."""
        return self("validation")
