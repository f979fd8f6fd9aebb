"""The installed package beside the built program: both must say the same."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# Where scripts/wheel tests an installed package there is no tree; these test files of the tree.
if not (ROOT / "CMakeLists.txt").exists():
    collect_ignore = [
        f"test_{name}.py"
        for name in (
            "calibrate_validate",
            "claims",
            "exchange_profiles",
            "measure_pytorch",
            "notebooks",
            "readme",
            "scripts",
            "site",
            "validation_page",
        )
    ]

BROWSER = shutil.which("chromium")
LIBRARY = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "share/headway/charts.js"


def lacking() -> list[str]:
    """What this machine lacks to look at pages of results."""
    playwright = importlib.util.find_spec("playwright") is not None
    there = (
        (BROWSER, "no chromium, which scripts/setup --deep installs"),
        (LIBRARY.is_file(), f"no {LIBRARY}"),
        (playwright, "no playwright, which scripts/setup --tests installs"),
    )
    return [what for found, what in there if not found]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says so."""
    for what in lacking():
        terminalreporter.write_line(f"pages are not looked at: there is {what}")


def pytest_sessionstart() -> None:
    """The deep stage looks at pages, or fails."""
    if os.environ.get("HEADWAY_DEEP") and lacking():
        pytest.exit(f"pages cannot be looked at: there is {', '.join(lacking())}", 1)


# Files that take longest and have few tests: begun first, so that no processor has one at the end.
LONGEST = ["test_site.py", "test_notebooks.py", "test_serve_page.py", "test_sweep.py"]


@pytest.hookimpl(tryfirst=True)  # before tests are left out by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks those of the browser; sorts all, as far as `--no-loadscope-reorder` lets us."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    names = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: names.get(item.path.name, len(LONGEST)))


SMALL = """\
headway: 1
name: Small
cluster:
  nodes: 2
  node: {use: dgx-h100}
  fabric: {use: rail-optimized-ndr}
  storage: {use: lustre}
  spares: 1
model: {use: llama-3.1-8b}
training: {sequence_length: 4096, global_batch: 32}
parallelism: {tensor: 2, pipeline: 2, data: auto, micro_batch: 1}
run:
  until: {steps: 20000}
  failures: {use: llama-3-54-days}
  trials: 8
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for tests that are there only where `browsing.CAN_BROWSE` is true."""
    from browsing import started_browser

    with started_browser() as started:
        yield started


@pytest.fixture(scope="session")
def program() -> Path:
    """The command line, built by scripts/test."""
    built = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin/headway"
    path = Path(os.environ.get("HEADWAY_PROGRAM", built))
    assert path.exists(), f"{path} is missing; scripts/test builds it"
    return path


@pytest.fixture()
def small(tmp_path: Path) -> Path:
    """A scenario of 16 GPUs that is simulated in a moment."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture()
def command(program: Path):
    """Runs the program and returns the finished process, with text."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(program), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)

    return call
