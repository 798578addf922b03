"""`doctor`: what a person should know about their store, with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.dataclass import dataclass
from ..model.errors import EmbedderUnavailable, counted
from ..store.records import ALL, Problem, is_beyond_rebuild
from ..vectors.own import OwnModel

if TYPE_CHECKING:
    from ..context import Context
    from ..store import Store
    from ..vectors.embedder import Embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding of `doctor`: status ok, warn or fail."""

    name: str
    status: str
    message: str
    hint: str | None = None


def doctor(context: Context) -> list[Check]:
    """Findings in the order a person would look: file, content, queue, embedder, scope."""
    store = context.store
    stats = store.maintenance.stats()
    found = [
        Check(
            name="store",
            status="ok",
            message=f"{store.path}: {counted(stats.memories, 'memory')}, {stats.file_bytes / 1e6:,.1f} MB"
            + (", read-only" if store.read_only else ""),
        )
    ]
    problems = store.maintenance.verify()
    found += [
        Check(name=problem.check, status="fail", message=problem.message, hint=advice(problem)) for problem in problems
    ] or [Check(name="content", status="ok", message="pages, ledger, index and vectors fit together")]
    if stats.free_bytes > max(1_000_000, stats.file_bytes // 2):
        found.append(
            Check(name="space", status="warn", message=f"{stats.free_bytes:,} bytes are unused", hint="limpet gc")
        )
    dead = store.jobs.dead()
    if dead:
        found.append(
            Check(
                name="queue",
                status="fail",
                message=f"{counted(stats.dead_jobs, 'job')} failed for good; the last error: {dead[-1].error}",
                hint="mend the cause, then `limpet rebuild --vectors`",
            )
        )
    elif stats.waiting_jobs:
        error = store.jobs.last_error("embed")
        found.append(
            Check(
                name="queue",
                status="warn",
                message=f"{counted(stats.waiting_jobs, 'memory')} without a vector yet: words find them already"
                + (f"; the last error: {error}" if error else ""),
                hint="limpet work",
            )
        )
    else:
        found.append(Check(name="queue", status="ok", message="empty"))
    try:
        embedder = context.semantic().answering()
        found.append(_model(embedder))
        found += _vectors(store, embedder)
        found.append(_rules(embedder))
    except EmbedderUnavailable as error:
        found.append(
            Check(name="embedder", status="warn", message=f"{error.message}; recall works by words", hint=error.hint)
        )
    encrypted, driver = store.maintenance.encryption()
    state = "the store is encrypted" if encrypted else "the store is not encrypted"
    found.append(Check(name="encryption", status="ok", message=f"{state}; {driver}"))
    found.append(Check(name="scope", status="ok", message=f"{context.scope}: recall sees it and global"))
    return found


def advice(problem: Problem) -> str:
    """What to do about a finding of `verify`."""
    beyond = is_beyond_rebuild(problem)
    return (
        f"restore a backup, or {'save what can be read with `limpet export jsonl`' if beyond else '`limpet rebuild`'}"
    )


def _model(embedder: Embedder) -> Check:
    """What the embedder is. Raises EmbedderUnavailable: ours is not the file that it should be."""
    if isinstance(embedder, OwnModel):
        embedder.check()
    where = "" if embedder.name.startswith("openai:") else ", local"
    return Check(name="embedder", status="ok", message=f"{embedder.name}, {embedder.dimensions} dimensions{where}")


def _vectors(store: Store, embedder: Embedder) -> list[Check]:
    """Whether the vectors that answer are of the embedder that the setting names, and every text has one."""
    rows = store.vectors.embedders()
    active = next((row for row in rows if row.state == "active"), None)
    if active is None or (len(rows) < 2 and active.fingerprint == embedder.fingerprint):
        return []
    if active.fingerprint == embedder.fingerprint:
        lack = set(store.vectors.missing(active.num, limit=ALL)) - set(store.jobs.due(ALL, first=(), most=ALL))
        if not lack:
            return []
        message = f"without a vector of {active.name}, which answers: {counted(len(lack), 'memory')}; words find them"
        return [Check(name="vectors", status="warn", message=message, hint="limpet work")]
    row = next((one for one in rows if one.fingerprint == embedder.fingerprint), None)
    texts = store.vectors.missing(0, limit=ALL)  # every one: no embedder has this number
    new = len(texts) - len(store.vectors.missing(row.num, limit=ALL)) if row else 0
    another = active.name != embedder.name
    message = (
        f"the vectors that answer are of {active.name}, the setting says {embedder.name}"
        if another
        else f"the stored vectors are of another version of {active.name}: words find what they are of"
    )
    return [
        Check(
            name="vectors",
            status="warn",
            message=f"{message}; {new:,} of {len(texts):,} texts have new ones",
            hint="limpet rebuild --vectors",
        )
    ]


def _rules(embedder: Embedder) -> Check:
    """In which languages statements are judged; an embedder tells apart only what it reads."""
    from ..remember.rules import is_measured, languages

    judged = languages(embedder) if is_measured(embedder) else ()
    said = f"judge {', '.join(judged)}; every other language is kept as stated" if judged else "judge nothing"
    return Check(name="rules", status="ok", message=f"with {embedder.name} they {said}")
