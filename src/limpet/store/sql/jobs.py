"""The queues: texts and other work for a worker, pairs of memories for a person; and a model's verdicts on pairs.

Jobs are leased, so that a killed worker's jobs come back; failed ones wait longer, and at last are dead. A text that no
worker has taken has no row yet: it waits because its number is above `taken.through`, so a write does not touch the
queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.ids import short_id
from ...model.memory import GLOBAL_SCOPE
from ..records import AGAIN, ALL, INTERRUPTED, OBJECTION, PARTS, Job, Proposal, Relation
from .memories import scope_list
from .statements import statements
from .store import Connection, Database, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.events import Event

EMBED = "embed"
FLUSH = "flush"  # empty the log of what was purged: a reader kept it
# Texts that wait without a row of their own; those that were put in by hand as well have one.
_UNTAKEN = (
    "SELECT b.num FROM body b WHERE b.num > (SELECT through FROM taken)"
    f" AND NOT EXISTS (SELECT 1 FROM job j WHERE j.kind = '{EMBED}' AND j.subject = b.num)"
)
_AMONG = "AND subject IN (SELECT value FROM carray(:subjects))"
# Of texts that wait: those of some scopes, or all.
_IN_SCOPES = (
    "(?4 IS NULL OR EXISTS (SELECT 1 FROM json_each(?4) j JOIN scope s ON s.name = j.value"
    " JOIN body b ON b.num = due.num AND CAST(substr(b.scope, 2) AS INTEGER) = s.num))"
)
# Characters in a row that a line has in common with a text which it quotes; a text is cut at every eighth, so that 23
# are always found.
QUOTED, EVERY = 16, 8
# Lines of the journal and reasons of objections: (id, scope, text), and how one is removed.
_MAY_QUOTE = (
    ("SELECT num, scope, what FROM journal", "DELETE FROM journal WHERE num = ?"),
    ("SELECT r.id, s.name, r.reason FROM review r JOIN scope s ON s.num = r.scope"
     f" WHERE r.kind = '{OBJECTION}'", "DELETE FROM review WHERE id = ?"),
)  # fmt: skip


class Jobs(Repository):
    def enqueue(self, kind: str, subjects: Sequence[int], at: int) -> int:
        return self._change(statements()["insert_job"], [(kind, subject, at) for subject in subjects], many=True)

    def lease(
        self, kind: str, subjects: Sequence[int] | None = None, *, at: int, until: int, limit: int = ALL
    ) -> list[Job]:
        """Lease jobs that are free now, the first `limit` of all or of some subjects, in their order."""
        bound = {"kind": kind, "limit": limit, "at": at, "until": until}
        statement = statements()["lease_jobs"].replace("{among}", "" if subjects is None else _AMONG)
        if subjects is not None:
            bound["subjects"] = self._database.numbers(subjects)
        with self._database.writing() as con:
            if kind == EMBED:
                _take(con, limit=limit, through=None if subjects is None else max(subjects, default=0))
            return sorted(map(Job._make, con.execute(statement, bound).fetchall()))

    def due(
        self, at: int, *, first: Sequence[int], most: int, scopes: Sequence[str] | None = None
    ) -> tuple[list[int], list[int]]:
        """Return texts whose vectors could be made now, at most `most`: those of `first` that wait, in order, and the
        newest others. `scopes`: of these alone."""
        waits = (
            f"SELECT subject AS num FROM job WHERE kind = '{EMBED}' AND state = 'waiting' AND not_before <= ?1"
            f" AND leased_until <= ?1 UNION ALL {_UNTAKEN}"
        )
        rows = self._database.rows(
            f"SELECT num, num IN (SELECT value FROM carray(?2)) AS asked FROM ({waits}) AS due WHERE {_IN_SCOPES}"
            " ORDER BY asked DESC, num DESC LIMIT ?3",
            (at, self._database.numbers(first), most, scope_list(scopes)),
        )
        due = dict(rows)
        return [num for num in first if num in due], [num for num, asked in rows if not asked]

    def unchecked(self, rows: Sequence[int]) -> list[int]:
        """Return those of some memories' rows whose texts wait for a vector or to be compared."""
        pending = self._database.rows(
            "SELECT m.num FROM memory m WHERE m.num IN (SELECT value FROM carray(?)) AND"
            " (m.body > (SELECT through FROM taken) OR EXISTS (SELECT 1 FROM job j WHERE j.subject = m.body"
            " AND j.kind IN ('embed', 'duplicates') AND j.state = 'waiting'))",
            (self._database.numbers(rows),),
        )
        return [row[0] for row in pending]

    def finish(self, kind: str, subjects: Sequence[int]) -> None:
        """Remove jobs that are done, or no longer needed."""
        with self._database.writing() as con:
            if kind == EMBED and subjects:
                _take(con, through=max(subjects))
            done = "DELETE FROM job WHERE kind = ? AND subject IN (SELECT value FROM carray(?))"
            con.execute(done, (kind, self._database.numbers(subjects)))

    def fail(self, kind: str, subjects: Sequence[int], *, error: str, not_before: int, dead: bool) -> None:
        with self._database.writing() as con:
            con.execute(
                "UPDATE job SET state = ?, error = ?, not_before = ?, leased_until = 0"
                " WHERE kind = ? AND subject IN (SELECT value FROM carray(?))",
                ("dead" if dead else "waiting", error[:500], not_before, kind, self._database.numbers(subjects)),
            )

    def backlog(self, kind: str, at: int, *, most: int | None = None, scopes: Sequence[str] | None = None) -> int:
        """Count the jobs that could be taken now, up to `most`. `scopes`: about texts of these alone."""
        untaken = f" UNION ALL {_UNTAKEN}" if kind == EMBED else ""
        ((count,),) = self._database.rows(
            "SELECT count(*) FROM (SELECT 1 FROM (SELECT subject AS num FROM job WHERE kind = ?1 AND state = 'waiting'"
            f" AND not_before <= ?2 AND leased_until <= ?2{untaken}) AS due WHERE {_IN_SCOPES} LIMIT ?3) AS counted",
            (kind, at, ALL if most is None else most, scope_list(scopes)),
        )
        return int(count)

    def busy(self, kind: str, at: int) -> bool:
        """Return whether a worker holds a lease on such a job."""
        leased = "SELECT subject FROM job WHERE kind = ? AND state = 'waiting' AND leased_until > ? LIMIT 1"
        return bool(self._database.rows(leased, (kind, at)))

    def dead(self) -> list[Job]:
        rows = self._database.rows("SELECT kind, subject, attempts, error FROM job WHERE state = 'dead' LIMIT 100")
        return list(map(Job._make, rows))

    def last_error(self, kind: str) -> str | None:
        """Return the latest error among the jobs that wait or are dead."""
        rows = self._database.rows(
            "SELECT error FROM job WHERE kind = ? AND error IS NOT NULL AND error <> ?"
            " ORDER BY not_before DESC, subject LIMIT 1",
            (kind, INTERRUPTED),
        )
        return rows[0][0] if rows else None

    def revive(self) -> int:
        """Retry dead jobs, and those that wait longer after a failure, at once. Return how many they are."""
        return self._change(
            "UPDATE job SET state = 'waiting', attempts = 0, not_before = 0, leased_until = 0"
            " WHERE state = 'dead' OR (error IS NOT NULL AND not_before > 0 AND leased_until = 0)"
        )


def _take(con: Connection, *, limit: int = ALL, through: int | None = None) -> None:
    """Add rows for texts that wait without one: for the next `limit`, or for all up to `through`."""
    last = con.execute(
        "SELECT max(num) FROM (SELECT num FROM body WHERE num > (SELECT through FROM taken)"
        " AND num <= ? ORDER BY num LIMIT ?) AS next",
        (ALL if through is None else through, limit),
    ).get
    if last is None:
        return
    con.execute(
        "INSERT INTO job (kind, subject, not_before) SELECT ?, num, 0 FROM body"
        " WHERE num > (SELECT through FROM taken) AND num <= ? ON CONFLICT DO NOTHING",
        (EMBED, last),
    )
    con.execute("UPDATE taken SET through = ?", (last,))


def forget(con: Connection, body: int) -> None:
    """Remove a text's jobs. A later text with its number must wait like any new one."""
    con.execute("DELETE FROM job WHERE kind IN (?, ?, ?) AND subject = ?", (EMBED, AGAIN, PARTS, body))
    con.execute("UPDATE taken SET through = min(through, (SELECT coalesce(max(num), 0) FROM body))")


def refill(con: Connection) -> None:
    """Queue jobs for exactly the texts that lack a vector; those tried already keep their row."""
    con.execute(
        "INSERT INTO job (kind, subject, not_before) SELECT ?, num, 0 FROM body"
        " WHERE num <= (SELECT through FROM taken) ON CONFLICT DO NOTHING",
        (EMBED,),
    )
    con.execute(
        "DELETE FROM job WHERE kind = ? AND (subject IN (SELECT body FROM vector WHERE part = 0)"
        " OR subject IN (SELECT subject FROM job WHERE kind = ?))",
        (EMBED, AGAIN),
    )


def waiting(con: Connection) -> int:
    """Return texts that wait for their vectors, now or later."""
    rows = "SELECT subject FROM job WHERE kind IN (?, ?) AND state = 'waiting'"
    return int(con.execute(f"SELECT count(*) FROM ({rows} UNION ALL {_UNTAKEN}) AS waiting", (EMBED, AGAIN)).get)


def after_purge(database: Database, con: Connection, erased: Mapping[bytes, Sequence[Event]]) -> None:
    """Clean up in the transaction of a purge: remove what may quote the erased text, and rebuild the index.

    Of the scopes that the memories were ever in every line of the journal goes, of others those that hold QUOTED
    characters of a text. `erased`: the events of each memory as they were.
    """
    state = "SELECT state FROM memory WHERE id = ? AND retired_at IS NULL"
    events = [event for id in erased if con.execute(state, (id,)).get == "purged" for event in erased[id]]
    scopes = {event.data[name] for event in events for name in ("scope", "was") if name in event.data}
    pieces = {piece for event in events for piece in _runs(event.content or "", EVERY)}
    short = [piece for piece in pieces if 0 < len(piece) < QUOTED] if GLOBAL_SCOPE in scopes else []
    for lines, drop in _MAY_QUOTE:
        dropped = [
            (id,) for id, scope, text in con.execute(lines).fetchall()
            if scope in scopes or not pieces.isdisjoint(_runs(text, 1)) or any(part in _folded(text) for part in short)
        ]  # fmt: skip
        con.executemany(drop, dropped)
    flush_later(con)
    database.index.purged(con)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _runs(text: str, step: int) -> set[str]:
    """Return runs of QUOTED characters of a text, one every `step`; of a shorter text itself."""
    folded = _folded(text)
    return {folded[at : at + QUOTED] for at in range(0, max(1, len(folded) - QUOTED + 1), step)}


def flush_later(con: Connection) -> None:
    """Leave the log of erased bytes to the next worker, unless `flush` has emptied it by then."""
    con.execute("INSERT INTO job (kind, subject, not_before) VALUES (?, 0, 0) ON CONFLICT DO NOTHING", (FLUSH,))


def flush(database: Database, *, seconds: float) -> bool:
    """Empty the log of erased bytes, waiting so long for readers of the old state. Return False if one remains; then a
    job of the queue does it."""
    done = database.flush_erased(seconds=seconds)
    if done and database.rows("SELECT 1 FROM job WHERE kind = ?", (FLUSH,)):
        with database.writing() as con:
            con.execute("DELETE FROM job WHERE kind = ?", (FLUSH,))
    return done


class Relations(Repository):
    """The relations of newer memories to older ones, by a model that read both, without those that a person rejected in
    review; and of a memory to itself what it weighs. They are made from texts and never part of the ledger."""

    def add(self, relations: Sequence[Relation]) -> None:
        """Keep verdicts; a later one about the same pair takes the place of the earlier."""
        with self._database.writing() as con:
            con.executemany(
                "INSERT INTO relation (older, newer, relation, level, probability, model) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (older, newer) DO UPDATE SET relation = excluded.relation, level = excluded.level,"
                " probability = excluded.probability, model = excluded.model",
                relations,
            )

    def of(self, ids: Sequence[bytes]) -> list[Relation]:
        """Return all verdicts about some memories, as the older or the newer one."""
        return list(map(Relation._make, self._ask("relations", ids=self._database.ids(ids)))) if ids else []

    def same_as(self, id: bytes) -> dict[bytes, float]:
        """Return the memories that a model took for the same as one, with the probability."""
        links = [link for link in self.of([id]) if link.relation == "same"]
        return {link.older if link.newer == id else link.newer: link.probability for link in links}

    def weights(self, ids: Sequence[bytes]) -> dict[bytes, float]:
        """Return what some memories weigh, 0 to 1, those that were read."""
        return dict(self._ask("weights", ids=self._database.ids(ids))) if ids else {}

    def newer_texts(self, bodies: Sequence[int]) -> list[int]:
        """Return texts of the memories that replaced, ended or resolved those which have some texts."""
        return [row[0] for row in self._ask("newer_texts", bodies=self._database.numbers(bodies))] if bodies else []

    def counts(self) -> list[tuple[str, str, str, int]]:
        """Return (model, relation, level, how many), in order."""
        return self._database.rows(
            "SELECT model, relation, level, count(*) FROM relation WHERE older <> newer"
            " GROUP BY model, relation, level ORDER BY 1, 2, 3",
            {},
        )

    def drop(self) -> int:
        """Forget every verdict. Returns how many there were."""
        return self._change("DELETE FROM relation")


class Reviews(Repository):
    """Proposals about pairs of memories, which wait for a person."""

    def get(self, id: bytes) -> Proposal | None:
        rows = self._ask("proposal", id=id)
        return Proposal(*rows[0]) if rows else None

    def propose(self, proposals: Sequence[Proposal]) -> int:
        """Add proposals to the list, one for each pair, unless it was decided before. Return how many are new."""
        return self._change(
            "INSERT INTO review (id, kind, scope, memory, other, reason, score, created_at)"
            " VALUES (?, ?, (SELECT num FROM scope WHERE name = ?), ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [proposal[:8] for proposal in proposals],
            many=True,
        )

    def withdraw(self, kind: str, among: Sequence[bytes]) -> int:
        """Remove waiting proposals of a kind about two memories that are both among these. Return how many."""
        return self._change(statements()["withdraw"], {"kind": kind, "ids": self._database.ids(among)})

    def replace(self, proposal: Proposal) -> None:
        """Replace what waits of its kind about its pair by this proposal, in one transaction."""
        with self._database.writing():  # those inside are parts of it
            self.withdraw(proposal.kind, [proposal.memory, proposal.other])
            self.propose([proposal])

    def waiting(self, scopes: Sequence[str], *, limit: int, kind: str | None = None) -> list[Proposal]:
        """Return waiting proposals (of one kind), oldest first, whose memories are both still active."""
        proposals = [
            Proposal(*row) for scope in scopes for row in self._ask("proposals", scope=scope, limit=limit, kind=kind)
        ]
        return sorted(proposals, key=lambda proposal: (proposal.created_at, proposal.id))[:limit]

    def named(self, text: str, scopes: Sequence[str]) -> list[bytes]:
        """Return the proposals of some scopes that an id, a short id or the beginning of an id names, a dozen at most.

        Raises BadInput.
        """
        return self._named(text, "proposals_named", scopes=scope_list(scopes))

    def abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        """Return short ids of proposals and memories, each long enough to be unique among all of them."""
        if not ids:
            return []
        bound = {"ids": self._database.ids(ids)}
        items = [row[0] for row in self._ask("items_like", **bound)]
        around = self._ask("ids_around", **bound)
        return [short_id(id, [*items, *(other for other in near if other)]) for id, *near in around]
