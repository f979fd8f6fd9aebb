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


def test_rows_that_nothing_was_fitted_to_are_parts_of_their_own(command):
    """One source has 8 rows in the table of the fit and 9 in the other."""
    done = command("validate", "--only", "nemoLong", "--format", "json")
    assert done.returncode == 0, done.stderr
    parts = json.loads(done.stdout)["summary"]["parts"]
    assert parts["dense NVIDIA"]["n"] == 8
    assert parts["dense NVIDIA, not fitted"]["n"] == 9


def test_a_row_that_is_in_no_table_is_wrong_input(command):
    done = command("validate", "--only", "no-such-row")
    assert done.returncode == 2
    assert "no row of" in done.stderr
