"""How soon Ctrl-C is heard: in every function that can work long, and in the program."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from interrupted import CALLS

GOAL = 0.1  # [s]
# Soon after the begin, while a step is prepared, and in the midst of it; the last ones may come too
# late for a fast machine.
MOMENTS = (0.02, 0.3, 1.0)
# Of what a call was doing when it was left, until nothing of it works any more [s]: below one where
# nothing else runs, but it is by the clock. A plan looks inside every shape and every simulation.
LEFT_WORK = {"plan": 0.5, "plan of 16,384 GPUs": 0.5}
OTHER_LEFT_WORK = 15.0


@pytest.mark.parametrize("verb", CALLS)
def test_ctrl_c_ends_every_call_within_100_ms(small, verb, tmp_path):
    """By the clock, or by the time that processors worked for this process where other tests have
    them: a call that heard nothing would have used them all the while. What the machine did at one
    moment is no matter, so each is tried three times at most."""
    log = tmp_path / "train.log"
    log.write_text("".join(f"completed step: {i}, seconds: 9000,\n" for i in range(20)))
    left_work = LEFT_WORK.get(verb, OTHER_LEFT_WORK)
    missed = [str(moment) for moment in MOMENTS]
    heard: set[str] = set()
    tried: list[tuple[str, list[float]]] = []
    for _ in range(3):
        if not missed:
            break
        words = [sys.executable, Path(__file__).with_name("interrupted.py"), verb, small, log]
        done = subprocess.run(
            [*words, *missed], capture_output=True, text=True, timeout=240, check=True
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(missed), done.stderr
        tried += [(m, each) for m, each in zip(missed, answers, strict=True) if each is not None]
        heard |= {
            moment
            for moment, each in zip(missed, answers, strict=True)
            if each is not None and min(each[:2]) < GOAL and each[2] < left_work
        }
        ended = {m for m, each in zip(missed, answers, strict=True) if each is None}
        missed = [moment for moment in missed if moment not in heard | ended]
    assert not missed, tried
    assert heard, "every call had ended before its signal: it is too short to be a test"


def test_what_was_left_ends_before_the_interpreter_does(tmp_path):
    """It does not go on working in the background, and nothing crashes when Python ends."""
    code = """
import os, signal, threading, time
import headway
signal.signal(signal.SIGINT, signal.default_int_handler)
large = headway.configs() / "scenarios" / "llama-3.1-405b-16k-h100.yaml"
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    headway.sweep(large, {"training.framework.step_overhead": [f"{i} s" for i in range(1, 99)]})
except KeyboardInterrupt:
    print("heard")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")


SEEDS = ",".join(map(str, range(1, 1000)))
WORDS = {
    "run": ("run", "{small}", "--set", "run.trials=1000000", "--set", "run.until.steps=10000000"),
    "plan": ("plan", "{small}", "--set", "cluster.nodes=512"),
    "validate": ("validate",),
    "sweep": ("sweep", "{small}", "--sweep", f"run.seed={SEEDS}"),
    "topo": ("topo", "roce-clos-llama-3", "--nodes", "64", "--stress", "dcqcn"),
}


@pytest.mark.parametrize("verb", WORDS)
def test_ctrl_c_ends_the_program_within_100_ms(program, small, verb):
    """Typed at a terminal of its own."""
    words = [str(program), *(word.format(small=small) for word in WORDS[verb])]
    taken = []
    for _ in range(3):
        process, terminal = pty.fork()
        if process == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(words[0], words)
        time.sleep(0.4)
        begun = time.monotonic()
        os.write(terminal, b"\x03")
        _, status = os.waitpid(process, 0)
        taken.append(time.monotonic() - begun)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == 130
        if taken[-1] < GOAL:
            break
    assert min(taken) < GOAL, taken
