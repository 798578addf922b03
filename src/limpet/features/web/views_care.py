"""Care: checks, backups, import and export, mirrors, clients. What takes long says how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...model.clock import MICROSECONDS_PER_SECOND
from ...model.dataclass import dataclass
from ...model.errors import BadInput, LimpetError
from .. import mirror
from ..transfer.service import READERS, WRITERS

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
            job.outcome = f"{value:,} lines" if isinstance(value, int) else value if isinstance(value, str) else "done"
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
    here = ask.site.seen_from(ask.scope or ask.site.memory.scope)
    return ask.page(
        "care.html", checks=checks, job=_JOBS.get(id(ask.site)), mirrors=mirror.mirrors(here), where=here.scope,
        readers={"jsonl": "limpet's own export", **{name: what for name, (_, _, what) in READERS.items()}},
        writers={name: what for name, (_, _, what) in WRITERS.items() if name != "segments"},
        installed=installed(), command=ask.command("doctor"),
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


JOBS: dict[str, tuple[str, Callable[[Limpet, str, dict[str, str], Progress], Any]]] = {
    "backup": ("The backup", lambda here, path, _, progress: here.backup(path, progress=progress)),
    "export": ("The export", lambda here, path, form, progress: here.export_to(
        form.get("format", ""), path, progress=progress
    )),
    "import": ("The import", lambda here, path, form, progress: here.import_from(
        form.get("format", ""), path, dry_run="apply" not in form, progress=progress
    )),
    "sync": ("The sync", lambda here, path, *_: mirror.sync(here, path)),
    "work": ("The queue", lambda here, *given: here.work(progress=given[-1])),
}  # fmt: skip


def _do(name: str, ask: Ask) -> Response:
    what, run = JOBS[name]
    here = ask.site.seen_from(ask.scope or ask.site.memory.scope)
    path = ask.form.get("path", "").strip()
    if not path and name != "work":
        raise BadInput("which file or folder?")
    path, form = str(Path(path).expanduser()), ask.form
    _start(ask.site, what, lambda progress: run(here, path, form, progress))
    return ask.back("/care")


VIEWS: list[tuple[str, str, View]] = [
    ("GET", "/care", care),
    *(("POST", f"/care/{name}", partial(_do, name)) for name in JOBS),
]
