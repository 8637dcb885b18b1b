"""Try the book as Binder has it: an environment from `.binder/`, JupyterLab, 2 GB and two cores.

    python -m tools.verify.binder [--keep FOLDER] [NN ...]

Makes a clean clone of a commit and a new environment from its `.binder/` alone, with the Python
that it names. Then, for every chapter, JupyterLab is started from that environment behind a hard
limit of memory for itself and all it starts; the chapter is opened in it and run from top to
bottom, in a kernel that JupyterLab starts. What is looked at:

- JupyterLab answers, and has the extension that reads the book's directives (jupyterlab-myst);
- the chapter runs to its end and prints what the copy in git holds;
- the memory of the whole group: JupyterLab, the kernel and the processes that the chapter starts.

Binder's image (repo2docker on Ubuntu), its proxy and its network are not tried.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import psutil
from jupyter_client import BlockingKernelClient
from tools.verify.confined import Confined, fence
from tools.verify.places import (
    ROOT,
    changed_cells,
    chosen,
    clean_environ,
    commit_of,
    environment,
    git,
    options,
    pip,
    step,
)

LIMIT = 2_000_000_000
CORES = 2
CELL_TIMEOUT = 900
START_TIMEOUT = 300


class ChapterError(Exception):
    """A chapter did not run to its end."""


@dataclass(frozen=True)
class Server:
    """A JupyterLab that somebody else started."""

    port: int
    token: str

    def ask(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        """Ask the server as a browser would."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until it answers.

        Raises:
            ChapterError: it ended, or did not answer in time.
        """
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end and process.poll() is None:
            with suppress(OSError):
                self.ask("api/status")
                return
            time.sleep(0.3)
        raise ChapterError("JupyterLab does not answer")

    def extensions(self) -> list[str]:
        """Return the extensions that the page of JupyterLab loads, each of them fetched."""
        page = self.ask("lab").decode()
        start = page.index(">", page.index('id="jupyter-config-data"')) + 1
        config = json.loads(page[start : page.index("</script>", start)])
        found = config["federated_extensions"]
        for extension in found:
            self.ask(f"lab/extensions/{extension['name']}/{extension['load']}")
        return [extension["name"] for extension in found]


def make_environment(folder: Path, python: str, commit: str, pins: list[str]) -> tuple[Path, Path]:
    """Clone the commit and install what `.binder/` names; return the clone and the interpreter."""
    clone = folder / "repository"
    if not clone.exists():
        git("clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone))
    git("fetch", "--quiet", "origin", folder=clone)
    git("checkout", "--quiet", "--detach", commit, folder=clone)
    wanted = (clone / ".binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    got = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True)
    if got.stdout.strip() != wanted:
        raise SystemExit(f"Binder has Python {wanted}; {python} is {got.stdout.strip()}")
    inside = environment(folder / "venv", python)
    pip(inside, "--no-cache-dir", "-r", ".binder/requirements.txt", *pins, cwd=clone)
    return clone, inside


def free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def start_words(python: Path, server: Server, clone: Path) -> list[str]:
    """Return the command that starts JupyterLab on the clone."""
    return [
        *(str(python.parent / "jupyter"), "lab", "--no-browser", "--allow-root"),
        *(f"--ServerApp.port={server.port}", "--ServerApp.port_retries=0"),
        *(f"--IdentityProvider.token={server.token}", f"--ServerApp.root_dir={clone}"),
    ]


def start_kernel(server: Server, name: str, runtime: Path) -> BlockingKernelClient:
    """Open the notebook in JupyterLab and return a client of the kernel that it starts."""
    server.ask(f"lab/tree/book/{name}")
    wanted = {"path": f"book/{name}", "name": name, "type": "notebook"}
    session = json.loads(server.ask("api/sessions", wanted | {"kernel": {"name": "python3"}}))
    connection = runtime / f"kernel-{session['kernel']['id']}.json"
    client = BlockingKernelClient(connection_file=str(connection))
    client.load_connection_file()
    client.start_channels(hb=False)  # a busy machine misses a heartbeat; the process is looked at
    try:
        client.wait_for_ready(timeout=START_TIMEOUT)
    except RuntimeError as error:
        raise ChapterError(f"the kernel does not start: {error}") from error
    return client


def run_cell(
    client: BlockingKernelClient, code: str, kernel: psutil.Process
) -> list[nbformat.NotebookNode]:
    """Run one cell and return its outputs.

    Raises:
        ChapterError: the cell raised, took too long, or its kernel died.
    """
    asked, end, outputs = client.execute(code), time.monotonic() + CELL_TIMEOUT, []
    while time.monotonic() < end:
        if not kernel.is_running() or kernel.status() == psutil.STATUS_ZOMBIE:
            raise ChapterError("the kernel died")
        try:
            message = client.get_iopub_msg(timeout=1)
        except Empty:
            continue
        if message["parent_header"].get("msg_id") != asked:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            raise ChapterError(f"{content['ename']}: {content['evalue'][:500]}")
        if kind in ("stream", "display_data", "execute_result"):
            outputs.append(nbformat.v4.output_from_msg(message))
        elif kind == "status" and content["execution_state"] == "idle":
            return outputs
    raise ChapterError(f"a cell took more than {CELL_TIMEOUT} s")


def run_chapter(client: BlockingKernelClient, path: Path, kernel: psutil.Process) -> list[str]:
    """Run every cell in turn; return the compared cells that print something else."""
    before, after = (nbformat.read(path, as_version=4) for _ in range(2))
    for number, cell in enumerate(after.cells):
        if cell.cell_type != "code":
            continue
        try:
            cell.outputs = run_cell(client, cell.source, kernel)
        except ChapterError as error:
            raise ChapterError(f"cell {number}: {error}") from error
    return changed_cells(before, after)


def try_chapter(python: Path, clone: Path, name: str) -> list[str]:
    """Start JupyterLab, run one chapter in it, print a line; return what is wrong."""
    server = Server(free_port(), secrets.token_hex(16))
    with tempfile.TemporaryDirectory(prefix="binder-") as home:
        runtime = Path(home) / "runtime"
        environ = clean_environ(
            HOME=home,
            JUPYTER_RUNTIME_DIR=str(runtime),
            PATH=f"{python.parent}:{os.environ['PATH']}",
        )
        wrong, idle, start = [], 0, time.monotonic()
        with (Path(home) / "log").open("wb") as log:
            words = start_words(python, server, clone)
            behind = Confined(
                words, limit=LIMIT, cores=CORES, cwd=home, env=environ, stdout=log, stderr=log
            )
            with behind:
                try:
                    server.wait(behind.process)
                    if "jupyterlab-myst" not in server.extensions():
                        wrong.append("JupyterLab lacks jupyterlab-myst")
                    idle = behind.peak
                    client = start_kernel(server, name, runtime)
                    kernel = kernel_among(behind.members(), client.connection_file)
                    start = time.monotonic()
                    wrong += run_chapter(client, clone / "book" / name, kernel)
                    client.stop_channels()
                except ChapterError as error:
                    wrong.append(str(error))
                took = time.monotonic() - start
        if behind.overrun:
            wrong.append(f"needs more than {LIMIT / 1e6:.0f} MB")
    peak = f"{behind.peak / 1e6:6.0f} MB, JupyterLab alone {idle / 1e6:4.0f} MB"
    print(f"{name:<40} {took:5.0f} s {peak}{'  FAILED' if wrong else ''}", flush=True)
    return wrong


def kernel_among(members: list[psutil.Process], connection: str) -> psutil.Process:
    """Return the process of the kernel with this connection file.

    Raises:
        ChapterError: none of them is it, so that the kernel ran outside the limit.
    """
    for member in members:
        with suppress(psutil.Error):
            if connection in member.cmdline():
                return member
    raise ChapterError("the kernel is not among the processes that are limited")


def main() -> int:
    """Try the chapters; the exit status is 1 when anything is wrong."""
    given = options(__doc__ or "").parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # lest JupyterLab outlive us
    commit = commit_of(given.commit)
    pins = ["--constraint", str(given.constraint.resolve())] if given.constraint else []
    faults = 0
    with tempfile.TemporaryDirectory(prefix="binder-") as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        with step("a clone, and an environment from .binder/"):
            clone, python = make_environment(folder, given.python, commit, pins)
        used = fence(LIMIT)
        used.remove()
        print(f"limit {LIMIT / 1e6:.0f} MB by {used.how}, {CORES} cores")
        for name in chosen(given.chapters):
            for line in try_chapter(python, clone, name):
                faults += 1
                print(f"    {line}", flush=True)
    print(f"{faults} faults" if faults else "Every chapter runs within Binder's limits.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
