#!/usr/bin/env python3
"""Runs the notebooks; writes the picture that each is shown by, docs/images/notebooks/NAME.svg,
and what all its cells show, notebooks/outputs/NAME.json, which the pages of the documentation have.
The cell after a notebook's title shows the picture, with the sentence that the last cell prints.

usage: scripts/notebooks.py [NAME...]     as 01_first_prediction; without a name all of them

The picture is the chart of the one cell that has the tag `picture`. It holds the Vega-Lite
specification that it was drawn from, so that a test can say that it is out of date whatever
version drew it: what is compared is the specification, not the drawing.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import nbformat
import vl_convert
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
OUTPUTS = NOTEBOOKS / "outputs"
PICTURES = ROOT / "docs" / "images" / "notebooks"
VEGA_LITE = "application/vnd.vegalite.v6+json"
STYLE = re.compile(r"<style scoped>.*?</style>\n?", re.DOTALL)  # of tables of pandas
NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
LOOK = {"font": "sans-serif", "background": "white", "padding": 8}
"""Of every picture; a page may be dark, so a picture has a ground of its own."""


def execute(path: Path) -> Any:
    """The notebook with the outputs of its cells; `headway` on PATH is this environment's."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    return client.execute(env={**os.environ, "PATH": places})


def chart(notebook: Any) -> dict[str, Any]:
    """The specification that the cell with the tag `picture` has shown.

    Raises
    ------
    ValueError
        If there is not exactly one such cell with a chart.
    """
    charts = [
        output["data"][VEGA_LITE]
        for cell in notebook.cells
        if "picture" in cell.metadata.get("tags", [])
        for output in cell.outputs
        if VEGA_LITE in output.get("data", {})
    ]
    if len(charts) != 1:
        raise ValueError(f"one cell with the tag 'picture' must show one chart; {len(charts)} do")
    return dict(json.loads(json.dumps(charts[0])))


def outputs(notebook: Any) -> list[list[dict[str, Any]]]:
    """What each cell of code shows, in the form that a page shows best: a chart's specification as
    `chart`, a table as `html`, all else as `text`; what went to standard error is left out."""
    shown = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        parts: list[dict[str, Any]] = []
        for output in cell.outputs:
            data = output.get("data", {})
            if VEGA_LITE in data:
                parts.append({"chart": json.loads(json.dumps(data[VEGA_LITE]))})
            elif "text/html" in data:
                parts.append({"html": STYLE.sub("", data["text/html"])})
            elif data or output.get("name") == "stdout":
                parts.append({"text": data.get("text/plain") or output["text"]})
        shown.append(parts)
    return shown


def outputs_text(shown: list[list[dict[str, Any]]]) -> str:
    """The file of them: a cell a line."""
    lines = ",\n".join(json.dumps(parts, ensure_ascii=False) for parts in shown)
    return f"[\n{lines}\n]\n"


def drawn(specification: dict[str, Any]) -> str:
    """The chart as SVG that holds its specification."""
    shown = {**specification, "config": {**specification.get("config", {}), **LOOK}}
    shown["background"] = LOOK["background"]
    svg: str = vl_convert.vegalite_to_svg(shown)
    kept = html.escape(json.dumps(specification, separators=(",", ":")), quote=False)
    title = html.escape(str(specification.get("title", "")))
    begin = svg.index(">") + 1
    head = f"<title>{title}</title><metadata>{kept}</metadata>"
    return svg[:begin] + head + svg[begin:] + "\n"


def specification_of(svg: str) -> dict[str, Any]:
    """The specification that a picture holds."""
    found = re.search("<metadata>(.*?)</metadata>", svg, re.DOTALL)
    if not found:
        raise ValueError("the picture holds no specification")
    return dict(json.loads(html.unescape(found[1])))


def is_rounded(kept: str, now: str) -> bool:
    """Whether two texts are one but for the last digits of their numbers."""
    parts, others = NUMBER.split(kept), NUMBER.split(now)
    alike = (
        a == b or (i % 2 == 1 and math.isclose(float(a), float(b), rel_tol=1e-9))
        for i, (a, b) in enumerate(zip(parts, others, strict=False))
    )
    return len(parts) == len(others) and all(alike)


def difference(kept: object, now: object, place: str = "") -> str | None:
    """Where two specifications or outputs differ first; numbers may differ by rounding (1e-9)."""
    if isinstance(kept, str) and isinstance(now, str) and is_rounded(kept, now):
        return None
    if isinstance(kept, dict) and isinstance(now, dict) and kept.keys() == now.keys():
        parts = [(key, kept[key], now[key]) for key in kept]
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        parts = [(str(i), *pair) for i, pair in enumerate(zip(kept, now, strict=True))]
    else:
        numbers = isinstance(kept, (int, float)) and isinstance(now, (int, float))
        if kept == now or (numbers and math.isclose(kept, now, rel_tol=1e-9)):  # type: ignore[arg-type]
            return None
        return f"{place}: {str(kept)[:80]} is kept, {str(now)[:80]} is shown now"
    found = (difference(was, new, f"{place}/{key}") for key, was, new in parts)
    return next((text for text in found if text), None)


def sentence(notebook: Any) -> str:
    """What the last cell prints."""
    printed = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    return " ".join(printed.split())


def opening(name: str, notebook: Any) -> str:
    """The second cell: what the notebook finds, for those who read it where nothing runs."""
    title = chart(notebook).get("title", "")
    return f"![{title}](../docs/images/notebooks/{name}.svg)\n\n{sentence(notebook)}"


def opened(text: str, words: str) -> str:
    """The file of a notebook with such an opening, in place of one that it has."""
    kept = json.loads(text)
    kept["cells"] = [c for c in kept["cells"] if "opening" not in c["metadata"].get("tags", [])]
    cell = {
        "cell_type": "markdown",
        "id": "opening",
        "metadata": {"tags": ["opening"]},
        "source": words.splitlines(keepends=True),
    }
    kept["cells"].insert(1, cell)
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    for folder in (PICTURES, OUTPUTS):
        folder.mkdir(parents=True, exist_ok=True)
    # A picture drawn by the package of an older tree would be right here and red everywhere else.
    subprocess.run([ROOT / "scripts" / "wheel", "--here"], check=True)
    for name in names:
        began = time.monotonic()
        notebook = execute(NOTEBOOKS / f"{name}.ipynb")
        took = time.monotonic() - began
        picture = PICTURES / f"{name}.svg"
        now = chart(notebook)
        if (
            picture.exists()
            and difference(specification_of(picture.read_text("utf-8")), now) is None
        ):
            said = "as it was"
        else:
            picture.write_text(drawn(now), encoding="utf-8")
            said = f"{picture.stat().st_size / 1000:.0f} kB"
        kept = OUTPUTS / f"{name}.json"
        if not kept.exists() or difference(json.loads(kept.read_text("utf-8")), outputs(notebook)):
            kept.write_text(outputs_text(outputs(notebook)), encoding="utf-8")
            said += ", outputs written"
        path = NOTEBOOKS / f"{name}.ipynb"
        path.write_text(opened(path.read_text("utf-8"), opening(name, notebook)), encoding="utf-8")
        print(f"{name}: {took:.1f} s, picture {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
