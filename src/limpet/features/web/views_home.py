"""Home: news since the last visit, the store's health and growth, costs and use; and the scope and theme shown.

Also the page Upkeep: checks, backups, the queue, clients. What takes long there says how far it is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...model.clock import MICROSECONDS_PER_SECOND
from ...model.dataclass import dataclass
from ...model.errors import BadInput, LimpetError
from ...work.service import models
from ..usefulness import usefulness
from . import shown
from .site import SCOPE, THEME, changes_nothing

if TYPE_CHECKING:
    from ...api import Limpet, Progress
    from .site import Ask, Site, View

# A cookie with the times of the last visit and this one; a new visit begins after a while.
SEEN, VISIT_SECONDS = "limpet-seen", 1_800
YEAR_SECONDS = 31_536_000
WEEK = 7 * 86_400
# Operations that are searched for changes.
MOST_CHANGES = 60
# Verbs that add a memory instead of changing one.
LEARNED = ("remember", "fact")


def home(ask: Ask) -> Response:
    this, before = ask.now() // 1_000_000, 0  # this visit and the one before it, in seconds; 0: there was none
    with suppress(ValueError):
        earlier, last = map(int, ask.request.cookies.get(SEEN, "").split("."))
        before = earlier if this - last < VISIT_SECONDS else last
    since = (before or this - this % 3600 - WEEK) * 1_000_000
    store, site = ask.memory, ask.site
    learned = site.kept(("learned", ask.scope, since), lambda: store.count(clock="stored", since=since))
    # The newest of them, or of all if there are none.
    begin = since if learned else None
    new = site.kept(("new", ask.scope, since), lambda: store.list(clock="stored", since=begin, limit=6))
    figures = site.kept(("figures", ask.scope), lambda: _figures(site, ask.scope))
    log = site.kept(("log", ask.scope, MOST_CHANGES), lambda: store.log(limit=MOST_CHANGES))
    changed = [operation for operation in log if operation.at_us >= since and operation.verb not in LEARNED]
    health: dict[str, Any] = {}
    if ask.visitor.may("owner"):  # backups, clients that have limpet, and the results of the last test of their hooks
        backup, clients = site.kept("health", lambda: (newest_backup(store), installed()))
        health = {"backup": backup, "clients": [row for row in clients if any(row[1:])], "tried": site.tried}
    answer = ask.page(
        "home.html", since=since, first=not before, new=new,
        learned=learned, changed=changed[:6],
        command=ask.command("stats"), **health, **figures,
    )  # fmt: skip
    answer.set_cookie(SEEN, f"{before}.{this}", max_age=YEAR_SECONDS, httponly=True, samesite="strict")
    return answer


def _figures(site: Site, scope: str) -> dict[str, Any]:
    """Return the figures that are slow in a large store. Exposures are counted in one scope."""
    store, here = site.seen_from(scope), site.seen_from(scope or site.memory.scope)
    by_day = store.count_by("day", "kind")
    kinds: Counter[str] = Counter()
    for (_, kind), count in by_day.items():
        kinds[kind] += count
    return {
        "total": kinds.total(), "kinds": dict(kinds.most_common()), "growth": shown.growth(by_day),
        "waiting": Counter(item.kind for item in site.waiting(scope)), "stats": store.stats(),
        "models": models(store._context), "use": usefulness(here, limit=1), "where": here.scope,
    }  # fmt: skip


def make_ahead(site: Site) -> None:
    """Fill the cache that the first visit of a large store would wait for."""
    store = site.seen_from("")
    try:
        site.kept(("figures", ""), lambda: _figures(site, ""))
        store.recall("limpet", k=1)
    except LimpetError:
        return  # the page will say so


@changes_nothing
def view(ask: Ask) -> Response:
    """Set which scope is shown, and the light or dark theme, for this browser alone."""
    answer = ask.back()
    for cookie, name in ((SCOPE, "scope"), (THEME, "theme")):
        if name in ask.form and (name != "scope" or ask.visitor.sees(ask.form[name])):
            answer.set_cookie(cookie, ask.form[name], max_age=YEAR_SECONDS, httponly=True, samesite="strict")
    return answer


def scopes(ask: Ask) -> Response:
    listing = ask.site.kept("scopes", ask.site.seen_from("").scopes)
    listing = [scope for scope in listing if ask.visitor.sees(scope.scope)]
    return ask.page("scopes.html", scopes=listing, command=ask.command("scope", "list"))


# -- upkeep


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
    ("GET", "/", home), ("POST", "/view", view), ("GET", "/scopes", scopes),
    ("GET", "/care", care), ("POST", "/care/backup", backup), ("POST", "/care/work", work),
]  # fmt: skip
