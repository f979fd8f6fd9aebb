"""Presses Ctrl-C while a call works, again and again, and prints how soon each was heard.

A process of its own, because a signal is one of the whole process: ``interrupted.py CALL SCENARIO
LOG MOMENT...``, moments in seconds after the begin of the call. It prints a line of JSON for each:
seconds by the clock, seconds of processors, and seconds until nothing works any more.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import headway

SCENARIOS = headway.configs() / "scenarios"
LARGE = SCENARIOS / "llama-3.1-405b-16k-h100.yaml"
PLACED = SCENARIOS / "placement-llama-8b-64-h100.yaml"
# Steps of very many micro-batches: the longest piece of work that a call has.
MANY = {"training.global_batch": 131072}
TRIALS = {"run.trials": 1000000, "run.until.steps": 10000000}
OVERHEAD = "training.framework.step_overhead"


@functools.cache
def finished() -> headway.Result:
    """A result with pictures, whose pages and charts take long."""
    return headway.run(LARGE, pictures=True)


@functools.cache
def traces(small: Path, folder: Path) -> Path:
    """Execution traces of all ranks of a step, whose replay takes seconds."""
    headway.export("chakra", small, out=folder, ranks="0-15", force=True)
    return folder


@functools.cache
def profile(file: Path) -> Path:
    """What torch.profiler would write of two steps of one rank of `LARGE`."""
    events = []
    for step in range(3):
        begin = 1e8 * step
        mark = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}"}
        events.append({**mark, "ts": begin, "dur": 1e8})
        kernel = {"ph": "X", "cat": "kernel", "args": {}, "name": "gemm"}
        events.append({**kernel, "ts": begin + 10, "dur": 4e7})
    info = {"rank": 3, "world_size": 16384}
    file.write_text(json.dumps({"traceEvents": events, "distributedInfo": info}))
    return file


@functools.cache
def samples(file: Path) -> Path:
    """Measured matrix products, so many that to read and fit them takes a second."""
    lines = ["# headway-samples 1", "# device: X", "kind,op,m,n,k,seconds"]
    for i in range(100000):
        m, n, k = 128 * (1 + i % 40), 128 * (1 + i // 40 % 40), 64 * (1 + i // 1600)
        for op in ("forward", "weight_gradient"):
            lines.append(f"gemm,{op},{m},{n},{k},{2 * m * n * k / 5e14 + 5e-6}")
    file.write_text("\n".join(lines) + "\n")
    return file


Call = Callable[[Path, Path], object]
CALLS: dict[str, Call] = {
    "run": lambda small, log: headway.run(small, set=TRIALS),
    "run explained, with pictures": lambda small, log: headway.run(
        LARGE, set=MANY, explain=True, pictures=True
    ),
    "run by packets": lambda small, log: headway.run(
        small, set={"cluster.nodes": 16, "training.global_batch": 512}, network="packet"
    ),
    "plan": lambda small, log: headway.plan(
        small, set={"cluster.nodes": 512, "training.global_batch": 4096}
    ),
    "plan of 16,384 GPUs": lambda small, log: headway.plan(LARGE),
    "place": lambda small, log: headway.place(PLACED, draws=100),
    "compare": lambda small, log: headway.compare(LARGE, LARGE, layers=True, set=MANY),
    "drill": lambda small, log: headway.drill(LARGE, "hang", set=MANY),
    "expect": lambda small, log: headway.expect(LARGE, set=MANY),
    "diagnose": lambda small, log: headway.diagnose(LARGE, log, set=MANY),
    "solve": lambda small, log: headway.solve(LARGE, OVERHEAD, "step.mfu >= 0.3", set=MANY),
    "sweep": lambda small, log: headway.sweep(
        LARGE, {OVERHEAD: [f"{i} s" for i in range(1, 99)]}, set=MANY
    ),
    "report": lambda small, log: finished().report(log.with_suffix(".html"), force=True),
    "plot": lambda small, log: list(finished().plot),
    "trace": lambda small, log: finished().trace(log.with_suffix(".pftrace"), force=True),
    # What follows is answered by a process.
    "validate": lambda small, log: headway.validate(),
    "collective": lambda small, log: headway.collective("all_reduce", LARGE, gpus=16384),
    "export": lambda small, log: headway.export(
        "chakra", LARGE, out=log.with_suffix(".d"), ranks="0-255", force=True
    ),
    "topo": lambda small, log: headway.topo("roce-clos-llama-3", nodes=64, stress="dcqcn"),
    "replay": lambda small, log: headway.replay(
        traces(small, log.with_suffix(".traces")), cluster=small
    ),
    "compare_profiles": lambda small, log: headway.compare_profiles(
        LARGE, profile(log.with_suffix(".json")), set=MANY
    ),
    "calibrate": lambda small, log: headway.calibrate(
        "fit", samples(log.with_suffix(".csv")), gpu="h100-sxm"
    ),
}
# Files that a call reads; to make them is not what is measured.
MADE: dict[str, Call] = {
    "replay": lambda small, log: traces(small, log.with_suffix(".traces")),
    "compare_profiles": lambda small, log: profile(log.with_suffix(".json")),
    "calibrate": lambda small, log: samples(log.with_suffix(".csv")),
}


def struck(call: Callable[[], object], moment: float) -> tuple[float, float, float] | None:
    """None: the call had ended before."""
    begun: list[tuple[float, float]] = []

    def strike() -> None:
        begun.append((time.monotonic(), time.process_time()))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(moment, strike)
    timer.start()
    try:
        call()
    except KeyboardInterrupt:
        clock, work = time.monotonic() - begun[0][0], time.process_time() - begun[0][1]
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        return clock, work, time.monotonic() - begun[0][0]
    timer.cancel()
    return None


def main(name: str, small: str, log: str, *moments: str) -> None:
    # What runs the tests may have been started in the background, where Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    finished()  # not what is measured
    MADE.get(name, lambda small, log: None)(Path(small), Path(log))
    for moment in moments:
        print(
            json.dumps(struck(lambda: CALLS[name](Path(small), Path(log)), float(moment))),
            flush=True,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
