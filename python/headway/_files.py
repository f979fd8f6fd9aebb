"""Files of results: whole or not there, as the program writes them."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
from pathlib import Path


def deliver(path: str | os.PathLike[str], data: bytes, *, force: bool | None = None) -> None:
    """Writes a file that is whole or not there: into a draft beside it, which then gets its name.

    Parameters
    ----------
    path : path
        A link is followed; into a stream or a device `data` goes as it is.
    force : bool or None
        Take the place of what is there, with its permissions. None: whoever calls has no such word.

    Raises
    ------
    FileExistsError
        If it is there and `force` is not set.
    """
    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not force:
        raise _taken(path, force)
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
            _link(draft, target, _taken(path, force))
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


def _taken(path: str | os.PathLike[str], force: bool | None) -> FileExistsError:
    way_out = "" if force is None else "; force=True writes over it"
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST) + way_out, os.fspath(path))


def _link(draft: Path, target: Path, taken: FileExistsError) -> None:
    """Gives the draft its name, which nobody has taken meanwhile."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise taken from None
    except OSError as failure:
        if failure.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        os.replace(draft, target)  # a file system without links
