"""`doctor`: what a person should know about their store, with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..folders import is_url, partials
from ..model.dataclass import dataclass
from ..model.errors import EmbedderUnavailable, counted
from ..relate.verdicts import LANGUAGES
from ..settings import wants_relations
from ..store.records import Problem, is_beyond_rebuild
from ..vectors.embedder import OWN
from ..vectors.own import OwnModel
from . import languages

if TYPE_CHECKING:
    from ..context import Context
    from ..store import Store
    from ..vectors.embedder import Embedder

# A share of memories in unknown languages that is worth a word: of terse English notes a twentieth is taken for such.
SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding of `doctor`: status ok, warn or fail."""

    name: str
    status: str
    message: str
    hint: str | None = None


def doctor(context: Context) -> list[Check]:
    """Return findings in the order a person would look: file, content, queue, embedder, scope."""
    store, checks = context.store, list[Check]()

    def note(name: str, status: str, message: str, hint: str | None = None) -> None:
        checks.append(Check(name=name, status=status, message=message, hint=hint))

    stats = store.maintenance.stats()
    mode = ", read-only" if store.read_only else ""
    note("store", "ok", f"{store.path}: {counted(stats.memories, 'memory')}, {stats.file_bytes / 1e6:,.1f} MB{mode}")
    problems = store.maintenance.verify()
    for problem in problems:
        note(problem.check, "fail", problem.message, advice(problem))
    if not problems:
        note("content", "ok", "pages, ledger, index and vectors fit together")
    if stats.free_bytes > max(1_000_000, stats.file_bytes // 2):
        note("space", "warn", f"{stats.free_bytes:,} bytes are unused", "limpet gc")
    if not is_url(store.path) and (left := partials(str(Path(store.path).resolve().parent))):
        message = f"{counted(len(left), 'unfinished copy')} beside the store: {', '.join(left)}"
        note("partial", "warn", message, "being written, or left by a process that was killed: gone within a day")
    if dead := store.jobs.dead():
        message = f"{counted(stats.dead_jobs, 'job')} failed for good; the last error: {dead[-1].error}"
        note("queue", "fail", message, "mend the cause, then `limpet rebuild --vectors`")
    elif stats.waiting_jobs:
        error = store.jobs.last_error("embed")
        message = f"{counted(stats.waiting_jobs, 'memory')} without a vector yet: words find them already"
        note("queue", "warn", message + (f"; the last error: {error}" if error else ""), "limpet work")
    elif stats.waiting_checks:
        note("queue", "warn", f"{counted(stats.waiting_checks, 'memory')} not yet compared with others", "limpet work")
    else:
        note("queue", "ok", "empty")
    try:
        embedder = context.semantic().answering()
        if isinstance(embedder, OwnModel):
            embedder.check()
        where = ", local" if embedder.is_local else ""
        note("embedder", "ok", f"{embedder.name}, {embedder.dimensions} dimensions{where}")
        if wrong := _vectors(store, embedder):
            note("vectors", "warn", wrong, "limpet rebuild --vectors")
    except EmbedderUnavailable as error:
        note("embedder", "warn", f"{error.message}; recall works by words", error.hint)
    strange, newest = languages.unknown(store) if context.semantic().name == OWN else (0, 0)
    if strange > SHARE * newest:
        found = f"limpet's models do not know the language of {strange:,} of the newest {newest:,} memories"
        note("languages", "warn", f"{found}: words find them; {languages.OFFER}", languages.HOW)
    note("rules", "ok", f"judged in {LANGUAGES}; every other language is kept as stated")
    counts = ", ".join(f"{count:,} {relation} ({level})" for _, relation, level, count in store.relations.counts())
    if not wants_relations():
        note("relations", "warn", "off: what a newer statement replaced is not seen", "unset LIMPET_RELATIONS")
    else:
        note("relations", "ok", f"read in {LANGUAGES}; {counts or 'no statement changes another'}")
    encrypted, driver = store.maintenance.encryption()
    note("encryption", "ok", f"the store is {'' if encrypted else 'not '}encrypted; {driver}")
    note("scope", "ok", f"{context.scope}: recall sees it and global")
    return checks


def advice(problem: Problem) -> str:
    """Return the advice for a finding of `verify`."""
    beyond = is_beyond_rebuild(problem)
    return (
        f"restore a backup, or {'save what can be read with `limpet export jsonl`' if beyond else '`limpet rebuild`'}"
    )


def _vectors(store: Store, embedder: Embedder) -> str | None:
    """Return what is wrong if the vectors are of another embedder, else None."""
    row = store.vectors.embedder()
    if row is None or row.fingerprint == embedder.fingerprint:
        return None
    if row.name == embedder.name:
        return f"the stored vectors are of another version of {row.name}: words find what they are of"
    return f"the stored vectors are of {row.name}, the setting says {embedder.name}"
