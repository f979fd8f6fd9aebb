"""The README prints what the program prints."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SCENARIO = "configs/scenarios/llama-3.1-405b-16k-h100.yaml"


def test_the_printed_result_is_current(command):
    """Each line of the sample is a line of the program's, in its order; `...` leaves some out."""
    block = (ROOT / "README.md").read_text().split("The first prints", 1)[1].split("```")[1]
    sample = [line for line in block.splitlines() if line and line.strip() != "..."]
    assert len(sample) > 20
    done = command("run", ROOT / SCENARIO)
    assert done.returncode == 0, done.stderr
    rest = iter(done.stdout.splitlines())
    for line in sample:
        assert line in rest, f"'{line}' is not printed, or not there"
