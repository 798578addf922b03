"""Features of relevance, for `rank/relevance.py`: what tells an answer from the nearest thing that is there."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ..store.lexical import COMMON_WORDS
from ..store.records import Candidate
from ..text.dates import MONTHS
from ..text.grams import with_grams
from ..text.scripts import latin_share
from .candidates import Candidates
from .judged import in_order
from .plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..store import Store

# What a question names: identifiers (HRB-415, db.pool_size, src/app.py, GW-300, QA), numbers, and in English words with
# a capital that begin no sentence (German has capitals for every noun). An answer without any is of something else.
# Each begins at a word's boundary and has bounds, so that no text takes long.
_IDENTIFIER = re.compile(r"\b[^\W\d_]{1,40}[-_./:]?\d[\w./:-]*|\b\w{1,40}[_./]\w+|\b[A-Z]{2,40}\b|\d+")
_CAPITAL = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_ENGLISH = re.compile(
    r"\b(?:the|what|which|how|why|when|where|who|did|does|do|is|are|we|of|for|to|and|our|have|has|about|with)\b", re.I
)
# Names of parts without a digit: ap-prod, invoices.v2, hbr-eu. "shipments.v2" is of the kind of "invoices.v2".
_COMPOUND = re.compile(r"\b[^\W_]{2,40}(?:[-_./:][^\W_]{1,40}){1,6}")
_PART = re.compile(r"[^\W_]+")
# What words have in common that are no names: re-run, re-try; read-only, write-only.
_AFFIXES = frozenset(
    "re non pre self co multi sub un on off up down in out by well low high long short single double one two three "  # noqa: SIM905
    "half only based like free time level side end to term day week".split()
)
_DIGITS, _WORD = re.compile(r"\d+"), re.compile(r"\w+")
# What begins another clause: what is named before "which format do we use?" is not what that asks about.
_CLAUSE = re.compile(r"[:;,.!?\n]\s*\w")
_ARTICLES = frozenset(["the", "a", "an", "der", "die", "das", "ein", "eine"])
_UNSAID = _ARTICLES | frozenset(COMMON_WORDS.split())
_MONTHS = frozenset(name[:size].casefold() for name in MONTHS for size in (3, len(name)))
# Numbers that name: a version (2.13), and what stands behind a noun (invoice 4417, sprint 13).
_VERSION = re.compile(r"(?<![\w.,])\d{1,6}(?:\.\d{1,6}){1,4}(?!\.?\w)")
_NUMBERED = re.compile(r"\b([^\W\d_]{2,40}) (\d{1,12})(?![.,:]?\w)")
# What is general is asked with a number of today and answered with another: "can we use Python 3.12?"
_GENERAL = re.compile(
    r"\W*(?:can|could|do|does|is|are|should|will|may|must|ist|sind|kann|können|soll|muss|darf)\b", re.I
)
# A question with more words of its own than these is about more than what it names.
OWN_WORDS = 3
# Characters of a part of a word that is no chance.
PART = 4
# The best results that are looked at, and those that the best is compared with.
BEST, REST = 3, 10
# Characters of a question in which names are looked for.
READ = 1_000
# By words alone: what shares no more with the question than "who" and "the" is near it from this cosine of the words'
# vectors on. Chosen so that of the right first results of tests/quality and the written stores none more is denied.
NEAR_BY_WORDS = 0.075
NOT_JUDGED: Mapping[int, float] = MappingProxyType({})


def features(
    store: Store, found: Candidates, order: Sequence[int], scores: Sequence[float], plan: Plan,
    judged: Mapping[int, float] = NOT_JUDGED,
) -> dict[str, float]:  # fmt: skip
    """Of the best results in `order`. Empty when nothing was found.

    `judged`: what the relevance judge says of the first.
    """
    best = list(order[:BEST])
    if not best:
        return {}
    worth = sum(found.stems.values()) + found.absent
    coverage, by_words = found.features["coverage"], found.features["lexical"].tolist()
    covered = [float(coverage[i]) for i in best]
    first = scores[best[0]]
    rest = [scores[i] for i in order[1:REST]]
    latin = latin_share(plan.query)
    # Turns of a conversation say "she" and "there": what they name tells little.
    names = [] if found.spoken(best[0]) else named_things(plan.query)
    unnamed = 0.0
    if names:
        several = store.search.candidates([found.table.text_ids[i] for i in best], plan.where)
        there = " ".join(" ".join(part for part in beside(one) if part) for one in several).casefold()
        unnamed = sum(name not in there for name in names) / len(names)
    shown = {
        "coverage": max(covered),
        "coverage_first": covered[0],
        "absent": found.absent / worth if worth else 1.0,
        "words": min(len(found.stems), 8) / 8,
        "few": 1.0 / len(found.table.rows),  # memories that could be meant: in a store of few, the best is meant
        "share": 1.0 / sum([math.exp(scores[i] - first) for i in order]),
        "first_by_words": float(by_words[best[0]] >= max(by_words)),
        "lead": scores[best[0]] - sum(rest) / len(rest) if rest else 0.0,
        "score": scores[best[0]],
        "other_script": 1.0 - latin,
        "other_script_coverage": (1.0 - latin) * max(covered),
        "spoken": float(found.spoken(best[0])),
        "keyed": float(found.table.keyed[best[0]]),
        "names": float(bool(names)),
        "unnamed": unnamed,
        "literal": float(_holds_the_query(store, found, best[: plan.k], plan.query)),
        "sibling": float(
            bool(names or _COMPOUND.search(plan.query))
            and _is_of_a_sibling(store, found, in_order(order, scores, judged)[0], names, plan)
        ),
    }
    shown |= _nearness(store, found, order, best, shown["coverage"], plan)
    if judged:
        values = sorted(judged.values(), reverse=True)
        shown["judge"] = values[0]
        shown["judge_first"] = judged[best[0]]
        shown["judge_lead"] = values[0] - sum(values[1:]) / len(values[1:]) if values[1:] else 0.0
    return shown


def _nearness(
    store: Store, found: Candidates, order: Sequence[int], best: Sequence[int], coverage: float, plan: Plan
) -> dict[str, float]:
    """What vectors say; of words alone whether those of the best are far, and only common ones shared."""
    shown: dict[str, float] = {}
    if "vector" in found.features:
        cosines = found.features["vector"].tolist()
        values = [cosines[i] for i in best]
        shown["cosine"] = max(values)
        shown["cosine_first"] = values[0]
        shown["cosine_next"] = max([cosines[i] for i in order[1:]], default=0.0)
        shown["first_by_meaning"] = float(values[0] >= max(cosines))
        shown["both"] = max(values) * coverage
        shown["cosine_lead"] = max(values) - sum(cosines) / len(cosines)
    elif "word_vectors" in found.features:
        near = found.features["word_vectors"].tolist()
        far = max(near[i] for i in best) < NEAR_BY_WORDS
        shown["common_only"] = float(far and _shares_common_words_alone(store, found, best, plan))
    return shown


def named_things(question: str) -> list[str]:
    """Identifiers, numbers and proper names in a question, case folded; each once."""
    question = question[:READ]
    found = _IDENTIFIER.findall(question)
    if _ENGLISH.search(question):
        found += _CAPITAL.findall(question)
    return list(dict.fromkeys(name.rstrip(".:/-").casefold() for name in found))


def _holds_the_query(store: Store, found: Candidates, best: Sequence[int], query: str) -> bool:
    """Whether one of the best has the whole query as it is, be it a part of a word."""
    query = query.strip().casefold()
    return PART <= len(query) <= READ and any(query in one.content.casefold() for one in found.memories(store, best))


def _shares_common_words_alone(store: Store, found: Candidates, best: Sequence[int], plan: Plan) -> bool:
    """Whether none of the best has a word of the question but such as every text has."""
    several = store.search.candidates([found.table.text_ids[i] for i in best], plan.where)
    texts = [with_grams(" ".join(part for part in beside(one) if part)) for one in several]
    question = with_grams(plan.query)
    stems = store.search.stems([question, COMMON_WORDS, *texts])
    own = stems[question] - stems[COMMON_WORDS]
    return not any(own & stems[text] for text in texts)


def _is_of_a_sibling(store: Store, found: Candidates, first: int, names: Sequence[str], plan: Plan) -> bool:
    """Whether the question is about an identifier that no memory has, and the first result about one of its kind."""
    question = plan.query[:READ].casefold().replace(" #", " ")
    codes = [name for name in names if name[0].isalpha() and _DIGITS.search(name)]
    numbers = {} if codes or _GENERAL.match(question) else _numbers(question)
    codes = codes or list(numbers)
    compounds = [name for name in _COMPOUND.findall(question) if not any(name in code for code in codes)]
    if not (codes or compounds) or "lexical" in found.missing or "lexical" in plan.without:
        return False
    one = store.search.candidates([found.table.text_ids[first]], plan.where)[0]
    text = one.content[:READ].casefold().replace(" #", " ")
    if frozenset(_VERSION.findall(text) + _DIGITS.findall(text)) & {*numbers.values()}:
        codes = []
    there = " ".join(part for part in beside(one) if part).casefold()
    return any(
        _only_another(store, question, [code for code in several if code not in there], text)
        and all(_is_nowhere(store, found, code, plan, numbers) for code in several if code not in there)
        for several in (codes, compounds)
    )


def _only_another(store: Store, question: str, codes: Sequence[str], text: str) -> bool:
    """Whether a question is about one of these identifiers, and a text about another of its kind."""
    for code in codes:
        question = question.replace(code, " ")
    own = frozenset(_WORD.findall(question)) - _UNSAID
    if len(own) > OWN_WORDS or _CLAUSE.search(question):
        return False
    return any(_speaks_of_another(store, code, text, own) for code in codes)


def _is_nowhere(store: Store, found: Candidates, code: str, plan: Plan, numbers: Mapping[str, str]) -> bool:
    """A word of it with a digit that nothing else has tells: or else a look at all texts."""
    stems = store.search.stems([code])[code]
    if code not in numbers and any(not stem.isalpha() and stem not in found.stems for stem in stems):
        return True
    return not store.search.substring(code, plan.where, limit=1, deadline=plan.deadline)


def _numbers(text: str) -> dict[str, str]:
    """Numbers that name something, with the noun before it, and the number alone. `text` is case folded."""
    numbered = {match[0]: match[2] for match in _NUMBERED.finditer(text) if len(match[2]) > 1 and _is_noun(match[1])}
    return {one: one for one in _VERSION.findall(text)} | numbered


def _is_noun(word: str) -> bool:
    return word not in _UNSAID and word not in _MONTHS


def _speaks_of_another(store: Store, code: str, text: str, asked: frozenset[str]) -> bool:
    """Whether a text begins with an identifier that differs in its numbers alone, before it no more than what it is or
    the question says."""
    for pattern in (_IDENTIFIER, _VERSION, _NUMBERED, _COMPOUND):
        for match in pattern.finditer(text):
            if _is_sibling(code, match[0].rstrip(".:/-")):
                if not asked:
                    return True
                before = frozenset(_WORD.findall(text[: match.start()])) - _ARTICLES
                stems = store.search.stems([*before, *asked])
                said = frozenset[str]().union(*(stems[word] for word in asked))
                return len(before) <= 1 or all(stems[word] <= said for word in before - _UNSAID)
    return False


def _is_sibling(code: str, other: str) -> bool:
    """Whether two names differ in their numbers alone, or in one of their parts."""
    if _DIGITS.sub("0", code) == _DIGITS.sub("0", other):
        return True
    one, two = _PART.findall(code), _PART.findall(other)
    if len(one) < 2 or len(one) != len(two) or _PART.sub("", code) != _PART.sub("", other):
        return False
    same = [a for a, b in zip(one, two, strict=True) if a == b]
    return len(same) == len(one) - 1 and not _AFFIXES.issuperset(same)


def beside(one: Candidate) -> tuple[str | None, ...]:
    """All words of a memory: its text, topics, labels and date."""
    return one.content, one.topics, one.labels, one.dates
