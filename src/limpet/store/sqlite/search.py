"""Search signals in SQL: full text in two phases, substring, filters.

Filters come before ranking: a signal returns only what the filter lets pass.
"""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from ..contract import Candidate, Filter, LexicalHit, LexicalResult
from .sql import statements

# Rows that full BM25 scores for one query. FTS5 scores about a million rows a second; terms are taken from the rarest
# on until their document frequencies reach this. See docs/adr/0012.
ROW_BUDGET = 700
# A term in half of all texts says nothing (BM25's own rule). In a large store one in every tenth says little and costs
# most: FTS5 reads a term's whole list to weigh it.
LARGE_STORE, COMMON_SHARE = 5_000, 10
# Distinct terms of a query that are looked up, and those that are searched for, the rarest first.
MAX_TERMS_LOOKED_UP = 400
MAX_TERMS_SEARCHED = 48
# A store with so few texts is scored with a background of this many ordinary English ones, in half of which the common
# words occur. BM25's own constants are those of FTS5.
SMALL_STORE = 300
BACKGROUND_TEXTS = 500
BM25_K1, BM25_B = 1.2, 0.75
COMMON_WORDS = (
    "a about all also an and any are as at be been but by can could did do does for from get had has have he her him"
    " his how i if in into is it its just like me my no of on one or our out she should so some than that the their"
    " them then there they this to up us use was we were what when where which who why will with would you your"
)
# Weights of topics, labels, dates for the `fields` score; a word of a label counts half, as in the recorded benchmark.
_SCORES = "bm25(body_fts, 1, 0, 0, 0, 0) AS text, bm25(body_fts, 0, 1, 0.5, 1, 0) AS fields"

_SCORED = (
    f"SELECT num, text, fields FROM (SELECT rowid AS num, {_SCORES} FROM body_fts WHERE body_fts MATCH ?)"
    " ORDER BY text + fields, num LIMIT ?"
)

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
_PROGRESS_STEPS = 20_000


def visible(where: Filter) -> tuple[str, dict[str, Any]]:
    """The filter as SQL over `memory m`, and its bindings."""
    parts: list[str] = []
    bound: dict[str, Any] = {}

    def among(column: str, name: str, values: Iterable[str]) -> str:
        names = []
        for i, value in enumerate(values):
            bound[f"{name}{i}"] = value
            names.append(f":{name}{i}")
        return f"{column} IN ({', '.join(names)})"

    if where.scopes is not None:
        chosen = f"(SELECT num FROM scope WHERE {among('name', 'scope', where.scopes)})"
        # One scope is an equality, so that the indexes that begin with it also give the order.
        parts.append(f"m.scope = {chosen}" if len(where.scopes) == 1 else f"m.scope IN {chosen}")
    if where.states:
        parts.append(among("m.state", "state", where.states))
    if where.kinds:
        parts.append(among("m.kind", "kind", where.kinds))
    for i, topic in enumerate(where.topics):
        bound[f"topic{i}"] = topic
        parts.append(f"EXISTS (SELECT 1 FROM json_each(m.topics) WHERE value = :topic{i})")
    if where.session is not None:
        bound["session"] = where.session
        parts.append("m.session IN (SELECT num FROM session WHERE name = :session)")
    if where.since is not None:
        bound["since"] = where.since
        parts.append("m.valid_from >= :since")
    if where.until is not None:
        bound["until"] = where.until
        parts.append("m.valid_from < :until")
    if where.as_of is not None:
        bound["as_of"] = where.as_of
        parts.append("m.valid_from <= :as_of AND (m.valid_to IS NULL OR :as_of < m.valid_to)")
    if where.known_at is None:
        parts.append("m.retired_at IS NULL")
    else:
        bound["known_at"] = where.known_at
        parts.append("m.recorded_at <= :known_at AND (m.retired_at IS NULL OR :known_at < m.retired_at)")
    return " AND ".join(parts), bound


def filtered(name: str, where: Filter) -> tuple[str, dict[str, Any]]:
    """A named statement with the filter filled in."""
    condition, bound = visible(where)
    return statements()[name].replace("{visible}", condition), bound


def carray(numbers: Iterable[int]) -> Any:
    """Numbers as a table. None at all become one that no row has: an empty array is not aligned as SQLite wants."""
    return apsw.carray(array("q", numbers) or array("q", [-1]))


def candidates(con: apsw.Connection, bodies: Iterable[int], where: Filter) -> list[Candidate]:
    wanted = array("q", bodies)
    if not wanted:
        return []
    text, bound = filtered("candidates", where)
    bound["bodies"] = apsw.carray(wanted)
    return list(map(Candidate._make, con.execute(text, bound)))


def neighbours(con: apsw.Connection, nums: Iterable[int], where: Filter, reach: int) -> list[Candidate]:
    wanted = array("q", nums)
    if not wanted:
        return []
    text, bound = filtered("neighbours", where)
    bound |= {"nums": apsw.carray(wanted), "reach": reach}
    return list(map(Candidate._make, con.execute(text, bound)))


def substring(con: apsw.Connection, text: str, where: Filter, limit: int) -> list[int]:
    literal = text.strip()[:200].replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    if not literal:
        return []
    statement, bound = filtered("substring", where)
    bound |= {"pattern": f"%{literal}%", "limit": limit}
    return [row[0] for row in con.execute(statement, bound)]


class Lexical:
    """Full-text search on one connection, with its document frequencies cached until the store changes."""

    def __init__(self, con: apsw.Connection) -> None:
        self._con = con
        self._tokenize = con.fts5_tokenizer(*_TOKENIZER)
        self._frequencies: dict[str, int] = {}
        self._version = -1
        self._bodies = 0
        self._common: frozenset[str] = frozenset()

    def search(self, text: str, where: Filter, *, limit: int, version: int, deadline: float | None) -> LexicalResult:
        """Best bodies for any text whatever: its words are looked up, never interpreted.

        Two phases: rows come from the rarest terms, every term then counts in the BM25 of those rows.
        """
        if version != self._version:
            self._frequencies.clear()
            self._version = version
            self._bodies = self._con.execute("SELECT ifnull(max(num), 0) FROM body").get
        terms = self._terms(text)
        found = sorted((df, term) for term in terms if (df := self._frequency(term)))
        share = COMMON_SHARE if self._bodies > LARGE_STORE else 2
        useful = [(df, term) for df, term in found if df * share < self._bodies] or (found[:1] if share > 2 else found)
        useful = useful[:MAX_TERMS_SEARCHED]
        if not useful:
            return LexicalResult(hits=[], weight=0.0, terms=len(terms))
        absent = [stem for stem in terms if not self._frequency(stem)]
        rare, rows = 0, 0
        while rare < len(useful) and (rare == 0 or rows + useful[rare][0] <= ROW_BUDGET):
            rows += useful[rare][0]
            rare += 1
        words = [terms[term] for _, term in useful]
        expression, factor = _expression(words[:rare], words[rare:])
        scope_tokens = self._scope_tokens(where)
        if scope_tokens == []:
            return LexicalResult(hits=[], weight=0.0, terms=len(terms))
        if scope_tokens:
            expression = f"scope : ({' OR '.join(scope_tokens)}) AND ({expression})"
        if self._bodies <= SMALL_STORE:
            return self._small(expression, useful, absent, where, limit)
        weight = sum(max(1e-6, math.log((self._bodies - df + 0.5) / (df + 0.5))) for df, _ in useful)
        # The best are nearly always enough; when the filter takes most of them, all rows are looked at.
        for most in (limit + limit // 2, -1):
            scored, complete = self._scored(expression, most, deadline)
            hits = [LexicalHit(body, -text_score / factor, -fields / factor) for body, text_score, fields in scored]
            kept = self._passing(hits, where, limit)
            if len(kept) >= limit or len(scored) < most or not complete:
                break
        return LexicalResult(hits=kept, weight=weight, terms=len(terms), complete=complete)

    def _small(
        self, expression: str, useful: list[tuple[int, str]], absent: list[str], where: Filter, limit: int
    ) -> LexicalResult:
        """BM25 for a store of few texts, whose own document frequencies say nothing yet.

        They are smoothed with a background of ordinary English: there, common words are in half of all texts. Words
        that no text has count in what a perfect match is worth: one common word of a long question is no match.
        """
        total = self._bodies + BACKGROUND_TEXTS
        common = self._common_stems()

        def idf(df: int, stem: str) -> float:
            known = df + (BACKGROUND_TEXTS // 2 if stem in common else 0)
            return math.log1p((total - known + 0.5) / (known + 0.5))

        weights = {stem: idf(df, stem) for df, stem in useful}
        rows = self._con.execute(
            "SELECT num, content, concat_ws(' ', topics, labels, dates) FROM body"
            " WHERE num IN (SELECT rowid FROM body_fts WHERE body_fts MATCH ?)",
            (expression,),
        ).fetchall()
        counts = [(row[0], self._count(row[1], weights), self._count(row[2], weights)) for row in rows]
        mean = sum(size for _, (_, size), _ in counts) / max(1, len(counts)) or 1.0
        hits = []
        for body, (found, size), (named, _) in counts:
            norm = BM25_K1 * (1 - BM25_B + BM25_B * size / mean)
            text = sum(weights[stem] * n * (BM25_K1 + 1) / (n + norm) for stem, n in found.items())
            fields = sum(weights[stem] for stem in named)
            hits.append(LexicalHit(body, text, fields))
        hits.sort(key=lambda hit: (-(hit.text + hit.fields), hit.body))
        kept = self._passing(hits, where, limit)
        return LexicalResult(
            hits=kept,
            weight=sum(weights.values()) + sum(idf(0, stem) for stem in absent),
            terms=len(useful) + len(absent),
        )

    def _count(self, text: str, stems: Mapping[str, float]) -> tuple[dict[str, int], int]:
        """How often each of the stems occurs in a text, and how many words the text has."""
        found: dict[str, int] = {}
        size = 0
        for stem in self._tokenize(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False):
            size += 1
            if stem[0] in stems:
                found[stem[0]] = found.get(stem[0], 0) + 1
        return found, size

    def _common_stems(self) -> frozenset[str]:
        if not self._common:
            tokens = self._tokenize(COMMON_WORDS.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False)
            self._common = frozenset(token[0] for token in tokens)
        return self._common

    def _terms(self, text: str) -> dict[str, str]:
        """Stem -> the word as it was written, for the first terms of the text."""
        raw = text.encode("utf-8", "replace")
        found: dict[str, str] = {}
        for start, end, *stems in self._tokenize(raw, apsw.FTS5_TOKENIZE_QUERY, None):
            if stems[0] not in found:
                if len(found) >= MAX_TERMS_LOOKED_UP:
                    break
                found[stems[0]] = raw[start:end].decode("utf-8", "replace")
        return found

    def _frequency(self, stem: str) -> int:
        known = self._frequencies.get(stem)
        if known is None:
            known = self._con.execute("SELECT doc FROM body_terms WHERE term = ?", (stem,)).get or 0
            self._frequencies[stem] = known
        return known

    def _scope_tokens(self, where: Filter) -> list[str] | None:
        """Index tokens that restrict the search to small scopes; None when the scopes hold most rows anyway."""
        if where.scopes is None:
            return None
        names = ", ".join("?" * len(where.scopes))
        tokens = [
            f"s{row[0]}" for row in self._con.execute(f"SELECT num FROM scope WHERE name IN ({names})", where.scopes)
        ]
        if sum(map(self._frequency, tokens)) * 2 > self._bodies:
            return None
        return tokens

    def _scored(
        self, expression: str, most: int, deadline: float | None
    ) -> tuple[list[tuple[int, float, float]], bool]:
        """(body, text score, fields score) best first, lower is better as FTS5 has it; at most `most`, -1 = all."""
        if deadline is not None:
            self._con.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
        try:
            return self._con.execute(_SCORED, (expression, most)).fetchall(), True
        except apsw.InterruptError:
            return [], False
        finally:
            if deadline is not None:
                self._con.set_progress_handler(None)

    def _passing(self, hits: list[LexicalHit], where: Filter, limit: int) -> list[LexicalHit]:
        """The first `limit` hits that pass the filter, looked at in ever larger steps until there are enough."""
        kept: list[LexicalHit] = []
        start, step = 0, limit + limit // 4
        statement, bound = filtered("passing", where)
        while start < len(hits) and len(kept) < limit:
            part = hits[start : start + step]
            bound["bodies"] = carray(hit.body for hit in part)
            passing = {row[0] for row in self._con.execute(statement, bound)}
            kept += [hit for hit in part if hit.body in passing]
            start += step
            step *= 2
        return kept[:limit]


def _expression(rare: list[str], common: list[str]) -> tuple[str, int]:
    """FTS5 expression whose rows come from the rare words, and the factor by which it multiplies BM25.

    `(rare) AND (rare OR common OR common)`: FTS5 counts a phrase once for every place in the expression, so rare and
    common words both count twice; the common ones are looked up only in the rows of the rare ones.
    """
    quoted = [f'"{word}"' for word in (w.replace('"', '""') for w in rare)]
    if not common:
        return " OR ".join(quoted), 1
    twice = [f'"{word}" OR "{word}"' for word in (w.replace('"', '""') for w in common)]
    return f"({' OR '.join(quoted)}) AND ({' OR '.join(quoted + twice)})", 2
