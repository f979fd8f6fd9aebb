#!/usr/bin/env python3
"""Draws docs/images/h200-steps.svg and h100-steps.svg: measured steps of a GPU, predicted before
they were measured and now.

    scripts/calibration_chart.py        # after changes of the physics

Source: calibrate/validate/h200-sxm and h100-sxm. Needs the program, and vl-convert
(scripts/setup --tests).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "calibrate/validate"))

import vl_convert  # noqa: E402
from cases import Machine  # noqa: E402
from compare import Measurement, compare, kind_of  # noqa: E402

GPUS = ("h200", "h100")
WHEN = ("before it was measured", "now")


def points(gpu: str) -> list[dict[str, Any]]:
    """Two a step: predicted / measured - 1 in percent, before and now."""
    folder = ROOT / f"calibrate/validate/{gpu}-sxm"
    before = {
        row["name"]: row["time_s"]
        for row in json.loads((folder / "predicted.json").read_text())["rows"]
    }
    steps = Measurement.read(folder / "measured.json").rows
    machines = {"catalogue": Machine(f"dgx-{gpu}")}
    rows = compare(ROOT / "build/release/bin/headway", steps, machines)
    out = []
    for row in rows:
        step = row.measured
        times = (before[step.name], row.predicted["catalogue"].time_s)
        for when, time_s in zip(WHEN, times, strict=True):
            error = round(100 * (time_s / step.time_s - 1), 2)
            out.append({"step": step.name, "kind": kind_of(step), "when": when, "error": error})
    return out


def chart(values: list[dict[str, Any]]) -> dict[str, Any]:
    """A strip of dots for each kind of step; the goal, 10 % with defaults, is shaded."""
    kinds = ["eager", "eager, recomputed", "CUDA graphs", "compiled", "compiled, fp8"]
    kinds += ["mixture of experts", "the CPU limits"]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 560,
        "height": {"step": 20},
        "background": "white",
        "layer": [
            {
                "data": {"values": [{"low": -10, "high": 10}]},
                "mark": {"type": "rect", "color": "#e8efe8"},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative"},
                    "x2": {"field": "high"},
                },
            },
            {
                "data": {"values": values},
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 0.75},
                "encoding": {
                    "x": {
                        "field": "error",
                        "type": "quantitative",
                        "title": "predicted / measured - 1, catalogue's defaults [%]",
                    },
                    "y": {"field": "kind", "type": "nominal", "sort": kinds, "title": None},
                    "yOffset": {"field": "when", "type": "nominal", "sort": list(WHEN)},
                    "color": {
                        "field": "when",
                        "type": "nominal",
                        "title": None,
                        "scale": {"domain": list(WHEN), "range": ["#c77f2e", "#2b5f9e"]},
                        "legend": {"orient": "top"},
                    },
                    "shape": {
                        "field": "when",
                        "type": "nominal",
                        "scale": {"domain": list(WHEN), "range": ["diamond", "circle"]},
                    },
                },
            },
        ],
    }


def main() -> int:
    """Writes the pictures."""
    for gpu in GPUS:
        picture = ROOT / f"docs/images/{gpu}-steps.svg"
        picture.write_text(vl_convert.vegalite_to_svg(chart(points(gpu))))
        print(picture.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
