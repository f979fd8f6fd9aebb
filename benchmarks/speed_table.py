#!/usr/bin/env python3
"""The speed of the fluid tier beside its goals, one table.

    .venv/bin/python benchmarks/speed_table.py [--only WORD] [--large] [--repeats 3]
        [--instructions]

Times are processor seconds (user + system, all threads), the least of the repeats: on a busy
machine they say more than those of the wall. Rates are threads by processor time. Memory is the
peak of the process. --large adds what takes minutes; --instructions counts those of short runs with
callgrind, which repeats to 0.1 %.
The programs lie in build/release, or in the folder that HEADWAY_BUILD names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / os.environ.get("HEADWAY_BUILD", "build/release") / "bin"
SCENARIOS = ROOT / "configs/scenarios"
INFEASIBLE = 3  # the step is simulated, its campaign is refused
SMALL = f"run {SCENARIOS}/small-llama-8b-64-h100.yaml"
LLAMA = f"run {SCENARIOS}/llama-3.1-405b-16k-h100.yaml"


def of_gpus(gpus: int) -> str:
    """Llama 3.1 8B with tensor 2 on so many GPUs, eight sequences a replica."""
    return (
        f"{SMALL} --set cluster.nodes={gpus // 8} --set parallelism.data={gpus // 2} "
        f"--set training.global_batch={4 * gpus}"
    )


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    work: str
    goal: str
    program: str  # and its arguments
    bench: str = ""  # a benchmark of the program: its time is taken, not that of the process
    threads: int = 0  # the figure is a rate, millions of events a second on so many threads
    large: bool = False
    short: bool = False  # callgrind can count it


STEP = "flow_training_bench"
ROWS = [
    Row("`headway run`, 64 GPUs, a campaign of 50 trials", "0.015 s", SMALL, short=True),
    Row("`headway check` of the same", "", SMALL.replace("run", "check", 1), short=True),
    Row("`headway --version`", "", "--version", short=True),
    Row("`headway run`, 131,072 GPUs", "0.2 s", of_gpus(131_072), short=True),
    Row("`headway run`, 1,048,576 GPUs", "1.5 s, 200 MB", of_gpus(1_048_576)),
    Row("`headway run`, 16,384 GPUs, 200 trials", "", LLAMA),
    Row("the same with `--fold off`", "3 s, 300 MB", f"{LLAMA} --fold off"),
    Row(
        "90 days x 98,304 GPUs degraded, 1,000 trials",
        "5 s",
        f"run {SCENARIOS}/degraded-90-days-100k-h100.yaml",
        large=True,
    ),
    Row(
        "dissemination, 65,536 ranks, every message",
        "0.5 s",
        "flow_collectives_bench",
        "dissemination/every_message/65536",
    ),
    Row("step of 16,384 ranks, unfolded", "", STEP, "training_step/unfolded/16384"),
    Row(
        "step of 131,072 ranks, unfolded",
        "15 s",
        STEP,
        "training_step/unfolded_straggler/131072",
        large=True,
    ),
    Row("PHOLD, 1 thread", "20 M/s", "phold_bench", "phold/threads:1/lookahead:1000", 1),
    Row("PHOLD, 2 threads", "35 M/s", "phold_bench", "phold/threads:2/lookahead:1000", 2),
    Row(
        "PHOLD, lookahead 0.001, 1 thread",
        "6 M/s",
        "phold_bench",
        "phold/threads:1/lookahead:1",
        1,
    ),
    Row(
        "PHOLD, lookahead 0.001, 2 threads",
        "10 M/s",
        "phold_bench",
        "phold/threads:2/lookahead:1",
        2,
    ),
]


def command(row: Row) -> list[str]:
    words = row.program.split()
    if not row.bench:
        return [str(PROGRAMS / "headway"), *words]
    return [str(PROGRAMS / words[0]), f"--benchmark_filter=^{row.bench}$"]


def measured(words: list[str]) -> tuple[float, float, str]:
    """Processor seconds, peak MB and output of one process."""
    with tempfile.TemporaryFile() as out:
        pid = os.posix_spawn(
            words[0],
            words,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)],
        )
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, INFEASIBLE):
            sys.exit(f"{' '.join(words)} ended with {code}")
        out.seek(0)
        text = out.read().decode()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3, text


def figure(row: Row) -> tuple[float, float]:
    """Seconds, or a rate, and MB."""
    words = command(row)
    if not row.bench:
        seconds, megabytes, _ = measured(words)
        return seconds, megabytes
    _, megabytes, text = measured([*words, "--benchmark_format=json"])
    result = json.loads(text)["benchmarks"][0]
    if "error_message" in result:
        sys.exit(f"{row.bench}: {result['error_message']}")
    if row.threads > 0:
        return row.threads * 1e3 / result["cpu_ns_per_event"], megabytes
    return result["cpu_time"] / 1e3, megabytes


def instructions(row: Row) -> str:
    out = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command(row)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"Collected : (\d+)", out.stderr)
    assert found is not None
    return f"{int(found[1]) / 1e6:,.0f} M"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="rows whose work has this word")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--instructions", action="store_true")
    asked = parser.parse_args()
    print("| work | goal | measured | memory |" + (" instructions |" if asked.instructions else ""))
    print("|---|---|---|---|" + ("---|" if asked.instructions else ""))
    for row in ROWS:
        if asked.only not in row.work or (row.large and not asked.large):
            continue
        figures = [figure(row) for _ in range(asked.repeats)]
        values = [value for value, _ in figures]
        value = f"{max(values):.3g} M/s" if row.threads > 0 else f"{min(values):.3g} s"
        memory = min(megabytes for _, megabytes in figures)
        line = f"| {row.work} | {row.goal} | {value} | {memory:,.0f} MB |"
        if asked.instructions:
            line += f" {instructions(row) if row.short else ''} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
