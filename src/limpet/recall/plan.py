"""The plan of a recall: query, filter and limits, checked here once; and what the words of a question ask for.

Words alone decide which time a question means: in English; for "now" and "before" also in German, Spanish and French;
for what an agent said also in German. What its answer looks like is read by `shape.py`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence

from ..model.dataclass import dataclass, replace
from ..model.errors import BadInput
from ..model.memory import Filter
from ..text.dates import stretch
from .shape import OF_TIME, ONE, SEVERAL, shape_of

MAX_RESULTS = 1_000
# Results of a question that nobody gave a number for, and of one that asks for all or how many: what belongs to those
# is seldom all among the first ten (tests/quality/lists.jsonl).
USUAL, OF_SEVERAL = 10, 20
# More tokens or milliseconds than any answer has: a larger number is a mistake, and too large for a float.
MOST = 10**9
# Characters of a query that are read; the rest of a very long one adds noise, not meaning.
MAX_QUERY_CHARACTERS = 100_000
# Seconds that the search by words has at least, also after a slow start (a model that loads on a busy machine).
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
    at: int  # from when it is asked: "last week" is the week before
    deadline: float | None
    seconds_for_words: float  # that the search by words has at least, also on a cold disk
    budget_tokens: int | None
    lexical_only: bool
    without: frozenset[str]
    began: float  # when it was asked, as `time.perf_counter` has it
    shape: str = ONE  # of the answer, one of `shape.SHAPES`
    timeless: bool = False  # no time was given: the question's own words may name one
    unembedded: int | None = 0  # texts left without a vector for lack of time; None: not even counted
    unembedded_why: str = ""  # another reason than the time
    # Says what has changed in the code of memories (id, scope), as `lookup.code_marks`; None: of another time.
    code: Callable[[Sequence[tuple[str, str]]], Mapping[str, Sequence[tuple[str, bool]]]] | None = None

    def remaining(self) -> float:
        """Return the seconds until the deadline; infinite without one."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()


def make_plan(
    query: str,
    where: Filter,
    *,
    k: int | None,
    now: int,
    deadline_ms: float | None,
    budget_tokens: int | None,
    lexical_only: bool,
    without: frozenset[str],
    timeless: bool = False,
    shape: str | None = None,
) -> Plan:
    """Check the request, and read the shape of its answer unless it is given. `k`: by that shape where it is None.

    Raises BadInput.
    """
    if not isinstance(query, str):
        raise BadInput(f"query must be text, not {type(query).__name__}")
    shape = shape or shape_of(query)
    if k is None:
        k = OF_SEVERAL if shape in SEVERAL else USUAL
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
    seconds = None if deadline_ms is None else deadline_ms / 1000
    return Plan(
        query=query.encode("utf-8", "replace").decode()[:MAX_QUERY_CHARACTERS].replace("\0", " "),
        where=where,
        k=k,
        now=now,
        at=now if where.as_of is None else where.as_of,
        deadline=None if seconds is None else time.monotonic() + seconds,
        seconds_for_words=min(seconds or SECONDS_FOR_WORDS, SECONDS_FOR_WORDS),
        budget_tokens=budget_tokens,
        lexical_only=lexical_only,
        without=without,
        began=time.perf_counter(),
        shape=shape,
        timeless=timeless,
    )


# Characters of a question that are read.
READ = 1_000
# Asks for what holds now: English, and the commonest words of German, Spanish and French.
_NOW = (
    r"\b(?:now|nowadays|these days|today|currently|current|at the moment|at present|presently|right now|by now|still"
    r"|latest|newest|most recent(?:ly)?|up to date|any ?more|as of (?:now|today)|so far"
    r"|jetzt|heute|aktuell(?:e[nrs]?)?|derzeit|momentan|zurzeit|noch|ahora|actual(?:mente)?|hoy|todavía"
    r"|maintenant|actuellement|aujourd['’]hui|encore)\b"
)
# Tells of the past.
_WAS = r"\b(?:was|were|did|had|used to|until|back (?:in|when|then)|once|ago|war(?:en)?|hatten?|era|fue|était)\b"
# Asks for what was before, even beside a "now".
_EARLIER = (
    r"\b(?:used to|before|originally|original|first|previous(?:ly)?|former(?:ly)?|earlier|initial(?:ly)?"
    r"|früher|vorher|ursprünglich|zuerst|antes|originalmente|primero|avant|d['’]abord)\b"
)
# Asks for what the agent said before; "can you recommend ..." asks for something new.
_OF_AGENT = (
    r"(?<!can )(?<!could )(?<!would )(?<!will )(?<!do )\byou (?:just )?"
    r"(?:\w+ed|said|told|gave|wrote|made|found|thought|meant|chose|put|sent|did|knew)\b"
    r"|\b(?:did|have|had|were) you\b|\byou(?:['’](?:d|ve)| had| have| were)\b(?! to\b)|\baccording to you\b"
    r"|\byour (?:\w+ )?(?:advice|suggestions?|recommend(?:ations?|ed)|recipe|answer|list|tips?|explanation|idea|plan)\b"
    r"|\bremind me\b(?! (?:to|in|at|tomorrow)\b)|\b(?:previous|last|earlier) (?:chat|conversation)\b"
    r"|\bour (?:previous|last|earlier) (?:talk|session|discussion)\b"
    r"|\b(?:hast|hattest|hättest) du\b|\bdu (?:\w+ ){0,6}(?:hast|hattest)\b|\bhaben sie mir\b"
    r"|\bdein(?:e[mnr]?)? (?:\w+ )?(?:rat|vorschl[aä]g\w*|empfehlung\w*|tipps?|antwort|liste|rezept|idee|erklärung)\b"
    r"|\berinner\w* mich\b|\bunser\w* (?:letzte[nrms]?|vorige[nrms]?|frühere[nrms]?) (?:gespräch|unterhaltung|chat)\b"
)


def _has(pattern: str, query: str) -> bool:
    """Search a question for a pattern, compiled when a query first needs it: writes need none. Folded text takes half
    of the time."""
    return re.search(pattern, query[:READ].casefold()) is not None


def asks_now(query: str) -> bool:
    """Return whether a question says that it asks for what holds now."""
    return _has(_NOW, query) and not _has(_EARLIER, query)


def asks_past(query: str) -> bool:
    """Return whether a question asks for what was, and not for what holds now."""
    return (_has(_WAS, query) or _has(_EARLIER, query)) and not asks_now(query)


def asks_before(query: str) -> bool:
    """Return whether a question asks for what was before what holds now; not for what must be done before a release."""
    return _has(_WAS, query) and _has(_EARLIER, query)


def asks_of_agent(query: str) -> bool:
    """Return whether a question asks for what the agent has said before."""
    return _has(_OF_AGENT, query)


def within_time(plan: Plan) -> Plan:
    """Return the plan for the memories that began in the time which its question names, if what it asks for is chosen
    by that time and the caller gave none."""
    if not plan.timeless or plan.shape not in (OF_TIME, *SEVERAL):
        return plan
    named = stretch(plan.query[:READ], plan.at, seasons=True)
    return plan if named is None else replace(plan, where=replace(plan.where, since=named[0], until=named[1]))
