"""How far a call is: a bar in the terminal or notebook, or a function of the caller's."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

Listener = Callable[[str, int, int], None]
"""Told what is done now, how many parts of it are, and how many there are; 0 of 0: not known."""

Progress = bool | Listener


@contextlib.contextmanager
def listener(progress: Progress) -> Iterator[Listener | None]:
    """Who is told how far a call is, while the block runs.

    Parameters
    ----------
    progress : bool or callable
        True: a bar of tqdm, in a notebook a widget; False: nobody; or who is to be told.

    Raises
    ------
    ModuleNotFoundError
        If a bar is wanted and tqdm is not installed.
    """
    if not isinstance(progress, bool):
        yield progress
        return
    if not progress:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=None) as bar:
        shown = ""

        def show(phase: str, done: int, total: int) -> None:
            nonlocal shown
            if phase != shown or total != (bar.total or 0) or done < bar.n:
                bar.reset(total=total or None)
                bar.set_description(phase, refresh=False)
                shown = phase
            bar.update(done - bar.n)

        yield show
