"""Every notebook runs from top to bottom, and is shown by the picture that it draws."""

from __future__ import annotations

import importlib.util
import json
import re

import nbformat
import pytest
from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def loaded(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = loaded("notebooks")


def test_the_gallery_shows_every_notebook_and_every_picture():
    assert NOTEBOOKS
    gallery = (ROOT / "notebooks/README.md").read_text()
    for path in NOTEBOOKS:
        assert f"({path.name})" in gallery
        assert f"(../docs/images/notebooks/{path.stem}.svg)" in gallery
    pictures = list(script.PICTURES.iterdir())
    assert {picture.stem for picture in pictures} == {path.stem for path in NOTEBOOKS}
    assert all(picture.stat().st_size < 60_000 for picture in pictures)
    outputs = list(script.OUTPUTS.iterdir())
    assert {output.stem for output in outputs} == {path.stem for path in NOTEBOOKS}
    assert all(output.stat().st_size < 60_000 for output in outputs)


def test_what_cells_show_is_kept_in_the_form_that_a_page_shows():
    cells = [
        nbformat.v4.new_markdown_cell("prose"),
        nbformat.v4.new_code_cell(
            "code",
            outputs=[
                nbformat.v4.new_output("stream", name="stderr", text="noise"),
                nbformat.v4.new_output("stream", name="stdout", text="3 of 4\n"),
                nbformat.v4.new_output(
                    "display_data",
                    data={"text/html": "<style scoped>\nx {}\n</style>\n<table></table>"},
                ),
                nbformat.v4.new_output(
                    "display_data", data={script.VEGA_LITE: {"mark": "bar"}, "text/plain": "chart"}
                ),
            ],
        ),
        nbformat.v4.new_code_cell("silent"),
    ]
    shown = script.outputs(nbformat.v4.new_notebook(cells=cells))
    assert shown == [
        [{"text": "3 of 4\n"}, {"html": "<table></table>"}, {"chart": {"mark": "bar"}}],
        [],
    ]
    assert json.loads(script.outputs_text(shown)) == shown


def test_texts_differ_by_more_than_rounding():
    assert script.difference("1.0000000000001 s of 3", "1.0 s of 3") is None
    for now in ("1.0001 s of 3", "1.0 s of 4", "1.0 h of 3", "1.0 s of 3 or 4"):
        assert script.difference("1.0 s of 3", now)


def by_length(path):
    """A notebook as a case: a deep one where it simulates for ten seconds and more."""
    marks = [pytest.mark.deep] if path.stem[:2] in ("03", "09", "10") else []
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", [by_length(path) for path in NOTEBOOKS])
def test_notebook_runs_and_its_picture_is_current(path):
    notebook = nbformat.read(path, as_version=4)
    outputs = [cell.get("outputs") for cell in notebook.cells]
    assert not any(outputs), "commit notebooks without outputs"
    text = "\n".join(cell.source for cell in notebook.cells)
    for way in ("!headway ", "headway serve", "assert "):
        assert way in text, f"each notebook asks the command line too, and checks: no '{way}'"

    executed = script.execute(path)
    again = f"scripts/notebooks.py {path.stem} writes it again"
    assert notebook.cells[1].source == script.opening(path.stem, executed), again
    kept = json.loads((script.OUTPUTS / f"{path.stem}.json").read_text(encoding="utf-8"))
    changed = script.difference(kept, script.outputs(executed))
    assert changed is None, f"{changed}; {again}"
    shown = script.chart(executed)
    picture = (script.PICTURES / f"{path.stem}.svg").read_text(encoding="utf-8")
    changed = script.difference(script.specification_of(picture), shown)
    assert changed is None, f"{changed}; scripts/notebooks.py {path.stem} draws the picture again"


def test_every_decision_is_walked_in_terminal_page_and_python():
    """A notebook is Python; it asks the command line about its own decision and compares. The page
    is walked by the test of the notebook's number, which holds figures against the command line."""
    pages = (ROOT / "tests/python/test_decisions_page.py").read_text()
    walked = dict(re.findall(r"def test_(\d\d)_\w+\((.*?)\):\n", pages))
    assert len(NOTEBOOKS) == 10
    assert sorted(walked) == [path.stem[:2] for path in NOTEBOOKS]
    bodies = re.split(r"def test_\d\d_", pages)[1:]
    assert all("opened(" in body and "result(" in body for body in bodies), "page and terminal"
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        assert any("headway." in source for source in code), "Python"
        asked = [source for source in code if "!headway " in source]
        assert asked, "terminal"
        names = {name for source in asked for name in re.findall(r"^(\w+) = .*loads", source, re.M)}
        names |= {
            name for source in asked for name in re.findall(r"^(\w+) = !headway", source, re.M)
        }
        compared = "\n".join(source for source in code if "assert " in source)
        assert any(re.search(rf"\b{name}\b", compared) for name in names), f"{path.stem}: {names}"


def test_a_picture_holds_what_it_was_drawn_from():
    rows = [{"x": 1 / 3, "name": "<a & b>"}, {"x": 2.0, "name": "c"}]
    bars = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": "</metadata>",
        "data": {"values": rows},
        "mark": "bar",
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "name"}},
    }
    kept = script.specification_of(script.drawn(bars))
    assert kept == bars
    assert script.difference(kept, bars) is None


@pytest.mark.parametrize(
    ("now", "place"),
    [
        ({"a": [1.0, "b"]}, None),
        ({"a": [1.0 + 1e-12, "b"]}, None),
        ({"a": [1.0 + 1e-6, "b"]}, "/a/0"),
        ({"a": [1.0, "c"]}, "/a/1"),
        ({"a": [1.0]}, "/a"),
        ({"b": [1.0, "b"]}, ""),
        ({"a": [1.0, "b "]}, "/a/1"),
    ],
)
def test_a_picture_is_out_of_date_when_a_word_or_a_number_changes(now, place):
    found = script.difference({"a": [1.0, "b"]}, now)
    assert found is None if place is None else found.startswith(f"{place}: ")
