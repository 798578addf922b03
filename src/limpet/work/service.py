"""The queue, the embedders and the care of the store. The contracts are those of the verbs in `api.py`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..model.dataclass import NamedTuple, replace
from ..model.errors import BadInput, EmbedderUnavailable, StoreDamaged
from ..registry import call
from ..store.records import ALL, PARTS, READ

if TYPE_CHECKING:
    from ..context import Context
    from ..vectors.embed import WorkReport

Progress = Callable[[int, int], None]


class ModelInfo(NamedTuple):
    """An embedder that this store or this installation knows. `state`: active, building, or installed."""

    name: str
    fingerprint: str | None
    dimensions: int | None
    state: str
    available: bool
    message: str = ""


def work(
    context: Context, *, limit: int | None, only_vectors: bool, progress: Progress | None, again: bool = False
) -> WorkReport:
    if again:
        return _reembed(context, progress=progress)
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be at least 1, not {limit}")
    if not context.store.read_only and context.store.erasure.flush_waits():
        context.store.erasure.flush(0.0)
    if not only_vectors and context.store.jobs.backlog(READ, context.now(), most=1):
        call("read_ended", context)
    try:
        from ..vectors.calibration import calibration_of
        from ..vectors.embed import AGAIN, LONG_BATCH, drain
        from .checks import Checks
    except ImportError as error:
        from ..recall.semantic import cannot_load

        raise cannot_load(error) from None

    store, semantic = context.store, context.semantic()
    embedder, row = semantic.for_writing()
    # Of what was stored beside another embedder some may have vectors of that one alone.
    missing = row.state == "active" and len(store.vectors.embedders()) > 1
    report = drain(store, embedder, row, context.clock, limit=limit, progress=progress, missing=missing)
    # A long text takes as long as some other texts.
    few = None if limit is None else -(-(limit - report.done - report.failed) // LONG_BATCH)
    report = _both(report, drain(store, embedder, row, context.clock, kind=PARTS, limit=few, progress=progress))
    begun = not only_vectors and store.jobs.backlog(AGAIN, ALL, most=1) > 0
    successor = semantic.successor() if begun else None
    if successor is not None:
        rest = None if limit is None else limit - report.done - report.failed
        late = drain(store, *successor, context.clock, kind=AGAIN, limit=rest, progress=progress, missing=True)
        report = _both(report, late)
    semantic.activate_when_complete()
    if only_vectors:
        return report
    rest = None if limit is None else limit - report.done - report.failed
    active, policy, reader = store.vectors.embedders()[0], context.policy, context.reader()
    index = semantic.index(active)
    checks = Checks(store, embedder, calibration_of(row), active, index, policy, reader, context.clock)
    return replace(report, checked=checks.drain(rest))


def may_replace(context: Context, id: str, *, within_ms: float = 150.0) -> list[dict[str, str]]:
    """List older memories, as {"id", "content"}, that this one, just stored, may replace: as far as the reader comes in
    so many ms. Empty too where its models are not loaded. Raises NotFound, AmbiguousId.
    """
    until = time.monotonic() + within_ms / 1000
    memory, reader, semantic = context.memory(id), context.reader(), context.semantic()
    if reader is None or context.store.read_only or not semantic.can_answer():
        return []
    from ..relate.job import changed_by

    with suppress(EmbedderUnavailable):
        older = changed_by(context.store, semantic, reader, memory, until, context.now())
        return [{"id": old.id, "content": old.content} for old in older]
    return []


def _both(first: WorkReport, second: WorkReport) -> WorkReport:
    return replace(
        second,
        done=first.done + second.done,
        failed=first.failed + second.failed,
        remaining=first.remaining + second.remaining,
        error=first.error or second.error,
    )


def _reembed(context: Context, *, progress: Progress | None) -> WorkReport:
    from ..vectors.embed import AGAIN, KIND, drain, queue_missing

    store, semantic = context.store, context.semantic()
    embedder, row = semantic.current()
    store.jobs.revive()
    if semantic.answers(row):
        queue_missing(store, row, KIND, context.now())
        return work(context, limit=None, only_vectors=False, progress=progress)
    # The other one answers until this is done, and may be gone: what waits for a vector of it gets one of these.
    report = drain(store, embedder, row, context.clock, kind=AGAIN, progress=progress, missing=True)
    semantic.activate_when_complete()
    if not semantic.answers(row):
        return report
    return _both(report, work(context, limit=None, only_vectors=False, progress=progress))


def back_up(context: Context, path: str | os.PathLike[str], progress: Progress | None) -> str:
    file = os.fspath(path)
    context.store.maintenance.backup(file, progress)
    context.store.erasure.note_copy(file, "backup", context.now())
    return file


def models(context: Context) -> list[ModelInfo]:
    """Return the models that this store has vectors of, and those that are installed."""
    from ..vectors.embedder import installed, load_embedder

    stored = {row.name: row for row in context.store.vectors.embedders()}
    models = []
    for name in sorted({*installed(), *stored, context.semantic().name}):
        row, message = stored.get(name), ""
        fingerprint, dimensions = (row.fingerprint, row.dimensions) if row else (None, None)
        try:
            loaded = load_embedder(name)
            loaded.load()
            fingerprint, dimensions = loaded.fingerprint, loaded.dimensions
        except EmbedderUnavailable as error:
            message = error.message
        models.append(ModelInfo(name, fingerprint, dimensions, row.state if row else "installed", not message, message))
    return models


def rebuild(context: Context, *, progress: Progress | None) -> int:

    done = context.store.maintenance.rebuild(progress)
    # Made anew is what follows from the ledger: a page that is broken, or a ledger that is, stays so.
    wrong = context.store.maintenance.verify()
    if wrong:
        raise StoreDamaged(
            f"replayed {done:,} events, and {context.store.path} is damaged still: {wrong[0].message}",
            hint="restore a backup, or save what can be read with `limpet export jsonl`",
        )
    return done
