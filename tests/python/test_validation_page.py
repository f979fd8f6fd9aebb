"""docs/validation.md says what the program predicts: nothing of it is written by hand."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from conftest import ROOT

TITLE = "| published runs, predicted |"


def page_script():
    place = ROOT / "scripts/validation_page.py"
    spec = importlib.util.spec_from_file_location("validation_page", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.deep
def test_the_generated_part_is_what_the_script_writes(program, tmp_path, monkeypatch):
    script = page_script()
    committed, committed_chart = script.PAGE.read_text(), script.CHART.read_text()
    page, chart = tmp_path / "page.md", tmp_path / "chart.json"
    page.write_text(committed)
    monkeypatch.setattr(sys, "argv", ["validation_page.py", "--headway", str(program)])
    monkeypatch.setattr(script, "PAGE", page)
    monkeypatch.setattr(script, "CHART", chart)
    script.main()
    assert page.read_text().splitlines() == committed.splitlines()
    assert chart.read_text().splitlines() == committed_chart.splitlines()


def test_the_readme_shows_the_rows_of_the_page():
    """Median and mean error of the README's table are those of the page's tables of all rows."""

    def rows(text: str) -> dict[str, list[str]]:
        lines = [[cell.strip() for cell in line.split("|")[1:5]] for line in text.splitlines()]
        return {cells[0]: cells[1:] for cells in reversed(lines) if len(cells) == 4}

    readme = rows((ROOT / "README.md").read_text().split(TITLE)[1])
    page = (ROOT / "docs/validation.md").read_text()
    for shown, title in (
        ("dense models", "dense NVIDIA rows"),
        ("mixtures of experts", "mixtures of experts"),
        ("dense models, sources that nothing was fitted to", "dense NVIDIA rows, not fitted"),
        (
            "mixtures of experts, sources that nothing was fitted to",
            "mixtures of experts, not fitted",
        ),
    ):
        assert readme[shown] == rows(page.split(f"| {title} | rows |")[1])["all"], shown
