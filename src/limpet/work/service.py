"""The queue, the embedders and the care of the store. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..model.dataclass import NamedTuple, replace
from ..model.errors import BadInput, EmbedderUnavailable, StoreDamaged

if TYPE_CHECKING:
    from ..context import Context
    from ..jobs.embed import WorkReport
    from ..work.backups import BackupState
    from ..work.doctor import Check

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
        from ..jobs.embed import drain, drain_again
        from . import duplicates
    except ImportError as error:
        from ..recall.semantic import cannot_load

        raise cannot_load(error) from None

    mentions.drain(context.store, limit=limit)
    semantic = context.semantic()
    embedder, row = semantic.for_writing()
    report = drain(context.store, embedder, row, context.clock, limit=limit, progress=progress)
    successor = None if only_vectors else semantic.successor()
    if successor is not None:
        rest = None if limit is None else limit - report.done - report.failed
        again = drain_again(context.store, *successor, context.clock, limit=rest, progress=progress)
        report = replace(
            again,
            done=report.done + again.done,
            failed=report.failed + again.failed,
            remaining=report.remaining + again.remaining,
            error=report.error or again.error,
        )
    semantic.activate_when_complete()
    searchable = None if only_vectors else semantic.index()
    if searchable is None:
        return report
    rest = None if limit is None else limit - report.done - report.failed
    return replace(report, checked=duplicates.drain(context.store, embedder, *searchable, context.clock, limit=rest))


def reembed(context: Context, *, progress: Progress | None) -> WorkReport:
    semantic = context.semantic()
    _, row = semantic.for_writing()
    context.store.jobs.revive()
    after = 0
    while missing := context.store.vectors.missing(row.num, limit=5_000, after=after):
        context.store.jobs.enqueue("embed", missing, context.now())
        after = missing[-1]
    return work(context, limit=None, only_vectors=False, progress=progress)


def models(context: Context) -> list[ModelInfo]:
    from ..vectors.embedder import installed, load_embedder

    stored = {row.name: row for row in context.store.vectors.embedders()}
    found = []
    for name in sorted({*installed(), *stored, context.semantic().name}):
        row = stored.get(name)
        try:
            loaded = load_embedder(name)
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
    from ..work.doctor import doctor

    return doctor(context.store, context.semantic(), scope=context.scope)
