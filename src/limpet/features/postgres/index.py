"""The search index: the words of texts, as rows too, and slots of codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...store.sql.search import Tokenizer
from .connection import Ids, Numbers, Session, Words

_COLUMNS = "content, topics, labels, dates, scope, grams"
# The longest word in an index row; longer ones are replaced by their beginning and a digest.
MOST_WORD_BYTES, KEPT_CHARACTERS = 512, 64


# A version that no other write has: after a failover, other writes may follow the version of lost ones.
LATER = "version + 1 + CAST(random() * 1000000 AS bigint)"
_CHUNK_CHANGED = f"UPDATE chunk SET version = {LATER} WHERE num IN (SELECT chunk FROM vector WHERE body = ?)"
_TEXTS = f"SELECT num, {_COLUMNS}, size FROM body WHERE num > ? ORDER BY num LIMIT 1000"


class PostgresTokenizer(Tokenizer):
    """SQLite's tokenizer, so that scores are equal, with words cut to the length that a Postgres index takes."""

    def tokens(self, text: str) -> Iterator[str]:
        return map(_short, super().tokens(text))

    def terms(self, text: str) -> dict[str, str]:
        return {_short(term): word for term, word in super().terms(text).items()}


class PostgresIndex:
    """`SqliteIndex` over rows."""

    def __init__(self) -> None:
        self.tokenizer = PostgresTokenizer()

    def insert(self, con: Session, texts: Sequence[tuple[Any, ...]]) -> None:
        cut = [self._words(text[1:]) for text in texts]
        con.executemany(
            f"INSERT INTO body (num, {_COLUMNS}, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*text, size) for text, (_, size) in zip(texts, cut, strict=True)],
        )
        self._add(con, [(text[0], words) for text, (words, _) in zip(texts, cut, strict=True)])
        _count(con, len(texts), sum(size for _, size in cut))

    def describe(self, con: Session, num: int, described: tuple[Any, ...]) -> None:
        row = con.execute(f"SELECT {_COLUMNS}, size FROM body WHERE num = ?", (num,)).fetchone()
        topics, labels, dates, grams, scope = described
        wanted = (row[0], topics, labels, dates, scope, grams)
        if row[:6] == wanted:
            return
        before, (after, size) = self._words(row[:6])[0], self._words(wanted)
        con.execute(
            "UPDATE body SET topics = ?, labels = ?, dates = ?, scope = ?, grams = ?, size = ? WHERE num = ?",
            (*wanted[1:], size, num),
        )
        self._drop(con, num, [word for word in before if before[word] != after.get(word)])
        self._add(con, [(num, {word: counts for word, counts in after.items() if before.get(word) != counts})])
        _count(con, 0, size - row[6])

    def unembed(self, con: Session, num: int) -> None:
        con.execute(_CHUNK_CHANGED, (num,))
        con.execute(
            "UPDATE slot SET code = decode(repeat('00', length(code)), 'hex'), scale = decode(repeat('00', 4), 'hex'),"
            " exact = '', scope = 0, body = 0, part = 0 WHERE body = ?",
            (num,),
        )

    def delete(self, con: Session, num: int) -> None:
        self.unembed(con, num)
        row = con.execute(f"DELETE FROM body WHERE num = ? RETURNING {_COLUMNS}, size", (num,)).fetchone()
        if row is not None:
            self._drop(con, num, list(self._words(row[:6])[0]))
            _count(con, -1, -row[6])

    def move(self, con: Session, num: int, scope: int) -> None:
        con.execute(_CHUNK_CHANGED, (num,))
        con.execute("UPDATE slot SET scope = ? WHERE body = ?", (scope, num))

    def rebuild(self, con: Session) -> None:
        """Index all words anew, though deleted ones go with their rows."""
        con.execute("DELETE FROM posting")
        after, texts, words = 0, 0, 0
        while part := con.execute(_TEXTS, (after,)).fetchall():
            cut = [self._words(row[1:7]) for row in part]
            sizes = [(size, row[0]) for row, (_, size) in zip(part, cut, strict=True) if size != row[7]]
            con.executemany("UPDATE body SET size = ? WHERE num = ?", sizes)
            self._add(con, [(row[0], counts) for row, (counts, _) in zip(part, cut, strict=True)])
            after, texts, words = part[-1][0], texts + len(part), words + sum(size for _, size in cut)
        con.execute("UPDATE store SET texts = ?, words = ?", (texts, words))

    def purged(self, con: Session) -> None:
        """Do nothing: deleted words go with their rows."""

    def tell_anew(self, con: Session) -> None:
        con.execute("UPDATE store SET making = making + 1")

    def unfit(self, con: Session) -> int:
        """Count texts whose indexed words are not their own."""
        wrong, after = 0, 0
        while part := con.execute(_TEXTS, (after,)).fetchall():
            after = part[-1][0]
            held: dict[int, dict[str, bytes]] = {row[0]: {} for row in part}
            nums = Numbers(held)
            for body, word, counts in con.execute(
                "SELECT p.body, p.word, p.counts FROM posting p WHERE p.body IN (SELECT value FROM carray(?))", (nums,)
            ):
                held[body][word] = counts
            wrong += sum((held[row[0]], row[7]) != self._words(row[1:7]) for row in part)
        strays = (
            "SELECT count(DISTINCT p.body) FROM posting p WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.num = p.body)"
        )
        return wrong + int(con.execute(strays).get)

    def _words(self, columns: Sequence[str | None]) -> tuple[dict[str, bytes], int]:
        """Return word -> packed counts by column, and the number of words."""
        counts_by_word: dict[str, list[int]] = {}
        size = 0
        for column, text in enumerate(columns):
            for word in self.tokenizer.tokens(text or ""):
                size += 1
                counts = counts_by_word.setdefault(word, [])
                counts.extend([0] * (column + 1 - len(counts)))
                counts[column] += 1
        return {word: packed(counts) for word, counts in counts_by_word.items()}, size

    def _add(self, con: Session, texts: Sequence[tuple[int, dict[str, bytes]]]) -> None:
        rows = [(word, num, counts) for num, words in texts for word, counts in words.items()]
        if rows:
            words, nums, counts = zip(*rows, strict=True)
            con.execute(
                "INSERT INTO posting (word, body, counts)"
                " SELECT * FROM unnest(CAST(? AS text[]), CAST(? AS bigint[]), CAST(? AS bytea[]))",
                (Words(words), Numbers(nums), Ids(counts)),
            )

    def _drop(self, con: Session, num: int, words: list[str]) -> None:
        if words:
            con.execute("DELETE FROM posting WHERE body = ? AND word = ANY(CAST(? AS text[]))", (num, Words(words)))


def _short(term: str) -> str:
    if len(term) * 4 <= MOST_WORD_BYTES or len(term.encode()) <= MOST_WORD_BYTES:
        return term
    from hashlib import sha256

    return term[:KEPT_CHARACTERS] + sha256(term.encode()).hexdigest()


def _count(con: Session, texts: int, words: int) -> None:
    con.execute("UPDATE store SET texts = texts + ?, words = words + ?", (texts, words))


def packed(counts: Sequence[int]) -> bytes:
    """Encode variable-length integers, seven bits a byte, the highest first."""
    encoded = bytearray()
    for count in counts:
        digits = [count & 0x7F]
        while count := count >> 7:
            digits.append(count & 0x7F | 0x80)
        encoded += bytes(reversed(digits))
    return bytes(encoded)
