"""What a recall does about texts that have no vector yet: it makes as many as its deadline allows, those first that
are likely to be asked for, and the plan says how many still wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ..model.clock import MICROSECONDS_PER_SECOND, Clock
from ..model.dataclass import replace
from ..model.errors import EmbedderUnavailable, StoreError
from ..rank import constants as C
from ..text.describe import with_grams
from .plan import SECONDS_FOR_WORDS, Plan
from .semantic import LOAD_SECONDS, SemanticSearch, cannot_load, query_seconds

if TYPE_CHECKING:
    from ..store import Store

# A recall without a deadline gives the texts that wait this long; beside somebody who gives them their vectors, this
# long, and to those alone that its words find: both would only make each other wait.
SECONDS, SECONDS_BESIDE = 1.5, 0.1
# What embedding a text takes at most before it has been measured, and how many the first batch has.
SECONDS_PER_TEXT, FIRST_BATCH = 0.03, 8
# A batch takes this share of the time that is left, by the slowest so far, and is at most so many times as large as the
# one before: texts differ in length, and a machine may become busy.
SHARE, GROWTH = 0.5, 4
# The share of the time that is left for the search itself, and the most of it that it needs.
SEARCH_SHARE, SEARCH_SECONDS = 0.25, 0.25
# What noting a waiting text in the queue takes at most.
SECONDS_PER_JOB = 5e-6
MOST = 5_000


def catch_up(store: Store, semantic: SemanticSearch, plan: Plan, clock: Clock) -> Plan:
    """Embed of the texts that wait what there is time for: the best by words of this query first, then the newest.

    Returns the plan with what still waits. Other processes may do the same at once: each leases what it works on. A
    store that is open read-only is left as it is.
    """
    first = SECONDS_PER_TEXT if semantic.can_answer() else LOAD_SECONDS
    if _until(plan, 1) - time.monotonic() < first:
        return replace(plan, unembedded=None)
    waiting = semantic.waiting()
    if store.read_only or _until(plan, waiting) - time.monotonic() < first + semantic.to_measure() * SECONDS_PER_TEXT:
        return replace(plan, unembedded=waiting)
    why = ""
    try:
        _embed(store, semantic, plan, clock, waiting)
        semantic.activate_when_complete()
    except EmbedderUnavailable as error:
        why = error.message + (f" ({error.hint})" if error.hint else "")
    except StoreError:  # somebody else writes: the next recall may
        pass
    plan = replace(plan, unembedded=semantic.waiting(), unembedded_why=why)
    short = plan.remaining() < SECONDS_FOR_WORDS
    return replace(plan, deadline=time.monotonic() + SECONDS_FOR_WORDS) if short else plan


def _until(plan: Plan, waiting: int) -> float:
    """When embedding has to end, on the monotonic clock; without a deadline never here."""
    left = plan.remaining()
    search = query_seconds(plan.query) + min(SEARCH_SECONDS, SEARCH_SHARE * left) + waiting * SECONDS_PER_JOB
    return time.monotonic() + left - search


def _embed(store: Store, semantic: SemanticSearch, plan: Plan, clock: Clock, waiting: int) -> None:
    try:
        from ..jobs import embed  # NumPy with it, which takes longer to load than some deadlines leave
    except ImportError as error:
        raise cannot_load(error) from None

    beside = store.jobs.busy(embed.KIND, clock.now())
    seconds = SECONDS_BESIDE if beside else SECONDS
    embedder, row = semantic.for_writing(min(_until(plan, waiting), time.monotonic() + seconds))
    if not semantic.answers(row):
        return  # it would find nothing sooner
    embedder.load()  # before the time is looked at again, and before any job is leased
    until = _until(plan, waiting) if plan.deadline is not None else time.monotonic() + seconds
    embedder = embedder.by(until)
    words = store.search.lexical(with_grams(plan.query), plan.where, limit=C.LEXICAL_CANDIDATES, deadline=until)
    asked = list(words.hits)
    queue = store.jobs.due(clock.now(), first=asked, most=len(asked) if beside else MOST)
    if beside:
        queue = [one for one in queue if one in asked]
    slowest, most = 0.0, FIRST_BATCH  # not measured yet
    while queue:
        started = time.monotonic()
        size = min(most, int(SHARE * (until - started) / (slowest or SECONDS_PER_TEXT)))
        if beside and not slowest and plan.deadline is None:
            size = max(size, 1)  # one, however busy the machine is
        if size < 1:
            return
        part, queue = queue[:size], queue[size:]
        at = clock.now()
        lease = at + embed.LEASE_SECONDS * MICROSECONDS_PER_SECOND
        jobs = store.jobs.lease_these(embed.KIND, part, at=at, until=lease, worker=embed.name())
        if jobs:
            embed.run(store, embedder, row, jobs, clock)
            slowest = max(slowest, (time.monotonic() - started) / len(jobs))
            most = min(embed.BATCH, GROWTH * size)
