"""Fetch one file with a checksum: resumed after an interruption, never left half-written.

Any number of processes may ask for the same file: one fetches it, the others wait and find it.
"""

from __future__ import annotations

import hashlib
import http
import http.client
import os
import stat
import urllib.error
import urllib.request
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock
from tqdm import tqdm

_CHUNK = 1 << 16
_ATTEMPTS = 4


class DownloadError(OSError):
    """A file could not be fetched; the message says which and why."""


def sha256(path: Path) -> str:
    """Return the SHA-256 checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def own_folder(folder: str | Path | None, variable: str) -> Path | None:
    """Return the folder that the argument or else the variable names; None if neither does.

    Raises:
        FileNotFoundError: there is no such folder. None is made: the name may be misspelt.
    """
    chosen = folder or os.environ.get(variable)
    if chosen and not Path(chosen).is_dir():
        told = "" if folder else f", which {variable} names"
        raise FileNotFoundError(f"there is no folder {chosen}{told}: make it, or name another")
    return Path(chosen) if chosen else None


def keep_copy(
    url: str,
    path: Path,
    *,
    checksum: str,
    name: str,
    is_own: bool,
    download: bool,
    advice: str,
    progress: bool,
) -> None:
    """Make sure that `path` is a whole copy of a corpus's file; fetch it where it is not.

    `name` is the corpus's and `advice` what to do beside going online. A file with another checksum
    is fetched again, unless `is_own` says that its folder is the user's.

    Raises:
        ValueError: another file in the user's own folder; something that is no file.
        FileNotFoundError: there is no whole copy, and none can be fetched.
    """
    state = f"no copy of {name} at {path}"
    if path.exists():
        if not path.is_file():  # a pipe would be waited for
            raise ValueError(f"{path} is no file; remove it to download it again")
        got = sha256(path)
        if got == checksum:
            return
        if is_own:
            raise ValueError(
                f"{path} has SHA-256 {got}, expected {checksum}; delete it to download it again"
            )
        state = f"the copy of {name} at {path} is damaged: it has SHA-256 {got}, not {checksum}"
    if not download:
        raise FileNotFoundError(
            f"{state} (downloading is switched off): go online once, or {advice}"
        )
    try:
        fetch(url, path, checksum=checksum, progress=progress)
    except DownloadError as error:
        raise FileNotFoundError(f"{state} ({error}): go online once, or {advice}") from error


def fetch(
    url: str, path: Path, *, checksum: str, progress: bool = True, timeout: float = 30.0
) -> None:
    """Download `url` to `path`, which appears only once its SHA-256 is `checksum`.

    Bytes are collected in `path` + `.part`. An interrupted download goes on from there, if the
    server can; a part with the wrong checksum is deleted and the file is fetched once more. After
    `timeout` seconds of silence a connection counts as broken. The lock `.` + name + `.lock` stays:
    a lock that is removed does not hold.

    Raises:
        DownloadError: if the server cannot be reached, does not have the file, keeps breaking the
            connection, or sends a file with another checksum.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        if not (path.is_file() and sha256(path) == checksum):  # else another process was faster
            _fetch_checked(url, path, checksum, progress, timeout)


def _fetch_checked(url: str, path: Path, checksum: str, progress: bool, timeout: float) -> None:
    part = path.with_name(path.name + ".part")
    if os.path.lexists(part) and not stat.S_ISREG(part.lstat().st_mode):
        part.unlink()  # a link would be followed, a pipe waited for: neither is ours
    for fresh in (False, True):
        if fresh:
            part.unlink()
        _fetch_all(url, part, progress, timeout)
        got = sha256(part)
        if got == checksum:
            os.replace(part, path)
            return
    part.unlink()
    raise DownloadError(f"{url} has SHA-256 {got}, expected {checksum}")


def _fetch_all(url: str, part: Path, progress: bool, timeout: float) -> None:
    for _ in range(_ATTEMPTS):
        try:
            if _fetch_some(url, part, progress, timeout):
                return
        except urllib.error.HTTPError as error:
            error.close()
            raise DownloadError(f"{url}: the server answers {error.code} {error.msg}") from error
        except urllib.error.URLError as error:
            raise DownloadError(f"{url} cannot be reached: {error.reason}") from error
        except (ConnectionError, TimeoutError, http.client.HTTPException):
            pass  # what has arrived is in the part; go on from there
    raise DownloadError(f"{url}: the connection broke {_ATTEMPTS} times; try again to go on")


def _fetch_some(url: str, part: Path, progress: bool, timeout: float) -> bool:
    """Append to the part until the connection ends; return whether all bytes are there."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        error.close()
        return True  # nothing beyond the part: the checksum decides whether it is right
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            done = 0  # the server sends the whole file again
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        with (
            _open_part(part, goes_on=done > 0) as file,
            tqdm(
                total=total,
                initial=done,
                desc=part.stem,
                unit="B",
                unit_scale=True,
                disable=not progress,
            ) as bar,
        ):
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
            return total is None or file.tell() == total


def _open_part(part: Path, *, goes_on: bool) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if goes_on else os.O_TRUNC)
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)  # of Unix, of Windows
    return os.fdopen(os.open(part, flags, 0o666), "ab" if goes_on else "wb")
