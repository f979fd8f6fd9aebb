"""A picture for the page of each model, drawn from what the program says when the site is built."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import headway
import vl_convert

from site_pages import program

SCENARIOS = headway.configs() / "scenarios"
SMALL = SCENARIOS / "small-llama-8b-64-h100.yaml"
AUTO = {"parallelism.data": "auto"}


def line(rows: Iterable[Mapping[str, Any]], **channels: dict[str, Any]) -> dict[str, Any]:
    """A line with points through rows."""
    for channel in channels.values():
        if channel.get("type") == "ordinal":
            channel["axis"] = {"labelAngle": 0}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": 460,
        "height": 240,
        "data": {"values": list(rows)},
        "mark": {"type": "line", "point": True},
        "encoding": {
            name: {"type": "quantitative", **channel} for name, channel in channels.items()
        },
    }


def logarithmic(field: str, title: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "title": title, "scale": {"type": "log"}, **more}


def collective(*words: str) -> list[dict[str, str]]:
    return list(
        csv.DictReader(io.StringIO(program.headway("collective", *words, "--format", "csv")))
    )


def swept(scenario: Any, key: str, values: list[Any], figure: str, **options: Any) -> Any:
    """Value of the key and figure, of each point."""
    result = headway.sweep(scenario, {key: values}, figures=[figure], **options)
    column = list(result.to_pandas()[figure])
    return [
        {"value": str(value), "figure": found} for value, found in zip(values, column, strict=True)
    ]


def workload() -> dict[str, Any]:
    shape = {**AUTO, "parallelism.pipeline": 4, "training.global_batch": 128}
    result = headway.run(SMALL, set=shape, pictures=True, trials=1)
    return result.plot("timeline").specification


def gpu() -> dict[str, Any]:
    rows = swept(SMALL, "parallelism.tensor", [1, 2, 4, 8], "step.mfu", trials=1, set=AUTO)
    return line(
        rows,
        x={"field": "value", "title": "tensor-parallel degree", "type": "ordinal"},
        y={"field": "figure", "title": "MFU", "axis": {"format": "%"}},
    )


def network() -> dict[str, Any]:
    rows = [
        {"size": row["size [B]"], "rate": row["busbw [GB/s]"], "GPUs": str(gpus)}
        for gpus in (8, 64, 512)
        for row in collective(
            *("all_reduce", "--cluster", "rail-optimized-ndr", "--nodes", "64"),
            *("--gpus", str(gpus), "-b", "1K", "-e", "4G", "-f", "4"),
        )
    ]
    return line(
        rows,
        x=logarithmic("size", "message [B]", axis={"format": "~s"}),
        y={"field": "rate", "title": "bus bandwidth [GB/s]"},
        color={"field": "GPUs", "type": "nominal", "sort": None},
    )


def packet() -> dict[str, Any]:
    rows = [
        {"size": row["size [B]"], "time": row["time [us]"], "tier": tier}
        for tier in ("fluid", "stepped:ring", "packet:ring")
        for row in collective(
            *("all_gather", "--cluster", "rail-optimized-ndr", "--nodes", "4", "--gpus", "32"),
            *("-b", "64K", "-e", "16M", "-f", "4", "--granularity", tier),
        )
    ]
    return line(
        rows,
        x=logarithmic("size", "message [B]", axis={"format": "~s"}),
        y=logarithmic("time", "time [us]"),
        color={"field": "tier", "type": "nominal", "sort": None},
    )


def sites() -> dict[str, Any]:
    rates = [100, 200, 400, 800, 1600]
    two = SCENARIOS / "two-sites-llama-70b-1024-h100.yaml"
    values = [f"{rate} Gbps" for rate in rates]
    rows = swept(two, "cluster.sites.bandwidth", values, "step.time_s", trials=1)
    return line(
        rows,
        x={
            "field": "value",
            "title": "bandwidth between the sites",
            "type": "ordinal",
            "sort": None,
        },
        y={"field": "figure", "title": "step [s]"},
    )


def storage() -> dict[str, Any]:
    rates = [f"{rate} GB/s" for rate in (5, 10, 20, 40, 80, 160)]
    large = SCENARIOS / "llama-3.1-405b-16k-h100.yaml"
    key, figure = "cluster.storage.write_bandwidth", "campaign.ettr.p50"
    rows = swept(large, key, rates, figure, trials=20, set={"run.checkpoint.interval": "auto"})
    return line(
        rows,
        x={"field": "value", "title": "write bandwidth", "type": "ordinal", "sort": None},
        y={"field": "figure", "title": "ETTR", "axis": {"format": "%"}, "scale": {"zero": False}},
    )


def failures() -> dict[str, Any]:
    nodes = [64, 256, 1024, 2048]
    large = SCENARIOS / "llama-3.1-405b-16k-h100.yaml"
    figure = "campaign.ettr.p50"
    rows = swept(large, "cluster.nodes", nodes, figure, trials=20, set=AUTO)
    return line(
        [{**row, "value": str(8 * int(row["value"]))} for row in rows],
        x={"field": "value", "title": "GPUs", "type": "ordinal", "sort": None},
        y={"field": "figure", "title": "ETTR", "axis": {"format": "%"}, "scale": {"zero": False}},
    )


def campaign() -> dict[str, Any]:
    large = SCENARIOS / "llama-3.1-405b-16k-h100.yaml"
    return headway.run(large, trials=20, pictures=True, explain=True).plot("interval").specification


def drill() -> dict[str, Any]:
    return headway.drill(SMALL, "nic-down@node1").plot("cascade").specification


def compare() -> dict[str, Any]:
    names = ("reference-general-purpose.yaml", "reference-purpose-built.yaml")
    result = headway.compare(*(SCENARIOS / name for name in names), trials=8)
    return result.plot("sides").specification


# By page: what the picture shows, and what draws it.
PICTURES: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "models/workload.md": ("What four pipeline stages do in a step.", workload),
    "models/gpu.md": ("Tensor parallelism makes products smaller and adds collectives.", gpu),
    "models/network.md": ("An all-reduce of 8, 64 and 512 H100, by its size.", network),
    "models/packet.md": ("One all-gather of 32 H100 in the three tiers.", packet),
    "models/sites.md": ("A step of Llama 3.1 70B over two sites of 512 H100.", sites),
    "models/storage.md": ("Useful time of 16,384 H100 by what storage writes.", storage),
    "models/failures.md": ("The same software on more GPUs: failures add.", failures),
    "models/campaign.md": ("Useful time by the interval of checkpoints, 16,384 H100.", campaign),
    "models/drill.md": ("A dead network card: what follows, layer by layer.", drill),
    "models/compare.md": ("Two clusters side by side.", compare),
}


@cache
def picture(page: str) -> str:
    """SVG of a page's picture."""
    _, draw = PICTURES[page]
    return str(vl_convert.vegalite_to_svg(draw()))
