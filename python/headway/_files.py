"""Files of results: whole or not there, as the program writes them."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from pathlib import Path


def deliver(path: str | os.PathLike[str], data: bytes, *, force: bool = False) -> None:
    """Writes a file that is whole or not there: into a draft beside it, which then gets its name.

    Parameters
    ----------
    path : path
        A link is followed; into a stream or a device `data` goes as it is.
    force : bool
        Take the place of what is there, with its permissions.

    Raises
    ------
    FileExistsError
        If it is there and `force` is not set.
    """
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not force:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path))
    if mode is not None and not stat.S_ISREG(mode):
        target.write_bytes(data)
        return
    draft, file = _draft(target)
    try:
        with open(file, "wb") as stream:
            if mode is not None and stat.S_IMODE(mode) != stat.S_IMODE(os.fstat(file).st_mode):
                os.fchmod(file, stat.S_IMODE(mode))
            stream.write(data)
            stream.flush()
            os.fsync(file)
        if force:
            os.replace(draft, target)
        else:
            _link(draft, target, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()


def _draft(target: Path) -> tuple[Path, int]:
    """A new file beside the target, and its number; those of others are left alone."""
    for number in itertools.count():
        draft = target.with_name(f".headway.{os.getpid()}.{number}.tmp")
        with contextlib.suppress(FileExistsError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            return draft, os.open(draft, flags, 0o666)
    raise AssertionError


def _link(draft: Path, target: Path, path: str | os.PathLike[str]) -> None:
    """Gives the draft its name, which nobody has taken meanwhile."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(path)) from None
    except OSError as failure:
        if failure.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        os.replace(draft, target)  # a file system without links
