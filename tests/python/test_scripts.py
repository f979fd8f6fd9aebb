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


def build(folder: Path, ninja: str = NINJA, **environment: str) -> subprocess.CompletedProcess[str]:
    """scripts/build with a cmake that builds nothing."""
    cmake = folder / "cmake"
    cmake.write_text(ninja)
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


def test_steps_of_a_build_count_as_much_as_the_text_that_they_compile(tmp_path):
    """1,000 a step, the bytes of sources, an eighth of those of headers: 2,000 + 3 x 6,000 of
    100,000, whatever is built already."""
    header = tmp_path / "all.h"
    header.write_text("//" + " " * 7_997 + "\n")
    include = f'#include "{header}"\n'
    sources = {"old": 50_000, "small": 1_000, "a": 4_000, "b": 4_000, "c": 4_000, "big": 78_000}
    for name, size in sources.items():
        text = include if name in "abc" else ""
        (tmp_path / f"{name}.cpp").write_text(text + " " * (size - len(text)))
    (tmp_path / "old.o").touch()
    commands = "\n".join(f"c++ -MF x -o {name}.o -c {tmp_path}/{name}.cpp" for name in sources)
    built = [f"[{i}/6] Building CXX object {o}.o" for i, o in enumerate([*sources][1:], 1)]
    steps = "\n".join([*built, "[6/6] Linking x"])
    done = build(
        tmp_path,
        f'#!/bin/sh\ncase "$*" in *commands) echo "{commands}";; *) echo "{steps}";; esac\n',
    )
    assert [line.rsplit(",", 1)[0] for line in done.stderr.splitlines()] == [
        "building: 14 %, 3 of 6 steps",
        "building: 20 %, 4 of 6 steps",
        "building: 99 %, 5 of 6 steps",
        "building: 100 %, 6 of 6 steps",
    ]


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
