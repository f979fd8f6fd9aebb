"""The command line `headway` of an installed package: starts the program that lies in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    program = Path(__file__).parent / "bin" / "headway"
    os.environ.setdefault("HEADWAY_PYTHON", sys.executable)  # for --engine dask
    os.execv(program, ["headway", *sys.argv[1:]])
