"""The change feed of the reference store: what `store/arrays/` asks of an engine, slow and obviously right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import accumulate, groupby
from types import SimpleNamespace

import apsw
import numpy as np

from limpet.model.ids import parse_id
from limpet.store.arrays.feed_records import Changes, IndexedText, TextColumns, WordLists
from limpet.store.records import Filter, UseCounts
from limpet.store.sqlite.fulltext import Lexical
from limpet.text.describe import describe


def _state(memory):
    """What the search fields are made of: a memory's state has times in microseconds."""
    names = ("content", "scope", "kind", "speaker", "key", "metadata", "topics")
    return SimpleNamespace(valid_from=memory.valid_from_us, **{name: getattr(memory, name) for name in names})


class ReferenceFeed:
    """`ChangeFeed`: every answer is made from the whole ledger."""

    in_pieces = False

    def __init__(self, store) -> None:
        self._store = store
        self._numbers: dict[object, int] = {}  # of scopes and of sessions
        self.words = ReferenceWordFeed(self)

    def number(self, name: object) -> int:
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    @contextmanager
    def snapshot(self) -> Iterator[int]:
        yield len(self._store._ledger) + sum(one["uses"] for one in self._store._uses.values())

    def within(self, deadline: float | None):
        return nullcontext()

    def changes(self, since: object | None) -> Changes:
        ledger = self._store._ledger
        later = ledger if since is None else ledger[since:]
        changed = {event.memory for event in later if event.type != "remembered"}
        ids = {body for id in changed for body in self._bodies(id)}
        anew = since is None or any(event.type == "purged" for event in later)
        last = max((one.text_id for one in self.indexed()), default=0)
        return Changes(len(ledger), last, anew, [] if anew else sorted(ids), bool(self._store._uses))

    def texts_after(self, text_id: int, *, most: int) -> TextColumns:
        return self._columns([one for one in self.indexed() if one.text_id > text_id][:most])

    def texts(self, text_ids: Sequence[int]) -> TextColumns:
        return self._columns([one for one in self.indexed() if one.text_id in text_ids])

    def uses(self, rows: Sequence[int]) -> dict[int, UseCounts]:
        current = [one for one in self._store._known(None) if one.num in rows and one.text_id is not None]
        used = {one.text_id: self._store._uses.get(parse_id(one.memory.id)) for one in current}
        return {text_id: UseCounts(**use) for text_id, use in used.items() if use is not None}

    def with_topic(self, topic: str) -> list[int]:
        where = Filter(topics=(topic,), states=("active", "archived", "retracted"))
        return [one.text_id for one in self._store._passing(where) if one.text_id is not None]

    def scope_number(self, name: str) -> int | None:
        return self._numbers.get(name)

    def session_numbers(self, name: str) -> list[int]:
        return [number for one, number in self._numbers.items() if isinstance(one, tuple) and one[1] == name]

    def indexed(self) -> list[IndexedText]:
        """Every text there is, as the last version that has it describes it."""
        store, found = self._store, []
        latest = {
            version.text_id: version.memory
            for id in dict.fromkeys(event.memory for event in store._ledger)
            for version in store._versions(id)
        }
        for event in store._ledger:
            if event.content is None:
                continue
            text_id = store._text_ids[event.seq]
            memory = latest[text_id]
            fields, token = describe(_state(memory), 0), f"\ue000{self.number(memory.scope)}"
            found.append(
                IndexedText(text_id, event.content, fields.topics, fields.labels, fields.dates, token, fields.grams)
            )
        return found

    def _bodies(self, id: bytes) -> set[int]:
        return {version.text_id for version in self._store._versions(id) if version.text_id is not None}

    def _columns(self, texts: Sequence[IndexedText]) -> TextColumns:
        current = {one.text_id: one for one in self._store._known(None)}
        rows = []
        for text in texts:
            row, length = current.get(text.text_id), sum(1 for _ in self.words.cut(text))
            said = (text.content, text.topics, text.labels, text.dates)
            if row is None:
                rows.append((text.text_id, None, int(text.scope[1:]), *(13 * [None]), *said, None, None, length))
                continue
            m = row.memory
            session = None if m.session is None else self.number((m.scope, m.session))
            rows.append(
                (text.text_id, row.num, int(text.scope[1:]), m.state, m.kind, m.trust, m.pinned, session, m.position, m.speaker,
                 m.valid_from_us, m.valid_to_us, m.importance, m.observations, m.observed_at_us, m.stated_confidence, *said, parse_id(m.id),
                 m.key, length)
            )  # fmt: skip
        return TextColumns._make(zip(*rows, strict=True) if rows else (() for _ in TextColumns._fields))


class ReferenceWordFeed:
    """`WordFeed`: the index is made anew for every answer."""

    def __init__(self, feed: ReferenceFeed) -> None:
        self._feed = feed
        self.tokenizer = Lexical(apsw.Connection(":memory:"))

    def cut(self, text: IndexedText) -> Iterator[tuple[str, int]]:
        """(word, place) of a text."""
        for column, said in enumerate(text[1:]):
            for word in self.tokenizer.tokens(said or ""):
                yield word, text.text_id * 8 + column

    def _index(self) -> list[tuple[str, int]]:
        return sorted(one for text in self._feed.indexed() for one in self.cut(text))

    def totals(self) -> tuple[int, int]:
        return len(self._feed.indexed()), len(self._index())

    def frequency(self, word: str) -> int:
        return len({place // 8 for one, place in self._index() if one == word})

    def occurrences(self, word: str, *, most: int | None = None) -> np.ndarray:
        return np.array([place for one, place in self._index() if one == word][:most], dtype=np.int64)

    def lists_after(self, word: str, *, most: int) -> WordLists:
        later = [one for one in self._index() if one[0] > word]
        lists = [(stem, [place for _, place in part]) for stem, part in groupby(later, lambda one: one[0])]
        ends = list(accumulate(len(places) for _, places in lists))
        fit = sum(end < most for end in ends)
        if lists and not fit:
            return WordLists([lists[0][0]], [len(lists[0][1])], np.array([], dtype=np.int64), True)
        places = np.array([place for _, part in lists[:fit] for place in part], dtype=np.int64)
        return WordLists(
            [stem for stem, _ in lists[:fit]], [len(part) for _, part in lists[:fit]], places, fit < len(lists)
        )

    def texts(self, text_ids: Iterable[int]) -> list[IndexedText]:
        wanted = set(text_ids)
        return [one for one in self._feed.indexed() if one.text_id in wanted]

    def with_topic_words(self, topic: str) -> list[tuple[int, str]]:
        words = list(self.tokenizer.tokens(topic))
        found = []
        for text in self._feed.indexed():
            said = list(self.tokenizer.tokens(text.topics or ""))
            if any(said[i : i + len(words)] == words for i in range(len(said))):
                found.append((text.text_id, text.topics))
        return found
