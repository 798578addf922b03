"""Relevance: whether the best of what was found answers the question at all. A logistic model over a few features.

`python -m benchmarks.tune` fits the constants (rank/relevance_weights.py) and says what they reach. A recall without
the judge has its own, and so has one without vectors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Sequence

from ..rank import relevance_weights as W
from ..rank.constants import ANSWERS_FROM
from ..rank.weights import WEIGHTS
from ..text.describe import latin_share
from ..vectors.wordpiece import wordpiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store
    from .candidates import Candidates
    from .plan import Plan
    from .score import Ranking

# What a question names: identifiers (HRB-415, db.pool_size, src/app.py, GW-300, QA), numbers, and in English words with
# a capital that begin no sentence (German has capitals for every noun). An answer without any is of something else.
# Each begins at a word's boundary and has bounds, so that no text takes long.
_IDENTIFIER = re.compile(r"\b[^\W\d_]{1,40}[-_./:]?\d[\w./:-]*|\b\w{1,40}[_./]\w+|\b[A-Z]{2,40}\b|\d+")
_CAPITAL = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_ENGLISH = re.compile(
    r"\b(?:the|what|which|how|why|when|where|who|did|does|do|is|are|we|of|for|to|and|our|have|has|about|with)\b", re.I
)
# A part of a word of so many characters is no coincidence.
PART = 4
# The best results that are looked at, and those that the best is compared with.
BEST, REST = 3, 10
# Characters of a question in which names are looked for.
READ = 1_000

# The first result answers by itself if it has this share of the question's words, by inverse document frequency, and no
# name of the question is missing; or if its cosine is NEAR and no other has more than SHARE_OF_NEXT of it. The model
# was fitted on stores of hundreds and knows too little of small ones. Chosen on the tuning half of
# tests/quality/small_stores.jsonl; guarded by tests/quality/test_small_stores.py.
MOST_WORDS = 0.5
NEAR, SHARE_OF_NEXT = 0.15, 0.7
# There only if the judge was asked. A memory without competitors then gets this more log-odds: the weights were fitted
# on large stores, where an answer leads. Chosen likewise.
JUDGED = "judge"
ONLY_ONE = 0.6
# With two to so many memories, this share of the threshold: few memories are seldom alike, and a new user must not be
# told that a right first result is nothing. Chosen likewise, for 3 % of those at most.
FEW_MEMORIES, OF_FEW = 1 / 5, 0.7
# The question has a code that none of the best has, and the first has another of its form: no answer.
OF_ANOTHER_CODE = 0.9
# If the store has so few of the question's words, in eighths ("why did it hang?"), the judge understands little, and a
# result with most of them stands out too. So do 67 right and 11 wrong first results of the own set and written stores.
FEW_WORDS = 2 / 8

# The sentences for a caller, to whom what is only nearest looks like an answer; from LIKELY on it probably is one.
ANSWERED, MAY_ANSWER, LIKELY = "The first of these probably answers it.", "The first of these may answer it.", 0.5
# The highest probability if the judge doubts the first result, or the models do not know the language: it may answer.
UNSURE = 0.49
BY_WORDS = "Found by words, vectors being missing: see whether one of these answers it."
IN_TIME = "These are of the time that the question names"
MORE_MAY_ANSWER = "These are the nearest, and more may answer: -k shows more."
NONE_IN_TIME = "Nothing here is of the time that the question names; the nearest are shown."
IRRELEVANT, NOTHING = "Nothing here answers this well; the nearest are shown.", "Nothing was found."
# So many are shown if nothing answers the question, unless it has a filter, which asks for what there is.
NEAREST = 3


def relevance(store: Store, candidates: Candidates, ranking: Ranking, plan: Plan) -> tuple[float, bool]:
    """Return the probability that a candidate answers the query, and whether that is enough.

    If the first result stands out by itself, it is at least the threshold. It stays below LIKELY if the judge does not
    say that the first result answers, or the models do not know its language or the query's. A feature without a weight
    counts nothing.
    """
    if not ranking.order:
        return 0.0, False
    known = features(store, candidates, ranking, plan)
    stands_out = known["coverage_first"] >= MOST_WORDS and not known["unnamed"]
    if JUDGED in known:
        weights = W.RELEVANCE_JUDGED
        threshold = W.RELEVANT_JUDGED * (OF_FEW if FEW_MEMORIES <= known["few"] < 1.0 else 1.0)
        stands_out = stands_out and known["words"] <= FEW_WORDS
    else:
        by_words = "cosine" not in known
        weights = W.RELEVANCE_BY_WORDS if by_words else W.RELEVANCE
        threshold = W.RELEVANT_BY_WORDS if by_words else W.RELEVANT
        first = known.get("cosine_first", 0.0)
        stands_out = stands_out or (first >= NEAR and known["cosine_next"] <= SHARE_OF_NEXT * first)
    log_odds = weights["one"] + ONLY_ONE * (JUDGED in known and known["share"] == 1.0)
    for name, value in known.items():
        log_odds += weights.get(name, 0.0) * value
    likely = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))
    if known["other_code"]:
        likely = min(OF_ANOTHER_CODE * threshold, likely)
    elif stands_out or known["literal"]:
        likely = max(threshold, likely)
    relevant = likely >= threshold
    if likely >= LIKELY:
        texts = plan.query, candidates.memories(store, ranking.order[:1])[0].content
        if known.get("judge_first", ANSWERS_FROM) < ANSWERS_FROM or not all(map(wordpiece().knows, texts)):
            likely = UNSURE
    return likely, relevant


def note(value: float, relevant: bool, *, shown: object, missing: Container[str]) -> str:
    """Return the sentence about the results. `shown`: whether there are any."""
    if not relevant:
        return IRRELEVANT if shown else NOTHING
    if "vector" in missing:
        return BY_WORDS
    return ANSWERED if value >= LIKELY else MAY_ANSWER


def in_time(more: int, outside: int) -> str:
    """Return the sentence about what is of the time that was asked for. `more`: how many of it are not shown;
    `outside`: how many are shown that are not of it."""
    if more:
        return f"{IN_TIME}; {more:,} more of it: `limpet list --since ... --until ...`."
    return f"{IN_TIME}; the last {outside:,} are not." if outside else f"{IN_TIME}."


def features(store: Store, candidates: Candidates, ranking: Ranking, plan: Plan) -> dict[str, float]:
    """Return the features that tell an answer from the nearest text that is none, for the best candidates."""
    order, scores = ranking.order, ranking.ranked
    if "word_vectors" in candidates.features:
        # The weights of a recall by words were fitted on scores without word vectors.
        near = candidates.features["word_vectors"]
        scores = [score - WEIGHTS["word_vectors"] * value for score, value in zip(scores, near, strict=True)]
    best = order[:BEST]
    worth = sum(candidates.stems.values()) + candidates.absent
    coverage, by_words = candidates.features["coverage"], candidates.features["lexical"]
    covered, first = [coverage[i] for i in best], scores[best[0]]
    rest = [scores[i] for i in order[1:REST]]
    latin = latin_share(plan.query)
    # Turns of a conversation say "she" and "there": names in them tell little.
    names = [] if candidates.table.speakers[best[0]] else named_things(plan.query)
    unnamed, other_code = _unnamed(store, candidates, plan, best, names) if names else (0.0, False)
    query = plan.query.strip().casefold()
    literal = PART <= len(query) <= READ and True in [
        query in memory.content.casefold() for memory in candidates.memories(store, best[: plan.k])
    ]
    known = {
        "coverage": max(covered),
        "coverage_first": covered[0],
        "absent": candidates.absent / worth if worth else 1.0,
        "words": min(len(candidates.stems), 8) / 8,
        "few": 1.0 / len(candidates.table.rows),  # memories that could be meant: in a store of few, the best is meant
        "share": 1.0 / sum([math.exp(scores[i] - first) for i in order]),
        "first_by_words": float(by_words[best[0]] >= max(by_words)),
        "lead": first - sum(rest) / len(rest) if rest else 0.0,
        "score": first,
        "other_script": 1.0 - latin,
        "other_script_coverage": (1.0 - latin) * max(covered),
        "spoken": float(bool(candidates.table.speakers[best[0]])),
        "keyed": candidates.table.keyed[best[0]],
        "names": float(bool(names)),
        "unnamed": unnamed,
        "literal": float(literal),
        "other_code": float(other_code),
    }
    if "vector" in candidates.features:
        cosines = candidates.features["vector"]
        values = [cosines[i] for i in best]
        known["cosine"] = max(values)
        known["cosine_first"] = values[0]
        known["cosine_next"] = max([cosines[i] for i in order[1:]], default=0.0)
        known["first_by_meaning"] = float(values[0] >= max(cosines))
        known["both"] = max(values) * max(covered)
        known["cosine_lead"] = max(values) - sum(cosines) / len(cosines)
    if ranking.judged:
        values = sorted(ranking.judged.values(), reverse=True)
        known[JUDGED] = values[0]
        known["judge_first"] = ranking.judged[best[0]]
        known["judge_lead"] = values[0] - sum(values[1:]) / len(values[1:]) if values[1:] else 0.0
    return known


def _unnamed(
    store: Store, candidates: Candidates, plan: Plan, best: Sequence[int], names: Sequence[str]
) -> tuple[float, bool]:
    """Return the share of the names that none of the best has, and whether the first has another code of that form."""
    rows = store.search.candidates([candidates.table.text_ids[i] for i in best], plan.where)
    parts = [part for row in rows for part in (row.content, row.topics, row.labels, row.dates) if part]
    earlier = [j for i in best for j in candidates.before.get(i, ())]
    parts += [memory.content for memory in candidates.memories(store, earlier)]
    texts = " ".join(parts).casefold()
    absent = [name for name in names if name not in texts]
    shapes = {_shape(name) for name in named_things(candidates.memories(store, best[:1])[0].content)}
    other_code = any(_shape(name) in shapes for name in absent if not re.fullmatch(r"v?[\d.]+|[^\d]+", name))
    return len(absent) / len(names), other_code


def _shape(name: str) -> str:
    """Return a code with its digits alike: E4211 and E4299 are of one kind."""
    return re.sub(r"\d+", "0", name)


def named_things(question: str) -> list[str]:
    """Return identifiers, numbers and proper names in a question, case folded; each once."""
    question = question[:READ]
    names = _IDENTIFIER.findall(question)
    if _ENGLISH.search(question):
        names += _CAPITAL.findall(question)
    return list(dict.fromkeys(name.rstrip(".:/-").casefold() for name in names))
