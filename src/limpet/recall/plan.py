"""What is asked: the query as text, the filter, the limits. Checked here, once."""

from __future__ import annotations

import time

from ..model.dataclass import dataclass, replace
from ..model.errors import BadInput
from ..store.records import Filter

MAX_RESULTS = 1_000
# More tokens, or milliseconds, than any answer has: what is longer is a mistake, and no float.
MOST = 10**9
# Characters of a query that are read; the rest of a very long one adds noise, not meaning.
MAX_QUERY_CHARACTERS = 100_000
# What words have left when what comes before them took longer than it should (a model that loads on a busy machine).
SECONDS_FOR_WORDS = 0.1
SIGNALS = (
    "lexical", "fields", "vector", "word_vectors", "neighbours", "session", "date", "recency", "speaker", "shape",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One recall, ready to run. `deadline` is on the monotonic clock, in seconds; `now` in microseconds UTC."""

    query: str
    where: Filter
    k: int
    now: int
    deadline: float | None
    deadline_ms: float | None
    budget_tokens: int | None
    lexical_only: bool
    without: frozenset[str]
    began: float  # when it was asked, as `time.perf_counter` has it
    timeless: bool = False  # nobody said of which time: the question's own words may
    unembedded: int | None = 0  # texts without a vector for which there was no time; None: nor to count them
    unembedded_why: str = ""  # if it was not the time

    @property
    def at(self) -> int:
        """From when the question is asked: "last week" is the week before."""
        return self.now if self.where.as_of is None else self.where.as_of

    def remaining(self) -> float:
        """Seconds until the deadline; infinite without one."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def elapsed_ms(self) -> float:
        """Since it was asked: with what was done before the store was searched."""
        return (time.perf_counter() - self.began) * 1000

    @property
    def words_until(self) -> float | None:
        """When the search by words ends. What came before it, as on a cold disk, takes none of its time: it has as
        long as there was in all, up to SECONDS_FOR_WORDS."""
        if self.deadline is None or self.deadline_ms is None:
            return self.deadline
        return max(self.deadline, time.monotonic() + min(self.deadline_ms / 1000, SECONDS_FOR_WORDS))

    def with_at_least(self, seconds: float) -> Plan:
        """This plan, its deadline not before `seconds` from now."""
        return self if self.remaining() >= seconds else replace(self, deadline=time.monotonic() + seconds)


def make_plan(
    query: str,
    where: Filter,
    *,
    k: int,
    now: int,
    deadline_ms: float | None,
    budget_tokens: int | None,
    lexical_only: bool,
    without: frozenset[str],
    timeless: bool = False,
) -> Plan:
    """Check the request. Raises BadInput."""
    if not isinstance(query, str):
        raise BadInput(f"query must be text, not {type(query).__name__}")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_RESULTS:
        raise BadInput(f"k must be from 1 to {MAX_RESULTS}, not {k!r:.60}")
    for name, value, least in (("deadline_ms", deadline_ms, 1e-9), ("budget_tokens", budget_tokens, 1)):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and least <= value <= MOST):
            above = "more than 0" if least < 1 else "at least 1"
            raise BadInput(f"{name} must be {above}, and at most {MOST:,}, not {value!r:.60}")
    unknown = without - set(SIGNALS)
    if unknown:
        raise BadInput(f"unknown signal: {sorted(unknown)[0]!r}", hint=f"one of: {', '.join(SIGNALS)}")
    return Plan(
        query=query.encode("utf-8", "replace").decode()[:MAX_QUERY_CHARACTERS].replace("\0", " "),
        where=where,
        k=k,
        now=now,
        deadline=None if deadline_ms is None else time.monotonic() + deadline_ms / 1000,
        deadline_ms=deadline_ms,
        budget_tokens=budget_tokens,
        lexical_only=lexical_only,
        without=without,
        began=time.perf_counter(),
        timeless=timeless,
    )
