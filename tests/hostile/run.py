#!/usr/bin/env python3
"""Runs the program on thousands of hostile command lines and files, and fails on what no input may
cause: a signal, exit code 1, over 30 s or 4 GB, a figure that cannot be, an error without a place.

  tests/hostile/run.py                          the runs of the tests: always the same
  tests/hostile/run.py --deep                   far more, new ones every time
  tests/hostile/run.py --replay 1:345           one run again, with all it says
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generate import Case, Generator, argument_bytes, write_files  # noqa: E402
from judge import Outcome, verdict  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
# 4 GB of memory in KiB, 30 s of two processors, no core files. The slowest sound run (hashed routes
# on 1,024 GPUs, drawn nine times) takes 17 to 20.
LIMITS = f"ulimit -v {4 << 20} -c 0; ulimit -S -t 60"
WALL_SECONDS = 90  # a loaded machine may give a run a quarter of a core
# The administrator without what opens closed files: no other user, who may not reach the program.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def shell_line(case: Case, program: Path) -> bytes:
    words = [b"exec", os.fsencode(shlex.quote(str(program)))]
    words += [shell_quoted(word) for word in argument_bytes(case)]
    prelude = f"{LIMITS}\n{case.prelude}\n".encode()
    return prelude + b" ".join(words) + b" " + os.fsencode(case.streams)


def shell_quoted(word: bytes) -> bytes:
    return b"'" + word.replace(b"'", b"'\\''") + b"'"


def run_case(case: Case, program: Path, folder: Path) -> Outcome:
    """Runs one case in an empty folder."""
    write_files(case, folder)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEADWAY")}
    environment |= case.environment
    line = shell_line(case, program)
    process = subprocess.Popen(
        [*(WITHOUT_RIGHTS if case.nobody and os.geteuid() == 0 else []), "/bin/bash", "-c", line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = process.communicate(timeout=WALL_SECONDS)
        return Outcome(process.returncode, False, out, err)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        return Outcome(process.returncode, True, out, err)


class Runner:
    """Makes and runs the cases of one seed, by number; one a process."""

    def __init__(self, seed: int, program: Path) -> None:
        self.seed = seed
        self.program = program
        self.generator = Generator(ROOT)

    def __call__(self, number: int) -> tuple[int, list[str], str | None, int]:
        case = self.generator.case(self.seed, number)
        folder = Path(tempfile.mkdtemp(prefix="headway-hostile-"))
        try:
            outcome = run_case(case, self.program, folder)
        finally:
            remove(folder)
        return number, case.arguments, verdict(case, outcome), outcome.code


def remove(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


runner: Runner


def start_worker(seed: int, program: Path) -> None:
    global runner
    runner = Runner(seed, program)


def run_number(number: int) -> tuple[int, list[str], str | None, int]:
    return runner(number)


def open_cases() -> list[tuple[re.Pattern[str], str]]:
    """Known failures that wait for their repair: a regular expression and a reason a line."""
    cases = []
    for line in (Path(__file__).parent / "open_cases.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, _, reason = line.partition("  # ")
            cases.append((re.compile(pattern.strip()), reason))
    return cases


def run_all(options: argparse.Namespace) -> int:
    """Runs all numbers; prints the failures by class, each with the command that repeats it."""
    known = open_cases()
    codes: Counter[int] = Counter()
    failures: dict[str, list[str]] = {}
    waiting = 0
    start = time.monotonic()
    with ProcessPoolExecutor(
        options.jobs, initializer=start_worker, initargs=(options.seed, options.program)
    ) as pool:
        for number, arguments, wrong, code in pool.map(
            run_number, range(options.runs), chunksize=8
        ):
            codes[code] += 1
            if wrong is None:
                continue
            line = shlex.join(arguments)
            if any(pattern.search(f"{line} -> {wrong}") for pattern, _ in known):
                waiting += 1
                continue
            kind = re.sub(r"-?\d[\d.e+-]*", "N", wrong)[:90]
            failures.setdefault(kind, []).append(
                f"{options.seed}:{number}  {line[:400]}\n      {wrong}"
            )
    seconds = time.monotonic() - start
    for kind, cases in sorted(failures.items(), key=lambda item: -len(item[1])):
        print(f"{len(cases)} x {kind}")
        for case in cases[: options.show]:
            print(f"    --replay {case}")
    summary = ", ".join(f"{count} with {code}" for code, count in sorted(codes.items()))
    print(f"{options.runs} runs of seed {options.seed} in {seconds:.0f} s: exit codes {summary}")
    if waiting:
        print(f"{waiting} runs failed as tests/hostile/open_cases.txt says")
    if failures:
        print("repeat one with: tests/hostile/run.py --replay SEED:NUMBER")
    return 1 if failures else 0


def replay(options: argparse.Namespace) -> int:
    """One case with all it says, in a folder that stays."""
    seed, _, number = options.replay.partition(":")
    case = Generator(ROOT).case(int(seed), int(number))
    folder = Path(tempfile.mkdtemp(prefix="headway-hostile-"))
    line = shell_line(case, options.program).decode("utf-8", "backslashreplace")
    print(f"cd {folder}\n{case.environment or ''}\n{line}", flush=True)
    outcome = run_case(case, options.program, folder)
    sys.stdout.buffer.write(outcome.out[:4000] + b"\n" + outcome.err[:4000] + b"\n")
    wrong = verdict(case, outcome)
    print(f"exit code {outcome.code}: {wrong or 'as it should be'}")
    return 0 if wrong is None else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/bin/headway")
    parser.add_argument("--seed", type=int, help="of all cases [1; --deep: a new one]")
    parser.add_argument("--runs", type=int, help="how many [1000; --deep: 30000]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at a time [all cores]")
    parser.add_argument("--show", type=int, default=3, help="cases shown of a class [3]")
    deep = bool(os.environ.get("HEADWAY_DEEP"))  # what `scripts/test --deep` says to all tests
    parser.add_argument("--deep", action="store_true", default=deep, help="more runs, and new ones")
    parser.add_argument("--replay", metavar="SEED:NUMBER", help="repeat one case")
    options = parser.parse_args()
    options.program = options.program.resolve()
    if options.seed is None:
        options.seed = int(time.time()) if options.deep else 1
    if options.runs is None:
        options.runs = 30000 if options.deep else 1000
    return replay(options) if options.replay else run_all(options)


if __name__ == "__main__":
    sys.exit(main())
