"""Calls of compiled functions that Ctrl-C ends at once and that tell how far they are.

The work is done by a thread of its own. Python notes a signal only between two instructions of its
main thread; a thread that waits for another has such moments all the time, whatever the other does.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import NoReturn, TypeVar

from headway import _core

Listener = Callable[[str, int, int], None]
"""Told what is done now, how many parts of it are, and how many there are; 0 of 0: not known."""

Progress = bool | Listener

Value = TypeVar("Value")

PAUSE = 0.02
"""Between two looks at how far a call is, and for signals that another thread was given [s]."""


@contextlib.contextmanager
def listener(progress: Progress) -> Iterator[Listener | None]:
    """Who is told how far a call is, while the block runs.

    Parameters
    ----------
    progress : bool or callable
        True: a bar of tqdm, in a notebook a widget (without tqdm one line on standard error);
        False: nobody; or who is to be told.
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        with _line_of_text() as line:
            yield line
        return

    with contextlib.ExitStack() as bars:
        bar: tqdm[NoReturn] | None = None
        shown = ""

        def show(phase: str, done: int, total: int) -> None:
            nonlocal bar, shown
            if total == 0:  # not counted yet: nothing to draw
                return
            if bar is None:
                bar = bars.enter_context(tqdm(total=total))
            if phase != shown or total != bar.total or done < bar.n:
                bar.reset(total=total)
                bar.set_description(phase, refresh=False)
                shown = phase
            bar.update(done - bar.n)

        yield show
        if bar is not None:  # what was counted last may have ended between two looks
            bar.update((bar.total or 0) - bar.n)


@contextlib.contextmanager
def _line_of_text() -> Iterator[Listener]:
    """One line on standard error that says how far a call is, ten times a second at most."""
    told = 0.0
    width = 0

    def show(phase: str, done: int, total: int) -> None:
        nonlocal told, width
        if total == 0 or (done < total and time.monotonic() - told < 0.1):
            return
        told = time.monotonic()
        text = f"{phase}: {100 * done // total} %"
        sys.stderr.write(f"\r{text:<{width}}")
        sys.stderr.flush()
        width = max(width, len(text))

    try:
        yield show
    finally:
        if width > 0:
            sys.stderr.write("\n")


def watched(function: Callable[[_core.Watch], Value], told: Listener | None = None) -> Value:
    """What a function returns that works in compiled code.

    After Ctrl-C, or when `told` raises, the call has ended for the caller. Its work ends when it
    next looks at its watch; the interpreter waits for that before it exits.

    Parameters
    ----------
    function : callable
        Is given a watch, which it hands on where it takes long.
    told : callable, optional
        Is told how far it is, whenever that has changed.
    """
    watch = _core.Watch()
    done: Future[Value] = Future()

    def work() -> None:
        try:
            done.set_result(function(watch))
        except BaseException as error:
            done.set_exception(error)

    before = watch.state()
    try:
        threading.Thread(target=work, name="headway").start()
        while True:
            ended = wait([done], PAUSE).done
            now = watch.state()
            if told is not None and now != before:
                told(*now)
            before = now
            if ended:
                return done.result()
    except BaseException:  # above all KeyboardInterrupt
        watch.stop()
        raise
