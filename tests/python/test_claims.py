"""docs/claims.md says what its commands say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_command_runs_and_every_verdict_is_current(program):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "claims", "--check"],
        env={**os.environ, "HEADWAY_PROGRAM": str(program)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
