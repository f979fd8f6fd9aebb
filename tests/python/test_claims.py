"""docs/claims.md says what its commands say."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def claims():
    loader = importlib.machinery.SourceFileLoader("claims", str(ROOT / "scripts" / "claims"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("claims", loader))
    loader.exec_module(module)
    return module


@pytest.mark.deep
def test_every_command_runs_and_every_figure_is_current(program):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "claims", "--check"],
        env={**os.environ, "HEADWAY_PROGRAM": str(program)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_number_that_moved_by_more_than_rounding_is_seen():
    rounded = claims().to_three_digits
    assert rounded("302 days and 83.52 M USD") == rounded("302 days and 83.49 M USD")
    assert rounded("302 days") != rounded("303 days")
    assert rounded("1,380 TFLOP/s") == rounded("1,381 TFLOP/s") != rounded("1,390 TFLOP/s")


def test_every_claim_is_listed_once():
    module = claims()
    keys = [claim.key for claim in [*module.CLAIMS, *module.UNCHECKED]]
    expected = [
        *(f"A{i}" for i in range(1, 20)),
        *(f"B{i}" for i in range(1, 20)),
        *(f"C{i}" for i in range(1, 11)),
        "D1",
        "D2",
    ]
    assert sorted(keys) == sorted(expected)
