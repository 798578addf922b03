"""Lists of the index's words as arrays, and BM25 over them.

They are read in the order of the words, in slices, until all are there (beside the recalls if that takes long); before
that, a word's list is read when a query has the word. An entry takes five bytes.

The scores are those of `store/sqlite/search.py`, to the last bit: the same products, summed in the same order. So a
process answers alike with and without these arrays.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...model.memory import Filter
from .. import lexical

if TYPE_CHECKING:
    from ..sql.feed import WordFeed
    from .columns import Columns

# The weight of an occurrence in BM25, in halves, by column: text, topics, labels, dates, scope, pairs of characters.
_HALVES = np.array([2, 2, 1, 2, 0, 2])
# In `Posting.fields`: a date has the word, a label has it, and how many topics' words are it.
DATES, LABELS, TOPIC = 1, 2, 4
_FLAGS = np.array([0, 0, LABELS, DATES, 0, 0])
# Entries of lists that are held at most, 150 MB: those of a million memories of ordinary length. Lists that do not fit
# are read when they are asked for, and the oldest of these make room.
MAX_HELD, MAX_READ_AHEAD = 30_000_000, 25_000_000
# Occurrences read at a time of the whole index (some milliseconds), and of a word about which nothing is known.
SLICE, READ_AT_ONCE = 20_000, 4_096
# With more new texts than this, or than that share of all, reading lists again is cheaper than adding to them.
MAX_ADDED, ADDED_SHARE = 16, 50
# Scopes are in the index too, each text in one list, and nobody searches for them.
_NO_WORD = "\ue000"


class ArrayHits(NamedTuple):
    """A `LexicalResult` as arrays."""

    text_ids: np.ndarray
    scores: np.ndarray
    stems: dict[str, float]
    weight: float
    complete: bool = True
    absent: float = 0.0


NOTHING = ArrayHits(np.zeros(0, dtype=np.int64), np.zeros(0), {}, 0.0)


class Seen(NamedTuple):
    """The texts that a search may see: they alone count in its statistics."""

    texts: int
    words: int  # of all of them together
    mask: Any = None  # by text id, whether it is one; None: all are
    scopes: Sequence[int] | None = None  # that have them; None: none has just them


class Posting(NamedTuple):
    """The texts that have a word, in order."""

    text_ids: np.ndarray  # int32
    halves: np.ndarray  # how often, as BM25 weighs it, in halves; as narrow as it goes
    fields: np.ndarray | None  # None: in no topic, label or date at all


EMPTY = Posting(np.zeros(0, np.int32), np.zeros(0, np.uint8), None)


def posting_of(places: np.ndarray, words: np.ndarray | None = None) -> tuple[Posting, np.ndarray]:
    """Return the posting of the places of all occurrences, as a `WordFeed` gives them.

    `words`: the number of each occurrence's word, for several words one after the other; their ends come back too.
    """
    if not len(places):
        return EMPTY, np.zeros(0, np.int64)
    text_ids, columns = places >> 3, places & 7
    new = np.concatenate(([True], text_ids[1:] != text_ids[:-1]))
    if words is not None:
        new[1:] |= words[1:] != words[:-1]
    first = np.flatnonzero(new)
    halves = np.add.reduceat(_HALVES[columns], first)
    halves = halves.astype(np.min_scalar_type(int(halves.max())))
    in_fields = bool(((columns > 0) & (columns < 4)).any())
    if in_fields:
        times = np.add.reduceat((columns == 1).astype(np.int64), first)
        fields = (np.bitwise_or.reduceat(_FLAGS[columns], first) + TOPIC * np.minimum(times, 63)).astype(np.uint8)
    else:
        fields = None
    ends = np.array([len(first)]) if words is None else np.searchsorted(words[first], np.arange(words[-1] + 1), "right")
    return Posting(text_ids[first].astype(np.int32), halves, fields), ends


def best(scores: np.ndarray, limit: int | None) -> np.ndarray:
    """Return the indexes of the highest scores, at most so many, the highest first; ties in order."""
    if limit is None or limit >= len(scores):
        return (-scores).argsort(kind="stable")
    # Most need no order among themselves.
    best = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
    order: np.ndarray = best[(-scores[best]).argsort(kind="stable")][:limit]
    return order


def fields_of(posting: Posting) -> np.ndarray:
    return np.zeros(len(posting.text_ids), dtype=np.uint8) if posting.fields is None else posting.fields


def positions(ordered: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts' places in a list and whether each is in it. Both must be int32, or the list is copied."""
    if not len(ordered):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    at = ordered.searchsorted(wanted)
    return at, ordered.take(at, mode="clip") == wanted


def distinct(numbers: np.ndarray) -> np.ndarray:
    """Return unique values in order. The array may be sorted in place. Faster than np.unique for few values."""
    numbers.sort()
    unique: np.ndarray = numbers[np.diff(numbers, prepend=numbers[:1] - 1) != 0]
    return unique


def among(numbers: np.ndarray, wanted: Sequence[int]) -> np.ndarray:
    """Return a mask of the numbers that are in `wanted`, which should be short."""
    mask = np.zeros(len(numbers), dtype=bool)
    for number in wanted:
        mask |= numbers == number
    return mask


def occurrences(words: list[str], text: list[str]) -> int:
    """Count how often some words stand in a row in a text."""
    return sum(text[i : i + len(words)] == words for i in range(len(text) - len(words) + 1))


def _frequency(posting: Posting, seen: Seen) -> int:
    """Return in how many texts that are seen a word is."""
    return len(posting.text_ids) if seen.mask is None else int(np.count_nonzero(seen.mask[posting.text_ids]))


def _times(posting: Posting, rows: np.ndarray) -> np.ndarray:
    """Return how often each row has a word."""
    if len(posting.text_ids) < len(rows):
        times = np.zeros(len(rows))
        at, there = positions(rows, posting.text_ids)
        times[at[there]] = 0.5 * posting.halves[there]
        return times
    at, there = positions(posting.text_ids, rows)
    return posting.halves.take(at, mode="clip") * (0.5 * there)


class _Slice(NamedTuple):
    """The lists of consecutive words, end to end; the list of one word is built when it is asked for."""

    stems: list[str]
    counts: np.ndarray  # in how many texts each is
    ends: np.ndarray  # of its entries; those of a word too common to be searched for are not held
    whole: Posting


class Postings:
    """Word lists of one store, as far as they have been asked for."""

    def __init__(self, feed: WordFeed) -> None:
        self._feed = feed
        self._tokenizer = feed.tokenizer
        self.whole = Seen(0, 0)
        self.forget()

    def forget(self) -> None:
        """Read every list again."""
        self._slices: list[_Slice] = []
        self._firsts: list[str] = []  # the first word of each slice
        self._last: str | None = ""  # all words up to it are in the slices; None: all there are
        self._single: dict[str, Posting] = {}  # lists that were read one by one, the oldest first
        self._counts: dict[str, int] = {}  # in how many texts words are that are in no slice
        self._later: dict[str, list[int]] = {}  # places in texts that came after a list was read
        self._added = 0
        self._ready: dict[str, Posting] = {}  # lists put together, as of this version of the store
        self._phrases: dict[str, Posting] = {}
        self._seen: dict[tuple[int, ...], dict[str, int]] = {}  # in how many texts of some scopes words are
        self._held = 0

    def measure(self) -> None:
        """Update the number of texts, and of all their words."""
        self._phrases.clear()
        self._ready.clear()
        self._seen.clear()
        self.whole = Seen(*self._feed.totals())

    @property
    def all_read(self) -> bool:
        """True if all lists are read, or as many as may be held."""
        return self._last is None or self._held >= MAX_READ_AHEAD

    def read(self, until: float) -> None:
        """Read lists in order, as far as the time goes; `until` on the monotonic clock."""
        while not self.all_read and time.monotonic() < until:
            stems, sizes, places, more = self._feed.lists_after(self._last or "", most=SLICE)
            self._last = stems[-1] if more else None
            if stems and not len(places):
                # More than a slice.
                count, whole = self._feed.frequency(stems[0]), EMPTY
                if count * lexical.common_share(self.whole.texts) < self.whole.texts:
                    whole = posting_of(self._feed.occurrences(stems[0]))[0]
                self._slice(stems, np.array([count]), np.array([len(whole.text_ids)]), whole)
                continue
            if not stems:
                return
            words = np.repeat(np.arange(len(stems)), sizes)
            whole, ends = posting_of(places, words)
            counts = np.diff(ends, prepend=0)
            unwanted = counts * lexical.common_share(self.whole.texts) >= self.whole.texts
            unwanted[bisect_left(stems, _NO_WORD) : bisect_left(stems, chr(ord(_NO_WORD) + 1))] = True
            if unwanted.any():
                kept = np.repeat(~unwanted, counts)
                fields = None if whole.fields is None else whole.fields[kept]
                whole = Posting(whole.text_ids[kept], whole.halves[kept], fields)
                ends = np.cumsum(np.where(unwanted, 0, counts))
            self._slice(stems, counts, ends, whole)

    def _slice(self, stems: list[str], counts: np.ndarray, ends: np.ndarray, whole: Posting) -> None:
        for stem in stems:
            # Lists that were read one by one are of the same version of the store.
            self._held -= len(self._single.pop(stem, EMPTY).text_ids)
            for known in (self._counts, self._later, self._ready):
                known.pop(stem, None)
        self._slices.append(_Slice(stems, counts, ends, whole))
        self._firsts.append(stems[0])
        self._held += len(whole.text_ids)

    def add(self, text_ids: Sequence[int]) -> None:
        """Add new texts."""
        if not self._counts and self._last == "":
            return
        self._added += len(text_ids)
        if self._added > max(MAX_ADDED, self.whole.texts // ADDED_SHARE):
            self.forget()
            return
        for text_id, *columns in self._feed.texts(text_ids):
            for column, text in enumerate(columns):
                for stem in self._tokenizer.tokens(text or ""):
                    if stem in self._counts or self._covers(stem):
                        self._later.setdefault(stem, []).append(text_id * 8 + column)

    def _covers(self, stem: str) -> bool:
        """Return whether the index has been read beyond this word, so that a text not held does not have it."""
        return self._last is None or stem <= self._last

    def _slot(self, stem: str) -> tuple[_Slice, int] | None:
        """Return the slice of a word, and its place there."""
        at = bisect_right(self._firsts, stem) - 1
        if at >= 0:
            part = self._slices[at]
            place = bisect_left(part.stems, stem)
            if place < len(part.stems) and part.stems[place] == stem:
                return part, place
        return None

    def _known(self, stem: str) -> Posting | None:
        """Return the list of a word that is covered, as far as it was read; None: it is not held."""
        slot = self._slot(stem)
        if slot is None:
            return EMPTY
        piece, place = slot
        start, end = (int(piece.ends[place - 1]) if place else 0), int(piece.ends[place])
        if end - start != piece.counts[place]:
            return None
        text_ids, halves, fields = piece.whole
        part = None if fields is None or not fields[start:end].any() else fields[start:end]
        return Posting(text_ids[start:end], halves[start:end], part)

    def _is_held(self, stem: str) -> bool:
        return stem in self._single or (self._covers(stem) and self._known(stem) is not None)

    def frequency(self, stem: str) -> int:
        """Return how many texts have a word. This reads its list too, unless the word is too common to search for."""
        known = self._counts.get(stem)
        if known is None and self._covers(stem):
            slot = self._slot(stem)
            known = int(slot[0].counts[slot[1]]) if slot else 0
        if known is not None:
            return known + len({place >> 3 for place in self._later.get(stem, ())})
        places = self._feed.occurrences(stem, most=READ_AT_ONCE)
        if len(places) < READ_AT_ONCE:
            return len(self._hold(stem, posting_of(places)[0]).text_ids)
        known = self._counts[stem] = self._feed.frequency(stem)
        return known

    def posting(self, stem: str) -> Posting:
        posting = self._ready.get(stem)
        if posting is None:
            posting = self._single.get(stem)
            if posting is None and self._covers(stem):
                posting = self._known(stem)
            if posting is None:
                # The whole list, texts that came later included.
                self._later.pop(stem, None)
                posting = self._hold(stem, posting_of(self._feed.occurrences(stem))[0])
            elif stem in self._later:
                both = posting, posting_of(np.array(self._later[stem]))[0]
                plain = all(part.fields is None for part in both)
                posting = Posting(
                    np.concatenate([part.text_ids for part in both]),
                    np.concatenate([part.halves for part in both]),
                    None if plain else np.concatenate([fields_of(part) for part in both]),
                )
            self._ready[stem] = posting
        return posting

    def _hold(self, stem: str, posting: Posting) -> Posting:
        self._counts[stem] = len(posting.text_ids)
        self._single[stem] = posting
        self._held += len(posting.text_ids)
        while self._held > MAX_HELD and self._single:
            self._held -= len(self._single.pop(next(iter(self._single))).text_ids)
        return posting

    def search(
        self, text: str, where: Filter, columns: Columns, *, limit: int | None = None,
        forms: lexical.Forms = lexical.NO_FORMS, held_only: bool = False,
    ) -> ArrayHits:  # fmt: skip
        """Return texts that have the query's rarer words, best first, as `Search.lexical` does.

        `held_only`: leave out words whose lists have not been read, and report that.
        """
        # With few texts, most words are too common to be read ahead, and any list is read at once.
        held_only = held_only and self.whole.texts > lexical.SMALL_STORE
        asked, seen = self._tokenizer.terms(text), columns.seen(where)
        terms = [stem for stem in asked if not held_only or stem in self._counts or self._covers(stem)]
        complete = len(terms) == len(asked)
        if not seen.texts:
            return NOTHING._replace(complete=complete)
        forms = {} if held_only else forms
        named = {stem: (stem, *forms.get(stem, ())) for stem in terms}
        each = self._frequencies({form: form for some in named.values() for form in some} | asked, seen)
        counts = {stem: min(sum([each[form] for form in some]), seen.texts) for stem, some in named.items()}
        useful, rare = lexical.choose(counts, seen.texts, self._tokenizer)
        if not useful:
            return NOTHING._replace(complete=complete)
        if held_only:
            held = [self._is_held(stem) or self.frequency(stem) < READ_AT_ONCE for _, stem in useful]
            rare = sum(held[:rare])
            useful = [pair for pair, there in zip(useful, held, strict=True) if there]
            complete = complete and all(held)
            if not rare:
                return NOTHING._replace(complete=False)
        lists = [self.posting(form) for _, stem in useful for form in named[stem]]
        some = lists[: sum([len(named[stem]) for _, stem in useful[:rare]])]
        rows = lists[0].text_ids if len(some) == 1 else distinct(np.concatenate([part.text_ids for part in some]))
        if seen.mask is not None:
            rows = rows[seen.mask[rows]]
        topics = [self._phrase(topic) for topic in where.topics if self._tokenizer.counts(topic)]
        for topic in topics:
            rows = rows[positions(topic.text_ids, rows)[1]]
        absent = [stem for stem, count in counts.items() if not count]
        if seen.texts <= lexical.SMALL_STORE:
            matching = self._matching(rows)
            result = lexical.small_result(self._tokenizer, seen.texts, useful, absent, matching, limit, forms)
            text_ids, scores = np.array(list(result.hits), dtype=np.int64), np.array(list(result.hits.values()))
            return ArrayHits(text_ids, scores, result.stems, result.weight, complete, result.absent)
        stems = lexical.worth(useful, seen.texts)
        weights = lexical.weights([_frequency(topic, seen) for topic in topics], stems, seen.texts, rare, forms)
        norm = lexical.norm(columns.length[rows].astype(np.float64), seen.words / seen.texts or 1.0)
        scores = np.zeros(len(rows))
        for posting, weight in zip([*topics, *lists], weights, strict=True):
            scores += lexical.part(weight, _times(posting, rows), norm)
        order = best(scores, limit)
        missing = lexical.absent_worth(len(absent), seen.texts)
        return ArrayHits(rows[order], scores[order], stems, sum(stems.values()), complete, missing)

    def _frequencies(self, terms: Mapping[str, str], seen: Seen) -> dict[str, int]:
        """Return in how many texts that are seen each term is. `terms`: how each is written."""
        if seen.mask is None:
            return {stem: self.frequency(stem) for stem in terms}
        known = {} if seen.scopes is None else self._seen.setdefault(tuple(seen.scopes), {})
        for stem in terms.keys() - known.keys():
            if seen.scopes is None or self._is_held(stem):
                known[stem] = _frequency(self.posting(stem), seen)
        # A list that is not held is long, and its word mostly too common here as well: it is not read to be counted.
        if (others := terms.keys() - known.keys()) and seen.scopes is not None:
            known.update(self._feed.frequencies({stem: terms[stem] for stem in others}, seen.scopes))
        return {stem: known[stem] for stem in terms}

    def _matching(self, rows: np.ndarray) -> Iterator[tuple[int, str, str]]:
        for row in self._feed.texts(rows.tolist()):
            named = " ".join(filter(None, (row.topics, row.labels, row.dates)))
            yield row.text_id, f"{row.content} {row.pairs or ''}", named

    def _phrase(self, topic: str) -> Posting:
        """Return the texts whose topics have the words of a topic one after the other, and how often."""
        posting = self._phrases.get(topic)
        if posting is None:
            words = list(self._tokenizer.tokens(topic))
            if len(words) == 1:
                whole = self.posting(words[0])
                times = fields_of(whole) // TOPIC
                text_ids, times = whole.text_ids[times > 0], times[times > 0]
            else:
                rows = self._feed.with_topic_words(topic)
                text_ids = np.array([row[0] for row in rows], dtype=np.int32)
                times = np.array([occurrences(words, list(self._tokenizer.tokens(row[1]))) for row in rows])
            posting = self._phrases[topic] = Posting(text_ids, times.astype(np.uint32) * 2, None)
        return posting

    def words(
        self, text_ids: np.ndarray, stems: Mapping[str, float], forms: lexical.Forms
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the worth of the query's words in topics, labels and dates of some texts (a label's counts half), and
        which of the words each text has, anywhere: (texts, stems)."""
        topics, labels, dates = np.zeros(len(text_ids)), np.zeros(len(text_ids)), np.zeros(len(text_ids))
        having = np.zeros((len(text_ids), len(stems)), dtype=bool)
        text_ids = text_ids.astype(np.int32)
        for place, (stem, worth) in enumerate(stems.items()):
            fields = np.zeros(len(text_ids), dtype=np.uint8)
            for posting in map(self.posting, (stem, *forms.get(stem, ()))):
                at, there = positions(posting.text_ids, text_ids)
                having[:, place] |= there
                if posting.fields is not None:
                    fields |= posting.fields.take(at, mode="clip") * there
            if not fields.any():
                continue
            topics += worth * (fields >= TOPIC)
            labels += worth * (fields & LABELS > 0)
            dates += worth * (fields & DATES)
        return topics + 0.5 * labels + dates, having
