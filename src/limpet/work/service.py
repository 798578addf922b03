"""The queue, the embedders and the care of the store. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.dataclass import NamedTuple, replace
from ..model.errors import BadInput, EmbedderUnavailable, StoreDamaged
from ..store.records import ALL

if TYPE_CHECKING:
    from ..context import Context
    from ..jobs.embed import WorkReport
    from .backups import BackupState
    from .doctor import Check

Progress = Callable[[int, int], None]


class ModelInfo(NamedTuple):
    """An embedder that this store or this installation knows. `state`: active, building, or installed."""

    name: str
    fingerprint: str | None
    dimensions: int | None
    state: str
    available: bool
    message: str = ""


def work(context: Context, *, limit: int | None, only_vectors: bool, progress: Progress | None) -> WorkReport:
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be at least 1, not {limit}")
    if not context.store.read_only and context.store.erasure.flush_waits():
        context.store.erasure.flush(0.0)
    report = _drain(context, limit=limit, only_vectors=only_vectors, progress=progress)
    if not only_vectors:
        from .backups import make_due

        make_due(context)
    return report


def _drain(context: Context, *, limit: int | None, only_vectors: bool, progress: Progress | None) -> WorkReport:
    from ..jobs import mentions

    try:
        from ..jobs.embed import AGAIN, KIND, drain, drain_missing, patiently
        from . import duplicates
    except ImportError as error:
        from ..recall.semantic import cannot_load

        raise cannot_load(error) from None

    store, semantic = context.store, context.semantic()
    mentions.drain(store, limit=limit)
    embedder, row = patiently(semantic.for_writing)
    if row.state == "active" and len(store.vectors.embedders()) > 1:
        # Of what was stored beside another embedder some may have vectors of that one alone.
        report = drain_missing(store, embedder, row, context.clock, kind=KIND, limit=limit, progress=progress)
    else:
        report = drain(store, embedder, row, context.clock, limit=limit, progress=progress)
    begun = not only_vectors and store.jobs.backlog(AGAIN, ALL, most=1) > 0
    successor = semantic.successor() if begun else None
    if successor is not None:
        rest = None if limit is None else limit - report.done - report.failed
        again = drain_missing(store, *successor, context.clock, kind=AGAIN, limit=rest, progress=progress)
        report = _both(report, again)
    semantic.activate_when_complete()
    searchable = None if only_vectors else semantic.index()
    if searchable is None:
        return report
    rest = None if limit is None else limit - report.done - report.failed
    return replace(report, checked=duplicates.drain(store, embedder, *searchable, context.clock, limit=rest))


def _both(first: WorkReport, second: WorkReport) -> WorkReport:
    return replace(
        second,
        done=first.done + second.done,
        failed=first.failed + second.failed,
        remaining=first.remaining + second.remaining,
        error=first.error or second.error,
    )


def reembed(context: Context, *, progress: Progress | None) -> WorkReport:
    from ..jobs.embed import AGAIN, KIND, drain_missing, patiently, queue_missing

    store, semantic = context.store, context.semantic()
    embedder, row = patiently(semantic.current)
    store.jobs.revive()
    if semantic.answers(row):
        queue_missing(store, row, KIND, context.now())
        return work(context, limit=None, only_vectors=False, progress=progress)
    # The other one answers until this is done, and may be gone: what waits for a vector of it gets one of these.
    report = drain_missing(store, embedder, row, context.clock, kind=AGAIN, progress=progress)
    semantic.activate_when_complete()
    if not semantic.answers(row):
        return report
    return _both(report, work(context, limit=None, only_vectors=False, progress=progress))


def models(context: Context) -> list[ModelInfo]:
    from ..vectors.embedder import installed, load_embedder
    from ..vectors.named import SPECS

    stored = {row.name: row for row in context.store.vectors.embedders()}
    found = []
    for name in sorted({*installed(), *stored, context.semantic().name}):
        row = stored.get(name)
        try:
            loaded = load_embedder(name)
            if name.startswith(SPECS):
                getattr(loaded, "load", lambda: None)()  # what a package brings is known to load
            available, message = True, ""
            facts: tuple[str | None, int | None] = (loaded.fingerprint, loaded.dimensions)
        except EmbedderUnavailable as error:
            available, message = False, error.message
            facts = (row.fingerprint, row.dimensions) if row else (None, None)
        state = row.state if row else "installed"
        found.append(
            ModelInfo(
                name=name,
                fingerprint=facts[0],
                dimensions=facts[1],
                state=state,
                available=available,
                message=message,
            )
        )
    return found


def rebuild(context: Context, *, progress: Progress | None) -> int:
    from ..jobs import mentions
    from ..store.sql.maintenance import SIGNATURE

    done = context.store.maintenance.rebuild(progress)
    mentions.drain(context.store)
    # Made anew is what follows from the ledger: a page that is broken, or a ledger that is, stays so.
    wrong = [one for one in context.store.maintenance.verify() if one.check != SIGNATURE]
    if wrong:
        raise StoreDamaged(
            f"replayed {done:,} events, and {context.store.path} is damaged still: {wrong[0].message}",
            hint="restore a backup, or save what can be read with `limpet export jsonl`",
        )
    return done


def plan_backups(context: Context, folder: str | os.PathLike[str] | None, *, every: str, keep: int) -> str | None:
    from .backups import plan_backups

    return plan_backups(context, folder, every=every, keep=keep)


def backup_state(context: Context) -> BackupState:
    from .backups import backup_state

    return backup_state(context)


def doctor(context: Context) -> list[Check]:
    from .doctor import doctor

    return doctor(context.store, context.semantic(), scope=context.scope)
