"""The README prints what the program prints."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

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


DOCS = sorted((ROOT / "docs").glob("*.md"))
TRANSCRIPTS = [
    block
    for doc in DOCS
    for block in doc.read_text().split("```")[1::2]
    if block.lstrip("\n").startswith("$ headway ")
]


@pytest.mark.parametrize("block", TRANSCRIPTS)
def test_transcripts_are_current(command, block, monkeypatch):
    """A block that begins with a command has what it prints, `...` for lines that are left out."""
    asked, *lines = block.strip().splitlines()
    monkeypatch.chdir(ROOT)
    done = command(*shlex.split(asked)[2:])
    assert done.returncode == 0, done.stderr
    rest = iter(done.stdout.splitlines())
    for line in lines:
        assert line.strip() == "..." or line in rest, f"'{line}' is not printed, or not there"


def rate(result):
    return f"{result['step']['tokens_per_s_per_gpu']:,.0f}"


def step(result):
    return f"{result['step']['time_s']:.1f} s"


NVFP4 = "nvfp4-llama-405b-576-gb200"
NO_LAYERS = ("--set", "model.sixteen_bit_layers=null")
BF16 = (*NO_LAYERS, "--set", "training.nvfp4=null", "--set", "training.precision=bf16")


@pytest.mark.parametrize(
    ("doc", "scenario", "options", "shown", "words"),
    [
        ("adapters", "lora-llama-70b-8-h100", (), rate, "run: {} tokens/s a GPU"),
        ("hybrids", "nemotron-3-nano-16-h100", (), rate, "run: {} tokens/s a GPU"),
        ("hybrids", "nemotron-3-super-64-b300", (), rate, "{} are predicted"),
        ("recipes", NVFP4, (), step, "a step takes\n{}"),
        ("recipes", NVFP4, NO_LAYERS, step, "with none (`--set model.sixteen_bit_layers=null`) {}"),
        ("recipes", NVFP4, BF16, step, "--set training.nvfp4=null`) {}"),
    ],
)
def test_figures_in_sentences_are_current(command, doc, scenario, options, shown, words):
    done = command("run", scenario, *options, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert words.format(shown(json.loads(done.stdout))) in (ROOT / "docs" / f"{doc}.md").read_text()
