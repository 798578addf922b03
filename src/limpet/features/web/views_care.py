"""Care: checks, backups, the queue, clients. What takes long says how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...model.clock import MICROSECONDS_PER_SECOND
from ...model.dataclass import dataclass
from ...model.errors import BadInput, LimpetError

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from .site import Ask, Site, View


@dataclass(slots=True)
class Job:
    """A long task on a thread of its own; one at a time."""

    what: str
    done: int = 0
    of: int = 0
    running: bool = True
    outcome: str = ""
    report: dict[str, Any] | None = None


_JOBS: dict[int, Job] = {}
_LOCK = threading.Lock()


def _start(site: Site, what: str, run: Callable[[Progress], Any]) -> None:
    with _LOCK:
        last = _JOBS.get(id(site))
        if last is not None and last.running:
            raise BadInput(f"{last.what} is still running", hint="wait until it has ended")
        job = _JOBS[id(site)] = Job(what)

    def progress(done: int, of: int) -> None:
        job.done, job.of = done, of

    def work() -> None:
        try:
            value = run(progress)
            job.report = value.as_dict() if hasattr(value, "as_dict") else None
            job.outcome = value if isinstance(value, str) else "done"
        except (LimpetError, OSError) as error:
            job.outcome = f"It failed: {error}"
        finally:
            job.running = False

    threading.Thread(target=work, name="limpet-page-job", daemon=True).start()


def care(ask: Ask) -> Response:
    checks = None
    if "check" in ask.query:
        from ..install.check import check_clients

        clients = check_clients(ask.memory.path, ask.site.memory.scope)
        checks = [*ask.memory.doctor(), *clients]
        ask.site.tried = (ask.now(), [check for check in clients if check.status != "ok"])
    return ask.page(
        "care.html", checks=checks, job=_JOBS.get(id(ask.site)), installed=installed(), command=ask.command("doctor"),
        backup=newest_backup(ask.memory), waiting=ask.site.kept("stats", ask.memory.stats),
    )  # fmt: skip


def installed() -> list[tuple[str, bool, bool]]:
    """Return (client, whether it is on this machine, whether limpet is in it), for the user's own files."""
    from ..install.change import present
    from ..install.clients import CLIENTS, Place, is_present, parts, program

    place, clients = Place(Path.home(), None, program()), []
    for client in CLIENTS:
        try:
            there = any(part is not None for _, part in present(parts(client, place)))
        except LimpetError:
            there = False
        clients.append((client, is_present(client, place), there))
    return clients


def newest_backup(memory: Limpet) -> tuple[str, int] | None:
    """Return the newest backup that is there and when it was written, without reading one."""
    known = []
    for path, kind in memory._context.store.erasure.copies():
        if kind == "backup":
            with suppress(OSError):
                known.append((path, int(Path(path).stat().st_mtime) * MICROSECONDS_PER_SECOND))
    return max(known, key=itemgetter(1), default=None)


def backup(ask: Ask) -> Response:
    path = ask.form.get("path", "").strip()
    if not path:
        raise BadInput("which file?")
    file = Path(path).expanduser()
    _start(ask.site, "The backup", lambda progress: ask.site.memory.backup(file, progress=progress))
    return ask.back("/care")


def work(ask: Ask) -> Response:
    _start(ask.site, "The queue", lambda progress: ask.site.memory.work(progress=progress))
    return ask.back("/care")


VIEWS: list[tuple[str, str, View]] = [
    ("GET", "/care", care), ("POST", "/care/backup", backup), ("POST", "/care/work", work),
]  # fmt: skip
