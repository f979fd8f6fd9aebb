"""The program `headway` of an installed package: where it is, and the command that starts it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def program() -> Path:
    """The program that came with the package."""
    return Path(__file__).parent / "bin" / "headway"


def main() -> NoReturn:
    os.environ.setdefault("HEADWAY_PYTHON", sys.executable)  # for --engine dask
    os.execv(program(), ["headway", *sys.argv[1:]])
