"""Run the chapters that the cache lacks, as many at a time as there are processors.

Jupyter Book runs one notebook after another; here they are in its cache before it starts.
jupyter-cache has an executor for that, `local-parallel`. It takes every processor of the machine
(also those that a container or `taskset` withholds, and however little memory there is), hands
chapters out in blocks of an order of its own, so that the longest may start last, keeps
tracebacks in a database and cannot say what a chapter weighs. So each chapter runs here, in a
kernel of its own, and goes into the cache as Jupyter Book itself would put it there.

No chapter needs the machine for itself: where one takes times, it does so with one thread, and
either keeps the fastest of several or counts processor time.
"""

import asyncio
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import nbformat
import psutil
import yaml
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from sphinx_external_toc.parsing import parse_toc_yaml
from tools.book.forked_kernels import kernel_managers
from tqdm import tqdm

SECONDS = 60.0
LONGER = {"09b": 240.0, "14": 90.0}  # what trains a translator
MEGABYTES = 1500.0
LIGHTER = {"14": 1200.0}  # Binder has 2 000 for JupyterLab and all that runs in it
LOOK_EVERY = 0.25  # seconds between two looks at the memory
STARTUP_TIMEOUT = 300  # seconds a kernel may take to answer on a busy machine


@dataclass
class Chapter:
    """One notebook, and what its run took so far."""

    path: Path
    timeout: int | None
    threads: int = 1
    managers: type[AsyncKernelManager] = AsyncKernelManager
    seconds: float = 0.0
    megabytes: float = 0.0
    client: NotebookClient | None = field(default=None, repr=False)

    def run(self, notebook: nbformat.NotebookNode | None = None) -> nbformat.NotebookNode:
        """Run every cell of the notebook, or of the file, in a kernel of its own.

        Raises:
            CellExecutionError, CellTimeoutError: a cell failed, or took too long.
            DeadKernelError: the kernel died, of hunger for memory as a rule.
        """
        notebook = notebook or nbformat.read(self.path, as_version=4)
        self.client = NotebookClient(
            notebook,
            kernel_manager_class=self.managers,
            timeout=self.timeout,
            startup_timeout=STARTUP_TIMEOUT,
            coalesce_streams=True,  # myst-nb's own merging breaks a line that came in two chunks
            record_timing=False,  # it would change the metadata that the cache's key is made of
            extra_arguments=["--log-level=ERROR"],  # each kernel warns of sockets on this machine
            resources={"metadata": {"path": str(self.path.parent)}},
        )
        threads = os.environ.get("OMP_NUM_THREADS", str(self.threads))
        started = time.monotonic()
        asyncio.run(self.client.async_execute(env={**os.environ, "OMP_NUM_THREADS": threads}))
        self.seconds = time.monotonic() - started
        return notebook

    def over(self) -> str:
        """Which of the limits it passed, in words; empty when none."""
        seconds = LONGER.get(number(self.path), SECONDS)
        slow = [f"takes more than {seconds:.0f} s"] if self.seconds > seconds else []
        return ", ".join(slow + too_large(self.path, self.megabytes))

    def weigh(self) -> None:
        """Look at the memory of the kernel and its children."""
        manager = self.client and self.client.km
        process = manager and manager.provisioner
        if process and process.pid:
            self.megabytes = max(self.megabytes, resident(process.pid))


def number(path: Path) -> str:
    """A chapter's number, as its file's name begins: "09", "09b"."""
    return path.name.partition("-")[0]


def too_large(path: Path, megabytes: float) -> list[str]:
    """What is wrong with the memory that a chapter took, with its child processes."""
    allowed = LIGHTER.get(number(path), MEGABYTES)
    return [f"took {megabytes:.0f} MB; its limit is {allowed:.0f} MB"] * (megabytes > allowed)


def names(root: Path) -> list[str]:
    """The pages that the table of contents names, such as book/03-masks."""
    return list(parse_toc_yaml(root / "_toc.yml"))


def notebooks(root: Path, pages: Iterable[str]) -> list[Path]:
    """The files of those pages that are notebooks."""
    return [path for page in pages if (path := root / f"{page}.ipynb").exists()]


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def at_a_time() -> int:
    """How many chapters fit the processors and the free memory."""
    room = int(psutil.virtual_memory().available / 1e6 / MEGABYTES)
    return max(1, min(processors(), room))


def cache_of(root: Path) -> JupyterCacheAbstract:
    """The cache that Jupyter Book reads."""
    return get_cache(root / "_build" / ".jupyter_cache")


def last_runs(root: Path) -> Iterator[tuple[Path, NbCacheRecord | None]]:
    """Every chapter and the record of its last run, None when it has not been run as it is."""
    cache = cache_of(root)
    for path in notebooks(root, names(root)):
        try:
            record = cache.match_cache_notebook(nbformat.read(path, as_version=4))
        except KeyError:
            record = None
        yield path, record if record and "megabytes" in record.data else None


def run_missing(root: Path, pages: Collection[str], opening: Thread | None = None) -> bool:
    """Run what the cache lacks of these pages; one that fails is shown and stops no other.

    The book's first two pages run first; `opening` starts when they have, and has then ended, too.

    Returns:
        Whether all ran.
    """
    settings = yaml.safe_load((root / "_config.yml").read_text("utf-8"))["execute"]
    wanted, front = notebooks(root, pages), notebooks(root, names(root)[:2])
    missing = [path for path, ran in last_runs(root) if ran is None and path in wanted]
    # Of the others the longest comes first, or it would end alone.
    missing.sort(key=lambda path: (path not in front, number(path) not in LONGER))
    if not missing:
        return True
    jobs = min(at_a_time(), len(missing))
    threads = max(1, processors() // jobs)
    waited_for = {path for path in missing if path in front}
    good = True
    with (
        kernel_managers(len(missing), threads) as managers,
        ThreadPoolExecutor(jobs) as pool,
        bar("chapters", len(missing)) as shown,
    ):
        chapters = (Chapter(path, settings["timeout"], threads, managers) for path in missing)
        running = {pool.submit(chapter.run): chapter for chapter in chapters}
        try:
            for future in watched(running):
                ran = _finished(future, running[future], root, shown)
                good = good and ran
                waited_for -= {running[future].path} if ran else set()
                if opening and not waited_for and not opening.ident and len(running) > 2:
                    opening.start()
            if opening and opening.ident:
                opening.join()
        except KeyboardInterrupt:
            os._exit(130)  # at once: a kernel ends when the process that started it has
    return good


def bar(of: str, total: int, *, shown: bool = True) -> tqdm:
    """A bar that leaves no trace, and is not there where nobody looks on."""
    shape, hidden = "{desc} {percentage:3.0f} % {bar} {elapsed}", None if shown else True
    return tqdm(total=total, desc=of, disable=hidden, leave=False, bar_format=shape)


def watched(running: dict[Future, Chapter]) -> Iterator[Future]:
    """The runs as they end; until then their memory is looked at."""
    left = set(running)
    while left:
        done, left = wait(left, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
        yield from done
        for future in left:
            running[future].weigh()


def run_alone(path: Path, notebook: nbformat.NotebookNode, timeout: int) -> Chapter:
    """Run one notebook, its outputs put into it; returns what the run took.

    Raises:
        CellExecutionError, CellTimeoutError, DeadKernelError: see `Chapter.run`.
    """
    chapter = Chapter(path, timeout, processors())
    with ThreadPoolExecutor(1) as pool:
        [future] = watched({pool.submit(chapter.run, notebook): chapter})
    future.result()
    return chapter


def _finished(future: Future, chapter: Chapter, root: Path, shown: tqdm) -> bool:
    shown.update()
    name = chapter.path.relative_to(root)
    problem = future.exception()
    if problem is not None:
        kind = type(problem).__name__
        shown.write(f"\n{name} failed: {kind}\n{problem}\n", file=sys.stderr)
        return False
    data = {"execution_seconds": chapter.seconds, "megabytes": chapter.megabytes}
    bundle = CacheBundleIn(future.result(), str(chapter.path), data=data)
    cache_of(root).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    shown.write(f"{name!s:<44} {chapter.seconds:6.0f} s {chapter.megabytes:6.0f} MB")
    return True


def resident(pid: int) -> float:
    """Megabytes of a process, and of its children what they do not share with it."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        root = psutil.Process(pid)
        total = root.memory_info().rss
        for child in root.children(recursive=True):
            with suppress(psutil.Error):
                total += child.memory_full_info().uss
    return total / 1e6
