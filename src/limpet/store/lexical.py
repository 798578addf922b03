"""The query's search terms and their worth: the same for every engine and backing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

from ..model.memory import RUN
from .records import LexicalResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sql.search import Tokenizer

# Rows that full BM25 scores for one query. FTS5 scores about a million rows a second; terms are taken from the rarest
# on until their document frequencies reach this. See docs/adr/0012.
ROW_BUDGET = 700
# In a store of more texts than this, a term in one of so many texts is too common to search for: it says little, and
# FTS5 reads its whole list. In smaller stores that is a term in half of all texts (BM25's own rule).
LARGE_STORE, COMMON_SHARE = 5_000, 10
# In so few texts, half of them is chance: only words common in any English are common there.
FEW_TEXTS = 4
# Terms of a query that are searched for, the rarest first.
MAX_TERMS_SEARCHED = 48
# A store with so few texts is scored by `small_result` with a background of this many ordinary English ones, in half of
# which the common words occur. BM25's own constants are those of FTS5.
SMALL_STORE = 300
BACKGROUND_TEXTS = 500
BM25_K1, BM25_B = 1.2, 0.75
# In the mean length a text is at most so many times as long as the median one.
MOST_MEDIANS = 10
# The other forms of a query's terms that the index has: each counts as the term itself.
Forms = Mapping[str, Sequence[str]]
NO_FORMS: Forms = {}
COMMON_WORDS = (
    "a about all also an and any are as at be been but by can could did do does for from get had has have he her him"
    " his how i if in into is it its just like me my no of on one or our out she should so some than that the their"
    " them then there they this to up us use was we were what when where which who why will with would you your"
)


def common_share(texts: int) -> int:
    """Return the share of texts from which on a word is too common to search for."""
    return COMMON_SHARE if texts > LARGE_STORE else 2


def choose(frequencies: Mapping[str, int], texts: int, tokenizer: Tokenizer) -> tuple[list[tuple[int, str]], int]:
    """Return the terms worth searching for as (document frequency, term), rarest first, and how many give rows.

    `frequencies`: in how many texts each term of the query is.
    """
    share = common_share(texts)
    common = tokenizer.counts(COMMON_WORDS) if texts <= FEW_TEXTS else None
    counted, useful = [], []
    for df, term in sorted(zip(frequencies.values(), frequencies, strict=True)):
        if df:
            counted.append((df, term))
            if df * share < texts or (common is not None and term not in common):
                useful.append((df, term))
    useful = useful or (counted[:1] if share > 2 else counted)
    useful = useful[:MAX_TERMS_SEARCHED]
    rare, rows = 0, 0
    while rare < len(useful) and (rare == 0 or rows + useful[rare][0] <= ROW_BUDGET):
        rows += useful[rare][0]
        rare += 1
    return useful, rare


def worth(useful: Iterable[tuple[int, str]], texts: int) -> dict[str, float]:
    """Return the inverse document frequency of each term."""
    return {stem: max(1e-6, math.log((texts - df + 0.5) / (df + 0.5))) for df, stem in useful}


def weights(topics: Iterable[int], stems: Mapping[str, float], texts: int, rare: int, forms: Forms) -> list[float]:
    """Return what topics that every row has, and the terms with their forms, add to BM25. `topics`: in how many texts
    each is; beside common terms they count half."""
    share = 0.5 if rare < len(stems) else 1.0
    of_terms = [weight for stem, weight in stems.items() for _ in (stem, *forms.get(stem, ()))]
    return [*[share * worth([(df, "")], texts)[""] for df in topics], *of_terms]


def absent_worth(absent: int, texts: int) -> float:
    """Return the worth of `absent` terms that no text has."""
    return absent * math.log((texts + 0.5) / 0.5)


def norm(length: Any, mean: float) -> Any:
    """Return what BM25 adds to a word's frequency in a text of so many words, or in each of several."""
    return BM25_K1 * (1 - BM25_B + BM25_B * length / mean)


def part(weight: float, frequency: Any, norm: Any) -> Any:
    """Return what a word adds to the BM25 of a text, or of each of several."""
    return weight * (frequency * (BM25_K1 + 1.0) / (frequency + norm))


_HIGH = bytes(range(0x80, 0x100))
_LOW_AS_SPACE = b" " * 0x80 + _HIGH


def varints(data: bytes) -> list[int]:
    """Decode SQLite's variable-length integers: FTS5 packs the sizes of texts so, Postgres is given counts so."""
    numbers, value = [], 0
    for byte in data:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(value)
            value = 0
    return numbers


def added(packed: bytes) -> int:
    """Add up such integers. The digits before the last, which few have, are added as numbers of their own."""
    last, first = packed.translate(None, _HIGH), b"" if packed.isascii() else packed.translate(_LOW_AS_SPACE)
    return sum(last) + sum(varints(b"".join([digits + b"\0" for digits in first.split()])))


def small_result(
    tokenizer: Tokenizer,
    texts: int,
    useful: Sequence[tuple[int, str]],
    absent: Sequence[str],
    matching: Iterable[tuple[int, str, str]],
    limit: int | None,
    forms: Forms,
) -> LexicalResult:
    """Return BM25 hits for a store of few texts, whose own document frequencies say nothing yet.

    They are smoothed with a background of ordinary English: there, common words are in half of all texts. Words
    that no text has count in what a perfect match is worth: one common word of a long question is no match. Pairs of
    characters do not: most that no text has are no words.

    `matching`: of each text that matches its number, itself with its pairs of characters, and topics, labels and dates.
    """
    total = texts + BACKGROUND_TEXTS
    common = tokenizer.counts(COMMON_WORDS)
    weights, missing, pairs = {}, 0.0, 0.0
    for df, stem in (*useful, *zip(repeat(0), absent, strict=False)):
        known = df + (BACKGROUND_TEXTS // 2 if stem in common else 0)
        weight = math.log1p((total - known + 0.5) / (known + 0.5))
        if df:
            weights[stem] = weight
        else:
            missing += weight
            pairs += weight if re.match(RUN, stem) else 0.0
    counts, sizes = [], []
    for text_id, text, named in matching:
        words = tokenizer.counts(text)
        counts.append((text_id, words, words.total(), tokenizer.counts(named)))
        if words:
            sizes.append(words.total())
    # For the mean the longest texts count as MOST_MEDIANS times the median: one pasted log would make all other texts
    # seem short, and itself not too long. In a large store one log is not much.
    most = MOST_MEDIANS * sorted(sizes)[(len(sizes) - 1) // 2] if sizes else 0
    mean = sum([min(size, most) for size in sizes]) / max(1, len(counts)) or 1.0
    scored = []
    for text_id, words, length, fields in counts:
        longer, score = norm(length, mean), 0.0
        for stem, weight in weights.items():
            others = forms.get(stem, ())
            if times := words.get(stem, 0) + sum([words.get(other, 0) for other in others]):
                score += part(weight, times, longer)
            if stem in fields or any(map(fields.__contains__, others)):
                score += weight
        scored.append((-score, text_id))
    hits = {}
    for score, text_id in sorted(scored)[:limit]:
        hits[text_id] = -score
    return LexicalResult(
        hits=hits,
        stems=weights,
        weight=sum(weights.values()) + missing - pairs,
        absent=missing,
        more=len(hits) < len(scored),
    )
