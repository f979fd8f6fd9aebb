"""The scripts that people start first: how the build is shown, and what a wrong room says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import ROOT

NINJA = """\
#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "[$i/20] Building x$i.o"; done
[ -z "$FAILS" ] || { echo "x.cpp:1:1: error: no"; exit 1; }
"""


def build(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """scripts/build with a cmake that builds nothing."""
    cmake = folder / "cmake"
    cmake.write_text(NINJA)
    cmake.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return subprocess.run(
        [ROOT / "scripts/build", "headway_program"],
        env={**os.environ, "PATH": path, "HEADWAY_BUILD": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_build_that_no_terminal_shows_prints_a_line_every_ten_percent(tmp_path):
    done = build(tmp_path)
    lines = done.stderr.splitlines()
    assert done.returncode == 0
    assert [line.split()[1] for line in lines] == [str(percent) for percent in range(10, 101, 10)]
    assert lines[4].startswith("building: 50 %, 10 of 20 steps, ")
    assert (tmp_path / "build.log").read_text().count("Building") == 20


def test_a_build_that_fails_shows_its_end_and_where_the_rest_is(tmp_path):
    done = build(tmp_path, FAILS="1")
    assert done.returncode == 1
    assert done.stderr.endswith(
        f"x.cpp:1:1: error: no\nthe build failed; all of it is in {tmp_path}/build.log\n"
    )


def test_a_room_that_does_not_exist_is_named_with_those_that_do():
    done = subprocess.run(
        [ROOT / "scripts/test", "netwrok"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no room 'netwrok'; there are: " in done.stderr
    assert " network " in done.stderr
