"""`headway validate` without a table predicts the published runs that come with the program."""

from __future__ import annotations

import json


def test_the_programs_own_rows(command):
    done = command("validate", "--only", "sc21", "--format", "json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(result["rows"]) == 10
    assert all(row["status"].startswith("ok") for row in result["rows"])
    assert result["summary"]["parts"]["dense NVIDIA"]["median_abs_error"] < 0.06
