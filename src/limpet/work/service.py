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
from ..store.records import AGAIN, PARTS, READ

if TYPE_CHECKING:
    from ..context import Context
    from ..vectors.embed import WorkReport

Progress = Callable[[int, int], None]


class ModelInfo(NamedTuple):
    """An embedder that this store or this installation knows. `state`: active, building while its
    vectors are made anew, or installed."""

    name: str
    fingerprint: str | None
    dimensions: int | None
    state: str
    available: bool
    message: str = ""


def work(
    context: Context, *, limit: int | None, only_vectors: bool, progress: Progress | None, again: bool = False
) -> WorkReport:
    """Drain the queue. `again`: and have the current embedder make all vectors anew if they are of another."""
    if limit is not None and limit < 1:
        raise BadInput(f"limit must be at least 1, not {limit}")
    if not context.store.read_only and context.store.erasure.flush_waits():
        context.store.erasure.flush(0.0)
    if not only_vectors and context.store.jobs.backlog(READ, context.now(), most=1):
        call("read_ended", context)
    try:
        from ..vectors.calibration import calibration_of
        from ..vectors.embed import KIND, LONG_BATCH, WorkReport, drain
        from .checks import Checks
    except ImportError as error:
        from ..recall.semantic import cannot_load

        raise cannot_load(error) from None

    store, semantic = context.store, context.semantic()
    embedder, row = semantic.for_writing(anew=again)
    if again:
        store.jobs.revive()
    report = WorkReport()
    for kind in (AGAIN, KIND, PARTS):
        left = None if limit is None else limit - report.done - report.failed
        if left is not None and kind == PARTS:
            left = -(-left // LONG_BATCH)  # a long text takes as long as some other texts
        report = _both(report, drain(store, embedder, row, context.clock, kind=kind, limit=left, progress=progress))
    if only_vectors:
        return report
    rest = None if limit is None else limit - report.done - report.failed
    policy, reader, index = context.policy, context.reader(), semantic.index(row)
    checks = Checks(store, calibration_of(row), row, index, policy, reader, context.clock)
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


def back_up(context: Context, path: str | os.PathLike[str], progress: Progress | None) -> str:
    file = os.fspath(path)
    context.store.maintenance.backup(file, progress)
    context.store.erasure.note_copy(file, "backup", context.now())
    return file


def models(context: Context) -> list[ModelInfo]:
    """Return the models that this store has vectors of, and those that are installed."""
    from ..vectors.embedder import installed, load_embedder

    stored = context.store.vectors.embedder()
    models = []
    for name in sorted({*installed(), context.semantic().name} | ({stored.name} if stored else set())):
        row, message = stored if stored and stored.name == name else None, ""
        state = "installed" if row is None else "active" if row.is_complete else "building"
        fingerprint, dimensions = (row.fingerprint, row.dimensions) if row else (None, None)
        try:
            loaded = load_embedder(name)
            loaded.load()
            fingerprint, dimensions = loaded.fingerprint, loaded.dimensions
        except EmbedderUnavailable as error:
            message = error.message
        models.append(ModelInfo(name, fingerprint, dimensions, state, not message, message))
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
