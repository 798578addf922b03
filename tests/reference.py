"""A reference store in plain Python: the contract's reads and its write door, slow and obviously right.

It keeps the ledger as a list and answers every question by folding it anew. SQLite is held to it by
tests/property/test_state_machine.py and tests/contract/. Full text, vectors, the queue and the care of a file are not
here: tests/contract/ asks the engines that have them. What is searched in arrays is (tests/reference_feed.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

from limpet.checkout import checkout_of
from limpet.model.clock import to_datetime
from limpet.model.edges import Edge, live_edges
from limpet.model.errors import AmbiguousId, BadInput, NotFound
from limpet.model.events import Event
from limpet.model.ids import format_id, named_by, parse_id, short_id
from limpet.model.memory import Memory, caseless
from limpet.model.state import MemoryState, replay, scrub
from limpet.store.arrays.following import FollowingArrays
from limpet.store.contract import Decide
from limpet.store.records import (
    Action,
    Candidate,
    ExposureRow,
    Filter,
    Lately,
    Page,
    Proposal,
    Source,
    TurnRow,
    UseCount,
)
from limpet.text.describe import describe
from tests.reference_feed import ReferenceFeed


class Version(NamedTuple):
    """One version of a memory. `num`: place of the event that began it; `text_id`: of its text among all texts."""

    num: int
    text_id: int | None
    memory: Memory


class ReferenceStore:
    """Ledger, memories, listings, filters and use counts of the contract, in memory."""

    path = ":reference:"
    read_only = False
    begun = True

    def __init__(self) -> None:
        self._ledger: list[Event] = []
        self._text_ids: dict[int, int] = {}  # of the event that said a text -> its place
        self._uses: dict[bytes, dict[str, int]] = {}
        self._journal: list[Action] = []
        self._sources: dict[tuple[str, str], tuple[Source, bool]] = {}
        self._exposed: list[ExposureRow] = []
        self.ledger = SimpleNamespace(
            commit=self._commit,
            append=self._append_events,
            resolve=self._resolve_event,
            events=self._events,
            operation=self._operation,
            undone=lambda memories: [one for one in self._ledger if one.type == "undone" and one.memory in memories],
            newest=self._newest,
            abbreviate=lambda ids: [short_id(id, [event.id for event in self._ledger]) for id in ids],
        )
        self.memories = SimpleNamespace(
            resolve=self._resolve,
            get=self._get,
            versions=self._history,
            same_statement=self._same_statement,
            stated_before=self._stated_before,
            with_fingerprints=self._marked,
            keyed=self._keyed,
            renamed_key=self._renamed_key,
            keys=self._keys,
            abbreviate=self._abbreviate,
            by_rows=self._memories,
            disputed=self._disputed,
        )
        self.reviews = SimpleNamespace(
            named=self._proposals_named,
            propose=self._propose,
            replace=lambda one: self._propose([one]),
        )
        self.sessions = SimpleNamespace(
            next_position=self._next_position,
            turns=self._turns,
        )
        # There are no files: what a purge does beyond the rows is nothing.
        self.erasure = SimpleNamespace(
            beyond="",
            flush=lambda seconds: True,
            replaced_by=lambda ids: [],
            sessions_only_of=lambda ids: [],
            pieces=lambda ids: ([], []),
            scour=lambda pieces: False,
            replaced_stores=list,
            note_copy=lambda path, kind, at: None,
            copies=list,
        )
        self.edges = SimpleNamespace(
            between=self._edge,
            reaches=self._reaches,
        )
        self.listings = SimpleNamespace(
            count=self._count,
            recent=self._recent,
            page=self._page,
            standing=self._standing,
            lately=self._lately,
            most_used=self._most_used,
            unseen=self._unseen,
            count_kinds=self._count_kinds,
            count_scopes=self._count_scopes,
            count_by=self._count_by,
            scope_names=lambda: sorted({one.memory.scope for one in self._known(None)}),
            standing_out=self._standing_out,
        )
        self.search = SimpleNamespace(
            allowed=self._allowed,
            texts_of=self._bodies_of,
            substring=self._substring,
            candidates=self._candidates,
            neighbours=self._neighbours,
            arrays=FollowingArrays(lambda: ReferenceFeed(self)),
        )
        self.usage = SimpleNamespace(
            record=self._record_use,
            rows=self._usage_rows,
            restore=self._restore_usage,
        )
        self.journal = SimpleNamespace(
            note=self._note_action,
            lines=self._actions,
            numbered=self._numbered_actions,
            drop=self._drop_actions,
        )
        self.sources = SimpleNamespace(
            get=self._source,
            keep=self._keep_source,
            announce=self._name_source,
            waiting=self._named_sources,
        )
        self.exposures = SimpleNamespace(
            note=self._note_exposures,
            latest=self._exposures,
            counts=self._use_counts,
            began_with=self._began_with,
        )

        self._claimed: dict[str, str] = {}
        self.checkouts = SimpleNamespace(
            scope_of=lambda folder: self._claimed.get(checkout_of(folder).place, checkout_of(folder).scope),
            claim=lambda checkout, scope, at: self._claimed.setdefault(checkout.place, scope),
        )

    def close(self) -> None:
        pass

    def _commit(self, decide: Decide) -> list[Event]:
        written = self._append(decide(self))
        if any(event.type == "purged" for event in written):
            self._journal = []
        return written

    def _append_events(self, events: Iterable[Event], progress: Callable[[int], None] | None = None) -> int:
        known = {event.id for event in self._ledger}
        return len(self._append([event for event in events if event.id not in known]))

    def _append(self, events: Sequence[Event]) -> list[Event]:
        before, written = list(self._ledger), []
        for event in events:
            if event.type not in {"remembered", "linked"} and not self._history(event.memory):
                self._ledger = before
                raise BadInput(f"event {event.id.hex()} changes a memory that is not there")
            written.append(replace(event, seq=len(self._ledger) + 1))
            self._ledger.append(written[-1])
            if event.content is not None:
                self._text_ids[len(self._ledger)] = len(self._text_ids) + 1
        gone = {event.memory for event in written if event.type == "purged"}
        self._ledger = [scrub(event) if event.memory in gone else event for event in self._ledger]
        self._uses = {id: row for id, row in self._uses.items() if id not in gone}
        return written

    # -- reads

    def _resolve(self, text: str, scopes: Sequence[str] | None = None) -> bytes:
        return self._the_only(text, sorted({event.memory for event in self._ledger if self._in(event, scopes)}))

    def _resolve_event(self, text: str) -> bytes:
        return self._the_only(text, [event.id for event in self._ledger])

    @staticmethod
    def _the_only(text: str, ids: Sequence[bytes]) -> bytes:
        def ask(how: str, low: bytes, high: bytes) -> list[bytes]:
            return [id for id in ids if low <= (id[-5:] if how == "short" else id) <= high]

        found = named_by(text, ask)
        if len(found) != 1:
            raise NotFound(text) if not found else AmbiguousId(text, [format_id(id) for id in found])
        return found[0]

    def _get(self, id: bytes, *, known_at: int | None = None) -> Memory | None:
        versions = self._history(id)
        if known_at is None:
            return versions[-1] if versions else None
        known = [one for one in versions if one.recorded_at_us <= known_at]
        return known[-1] if known and (known[-1].retired_at_us is None or known_at < known[-1].retired_at_us) else None

    def _history(self, id: bytes) -> list[Memory]:
        return [version.memory for version in self._versions(id)]

    def _versions(self, id: bytes) -> list[Version]:
        """Fold every prefix of the memory's events; a version begins wherever the state changes."""
        events = [event for event in self._ledger if event.memory == id and event.type != "linked"]
        purged = next((event for event in events if event.type == "purged"), None)
        if purged is not None:
            state = replay(events)
            return [] if state is None else [Version(purged.seq, None, self._shown(state, purged.at))]
        versions: list[Version] = []
        last: MemoryState | None = None
        for count, event in enumerate(events, 1):
            state = replay(events[:count])
            if state is None or state == last:
                continue
            if versions:
                ended = versions[-1]
                versions[-1] = ended._replace(memory=replace(ended.memory, retired_at_us=event.at))
            said = [one.seq for one in events[:count] if one.content is not None and one.content == state.content]
            versions.append(Version(event.seq, self._text_ids[max(said)], self._shown(state, event.at)))
            last = state
        return versions

    def _current(self) -> list[Memory]:
        return [version.memory for version in self._known(None)]

    def _known(self, at: int | None) -> list[Version]:
        """The version of each memory that the store held at `at` (None: now), in order of first mention."""
        found = []
        for id in dict.fromkeys(event.memory for event in self._ledger):
            now = self._get(id, known_at=at)
            found += [version for version in self._versions(id) if version.memory == now][-1:]
        return found

    def _same_statement(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        for one in self._current():
            if (
                one.scope == scope
                and one.state == "active"
                and (one.valid_to_us is None or at < one.valid_to_us)
                and self._mark(one) == fingerprint
            ):
                return one
        return None

    def _stated_before(self, scope: str, fingerprint: int, at: int) -> Memory | None:
        if (held := self._same_statement(scope, fingerprint, at)) is not None:
            return held
        replaced = [
            one
            for one in self._current()
            if (one.scope, one.state, self._mark(one)) == (scope, "active", fingerprint)
            and one.superseded_by
            and one.valid_to_us is not None
            and one.valid_to_us <= at
        ]
        return max(replaced, key=lambda one: one.created_at_us, default=None)

    def _marked(self, fingerprints: Sequence[int]) -> set[int]:
        return {mark for one in self._current() if one.state == "active" and (mark := self._mark(one)) in fingerprints}

    def _mark(self, memory: Memory) -> int | None:
        state = replay([event for event in self._ledger if event.memory == parse_id(memory.id)])
        return None if state is None else describe(state).fingerprint

    def _keyed(self, scope: str, key: str, *, known_at: int | None = None) -> list[Memory]:
        ids = dict.fromkeys(event.memory for event in self._ledger)
        known = [memory for id in ids if (memory := self._get(id, known_at=known_at))]
        found = [one for one in known if one.scope == scope and one.key == key and one.state == "active"]
        return sorted(found, key=lambda one: (one.valid_from_us, one.created_at_us, one.id))

    def _proposals_named(self, text: str, scopes: Sequence[str] | None = None) -> list[bytes]:
        return []

    def _propose(self, proposals: Sequence[Proposal]) -> int:
        return 0  # what background checks and links propose is asked of the engines that keep it

    def _renamed_key(self, scope: str, key: str) -> str | None:
        once = [
            (one.retired_at_us, one.num, now.key)
            for now in self._current()
            if now.scope == scope and now.state == "active" and now.key not in (None, key)
            for one in self._history(parse_id(now.id))
            if one.key == key and one.retired_at_us is not None
        ]
        return max(once)[2] if once else None

    def _keys(self, scope: str) -> list[str]:
        return sorted({one.key for one in self._current() if one.scope == scope and one.key and one.state == "active"})

    def _turns(self, scope: str, name: str, *, limit: int) -> list[TurnRow]:
        said = [
            one
            for one in self._current()
            if (one.scope, one.session, one.kind, one.key) == (scope, name, "episode", None) and one.speaker
        ]
        said.sort(key=lambda one: (one.position, one.created_at_us, one.id))
        return [TurnRow(parse_id(one.id), self._mark(one), one.valid_from_us, one.state) for one in said][-limit:]

    def _next_position(self, scope: str, session: str) -> int:
        taken = [one.position for one in self._current() if (one.scope, one.session) == (scope, session)]
        return max(taken, default=0) + 1

    def _events(
        self, *, memory: bytes | None = None, after: int = 0, ids: Sequence[bytes] | None = None
    ) -> Iterator[Event]:
        for event in self._ledger:
            if (memory is None or event.memory == memory) and event.seq > after and (ids is None or event.id in ids):
                yield event

    def _operation(self, event: bytes | None, scopes: Sequence[str] | None = None) -> list[Event]:
        seen = [one for one in self._ledger if self._in(one, scopes) or one.data.get("was") in (scopes or ())]
        wanted = next((one for one in reversed(seen) if event in (None, one.id)), None)
        if wanted is None:
            return []
        whole = [one for one in self._ledger if one.operation == wanted.operation]
        return whole if self._moves(whole) else [one for one in whole if one in seen]

    def _moves(self, events: Sequence[Event]) -> bool:
        undone = {event.data["undoes"] for event in events if event.type == "undone"}
        earlier = [event for event in self._ledger if event.id.hex() in undone]
        return any(event.type == "moved" for event in events) or (bool(earlier) and self._moves(earlier))

    def _in(self, event: Event, scopes: Sequence[str] | None) -> bool:
        versions = self._versions(event.memory)
        of_session = (one.data["scope"] for one in self._ledger if one.memory == event.memory and "scope" in one.data)
        return scopes is None or (versions[-1].memory.scope if versions else next(of_session, None)) in scopes

    def _abbreviate(self, ids: Sequence[bytes]) -> list[str]:
        known = {event.memory for event in self._ledger}
        return [short_id(id, known) for id in ids]

    def _told_in(self, event: Event, scopes: Sequence[str] | None) -> bool:
        """Of these scopes, or of a memory that left one of them."""
        return self._in(event, scopes) or (scopes is not None and event.data.get("was") in scopes)

    def _newest(self, scopes: Sequence[str] | None, *, before: int | None = None, limit: int) -> list[Event]:
        seen = [event for event in self._ledger if self._told_in(event, scopes)]
        return [event for event in reversed(seen) if before is None or event.seq < before][:limit]

    # -- filters and listings

    def _passing(self, where: Filter) -> list[Version]:
        return [one for one in self._known(where.known_at) if self._passes(one.memory, where)]

    def _edge(self, source: bytes, type: str, target: bytes) -> Edge | None:
        made = self._links(source).get((type, target))
        return made and Edge(source, type, target, made.data.get("weight", 1.0), made.id, made.at)

    def _reaches(self, type: str, start: bytes, goal: bytes) -> bool:
        reached, left = {start}, [start]
        while left:
            more = {target for kind, target in self._links(left.pop()) if kind == type} - reached
            reached |= more
            left += more
        return goal in reached

    def links(self, known_at: int | None = None) -> dict[tuple[bytes, str, bytes], float]:
        """(source, type, target) -> weight of every link, as the store knew it then."""
        known = [event for event in self._ledger if known_at is None or event.at <= known_at]
        return {
            (source, type, target): made.data.get("weight", 1.0)
            for source in {event.memory for event in known}
            for (type, target), made in live_edges(event for event in known if event.memory == source).items()
        }

    def _links(self, source: bytes) -> dict[tuple[str, bytes], Event]:
        return live_edges(event for event in self._ledger if event.memory == source)

    def _count(self, where: Filter) -> int:
        return len(self._passing(where))

    def _allowed(self, where: Filter) -> list[int]:
        return [one.text_id for one in self._passing(where) if one.text_id is not None]

    def _recent(self, where: Filter, *, limit: int) -> list[int]:
        newest = sorted(self._passing(where), key=lambda one: (one.memory.created_at_us, one.memory.id), reverse=True)
        return [one.text_id for one in newest if one.text_id is not None][:limit]

    def _bodies_of(self, ids: Sequence[bytes]) -> list[int]:
        current = {parse_id(one.memory.id): one.text_id for one in self._known(None)}
        return [body for id in ids if (body := current.get(id)) is not None]

    def _substring(self, text: str, where: Filter, *, limit: int, deadline: float | None = None) -> list[int]:
        wanted = text.strip().casefold()
        holding = [
            one for one in self._passing(where) if one.text_id is not None and wanted in one.memory.content.casefold()
        ]
        return sorted({one.text_id for one in holding}, reverse=True)[:limit] if wanted else []

    def _candidates(self, bodies: Iterable[int], where: Filter) -> list[Candidate]:
        wanted = set(bodies)
        return [_candidate(one) for one in self._passing(where) if one.text_id in wanted]

    def _neighbours(self, nums: Iterable[int], where: Filter, *, reach: int) -> list[Candidate]:
        ids = dict.fromkeys(event.memory for event in self._ledger)
        given = [one for id in ids for one in self._versions(id) if one.num in set(nums)]
        return [
            _candidate(one)
            for one in self._passing(where)
            if one.text_id is not None and any(_near(one, other, reach) for other in given)
        ]

    def _memories(self, nums: Sequence[int]) -> list[Memory]:
        ids = dict.fromkeys(event.memory for event in self._ledger)
        every = {one.num: one.memory for id in ids for one in self._versions(id)}
        return [every[num] for num in nums]

    def _page(self, where: Filter, *, sort: str, limit: int, cursor: str | None, descending: bool = True) -> Page:
        """By use, memories that were never used follow the others, newest first. The cursor is the last one's place."""
        places: dict[str, Callable[[Memory], tuple[int, int]]] = {
            "created": lambda one: (0, one.created_at_us),
            "updated": lambda one: (0, one.recorded_at_us),
            "used": lambda one: (0, one.used_at_us) if one.used_at_us else (1, one.created_at_us),
            "uses": lambda one: (0, one.uses) if one.uses else (1, one.created_at_us),
        }
        if sort not in places:
            raise BadInput(f"unknown sort: {sort!r}")
        rows = [(*places[sort](version.memory), version.memory.id, version.memory) for version in self._passing(where)]
        rows.sort(key=lambda row: row[1:3], reverse=descending)
        rows.sort(key=lambda row: row[0])
        if cursor is not None:
            stage, value, id = self._read_cursor(cursor, sort)
            rows = [
                row
                for row in rows
                if row[0] > stage
                or (row[0] == stage and (row[1:3] < (value, id) if descending else row[1:3] > (value, id)))
            ]
        last = rows[limit - 1] if len(rows) > limit else None
        following = f"{sort} {last[0]} {last[1]} {last[2]}" if last else None
        return Page(memories=[row[3] for row in rows[:limit]], cursor=following)

    def _standing(self, scopes: Sequence[str], *, at: int, limit: int) -> list[tuple[str, int]]:
        found: list[tuple[str, Version]] = []
        for scope in scopes:
            groups: dict[str, list[Version]] = {}
            for version in self._passing(Filter(scopes=(scope,), as_of=at)):
                one = version.memory
                group = "pinned" if one.pinned else "keyed" if one.key else one.kind
                if group in ("pinned", "keyed", "preference", "goal"):
                    groups.setdefault(group, []).append(version)
            for group, several in groups.items():
                best = sorted(several, key=lambda one: (one.memory.importance, one.memory.created_at_us), reverse=True)
                found += [(group, version) for version in best[:limit]]
        found.sort(key=lambda row: (-row[1].memory.importance, -row[1].memory.created_at_us, row[1].memory.id))
        return [(group, version.num) for group, version in found]

    def _lately(self, where: Filter, *, after: int, limit: int) -> list[Lately]:
        found: list[Lately] = []
        for scope in where.scopes or ():
            several = [
                one for one in self._passing(replace(where, scopes=(scope,))) if one.memory.created_at_us > after
            ]
            several.sort(key=lambda one: (one.memory.created_at_us, one.memory.id), reverse=True)
            found += [
                Lately(
                    num, one.kind, one.session, None, one.session is not None, one.topics, one.origin, one.importance,
                    one.created_at_us, one.valid_from_us,
                )
                for num, _, one in several[:limit]
            ]  # fmt: skip
        return sorted(found, key=lambda one: (-one.created_at, -one.num))

    def _most_used(self, where: Filter, *, limit: int) -> list[int]:
        several = [one for one in self._passing(where) if one.memory.uses]
        return [one.num for one in sorted(several, key=lambda one: (one.memory.uses, one.memory.id), reverse=True)][
            :limit
        ]

    def _unseen(self, where: Filter, *, before: int, limit: int) -> list[int]:
        several = [
            one
            for one in self._passing(where)
            if not one.memory.pinned and max(one.memory.observed_at_us, one.memory.used_at_us or 0) < before
        ]
        return [one.num for one in sorted(several, key=lambda one: (one.memory.created_at_us, one.memory.id))][:limit]

    def _count_scopes(self, where: Filter) -> list[tuple[str, int, int]]:
        found: dict[str, list[int]] = {}
        for one in self._passing(where):
            found.setdefault(one.memory.scope, []).append(one.memory.created_at)
        counted = [(name, len(times), max(times)) for name, times in found.items()]
        return sorted(counted, key=lambda row: (-row[1], row[0]))

    def _count_by(self, where: Filter, by: Sequence[str]) -> dict[tuple[str, ...], int]:
        def parts(one: Any) -> list[tuple[str, ...]]:
            day = to_datetime(one.created_at_us).date().isoformat()
            several = {"topic": one.topics, "day": (day,)}
            return list(product(*(several.get(name, (getattr(one, name, ""),)) for name in by)))

        counts = Counter(name for one in self._passing(where) for name in parts(one.memory))
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def _standing_out(self, where: Filter, *, observations: int, importance: float) -> list[int]:
        several = [
            one
            for one in self._passing(where)
            if one.memory.observations >= observations or one.memory.pinned or one.memory.importance >= importance
        ]
        several.sort(key=lambda one: (one.memory.created_at_us, one.memory.id), reverse=True)
        return [one.num for one in several]

    def _count_kinds(self, where: Filter) -> dict[str, int]:
        return dict(Counter(one.memory.kind for one in self._passing(where)))

    @staticmethod
    def _read_cursor(cursor: str, sort: str) -> tuple[int, int, str]:
        parts = cursor.split(" ")
        if len(parts) != 4 or parts[0] != sort:
            raise BadInput("not a cursor of this listing")
        return int(parts[1]), int(parts[2]), parts[3]

    @staticmethod
    def _passes(one: Memory, where: Filter) -> bool:
        return (
            (where.stored_since is None or one.created_at >= where.stored_since)
            and (where.stored_until is None or one.created_at < where.stored_until)
            and (where.scopes is None or one.scope in where.scopes)
            and one.state in where.states
            and (not where.kinds or one.kind in where.kinds)
            and set(map(caseless, where.topics)) <= set(map(caseless, one.topics))
            and (where.session is None or one.session == where.session)
            and (where.speaker is None or one.speaker == where.speaker)
            and (where.key is None or caseless(one.key or "") == caseless(where.key))
            and all(_same(one.metadata.get(name), value) for name, value in where.metadata)
            and (where.since is None or one.valid_from_us >= where.since)
            and (where.until is None or one.valid_from_us < where.until)
            and (
                where.as_of is None
                or (one.valid_from_us <= where.as_of and (one.valid_to_us is None or where.as_of < one.valid_to_us))
            )
        )

    # -- use

    def _disputed(self, scopes: Sequence[str]) -> list[tuple[bytes, int]]:
        seen = {parse_id(one.id) for one in self._current() if one.scope in scopes and one.state == "active"}
        return sorted((id, row["wrong"]) for id, row in self._uses.items() if row["wrong"] and id in seen)

    def _record_use(self, ids: Sequence[bytes], at: int, verdict: str | None = None) -> None:
        used = verdict in (None, "useful")
        for id in ids:
            if self._get(id) is None:
                continue
            row = self._uses.setdefault(id, dict.fromkeys(("uses", "used_at", "useful", "not_useful", "wrong"), 0))
            row["uses"] += used
            row["used_at"] = max(row["used_at"], at * used)
            if verdict is not None:
                row[verdict] += 1

    def _usage_rows(self) -> Iterator[dict[str, Any]]:
        yield from ({"id": id, **row} for id, row in sorted(self._uses.items()))

    def _restore_usage(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in rows:
            if self._get(row["id"]) is not None:
                self._uses[row["id"]] = {name: value for name, value in row.items() if name != "id"}

    # -- journal

    def _note_action(self, action: Action) -> None:
        self._journal = [*self._journal, action][-10_000:]

    def _actions(self, scope: str, *, session: str | None = None, limit: int) -> list[Action]:
        lines = [one for one in self._journal if one.scope == scope and session in (None, one.session)]
        return lines[-limit:] if limit else []

    def _numbered_actions(self, scope: str) -> list[tuple[int, Action]]:
        return [(number, one) for number, one in enumerate(self._journal, 1) if one.scope == scope]

    def _drop_actions(self, scope: str, numbers: Sequence[int]) -> bool:
        gone = {number for number, _ in self._numbered_actions(scope)} & set(numbers)
        self._journal = [one for number, one in enumerate(self._journal, 1) if number not in gone]
        return True

    # -- what was organized

    def _source(self, scope: str, path: str) -> Source | None:
        return self._sources.get((scope, path), (None, False))[0]

    def _keep_source(self, source: Source) -> None:
        waits = self._sources.get((source.scope, source.path), (None, False))[1]
        self._sources[source.scope, source.path] = (source, waits and source.digest is None)

    def _name_source(self, scope: str, path: str, at: int) -> None:
        known = self._source(scope, path)
        self._sources[scope, path] = (known._replace(at=at) if known else Source(scope, path, None, None, at), True)

    def _named_sources(self, scope: str | None = None) -> list[Source]:
        found = [one for one, waits in self._sources.values() if waits and scope in (None, one.scope)]
        return sorted(found, key=lambda one: (one.at, one.scope, one.path))

    def _note_exposures(self, surfaced: Sequence[ExposureRow], action: Action | None = None) -> None:
        if action is not None:
            self._note_action(action)
        self._exposed = [*self._exposed, *surfaced][-50_000:]

    def _exposures(
        self, scope: str, *, session: str | None = None, memory: bytes | None = None, limit: int
    ) -> list[ExposureRow]:
        found = [one for one in self._exposed if one.scope == scope and session in (None, one.session)]
        found = found if memory is None else [one for one in self._exposed if one.memory == memory]
        return found[::-1][:limit]

    def _began_with(self, session: str, ids: Iterable[bytes]) -> set[bytes]:
        """Of a store in which nothing was compacted."""
        starts = [one for one in self._exposed if one.session == session and one.via == "start" and one.shown]
        found = set()
        for one in starts:
            was, now = self._get(one.memory, known_at=one.at), self._get(one.memory)
            if was and now and (was.content, was.state, was.valid_to_us) == (now.content, now.state, now.valid_to_us):
                found.add(one.memory)
        return found & set(ids)

    def _use_counts(self, scope: str) -> list[UseCount]:
        runs: dict[tuple[bytes, bool, bool], dict[str, list[ExposureRow]]] = {}
        for one in self._exposed:
            if one.scope == scope:
                runs.setdefault((one.memory, one.shown, one.drawn), {}).setdefault(one.session, []).append(one)
        counts = []
        for about, sessions in sorted(runs.items()):
            every = [one for several in sessions.values() for one in several]
            drawn = about[2]
            verdicts = [{one.used for one in several[: 1 if drawn else None]} - {None} for several in sessions.values()]
            judged = [verdict for verdict in verdicts if verdict]
            counts.append(
                UseCount(*about, len(every), sum(one.tokens for one in every), len(judged), sum(map(any, judged)))
            )
        return counts

    def _shown(self, state: MemoryState, recorded_at: int) -> Memory:
        used = self._uses.get(state.id, {})
        return Memory(
            id=format_id(state.id), scope=state.scope, kind=state.kind, content=state.content or "", topics=state.topics,
            key=state.key, metadata=state.metadata, state=state.state, origin=state.origin, trust=state.trust, source=state.source,
            session=state.session, speaker=state.speaker, position=state.position, importance=state.importance,
            stated_confidence=state.stated_confidence, observations=state.observations, observed_at_us=state.observed_at,
            pinned=state.pinned, valid_from_us=state.valid_from, valid_to_us=state.valid_to, created_at_us=state.created_at,
            recorded_at_us=recorded_at, superseded_by=format_id(state.superseded_by) if state.superseded_by else None,
            reason=state.reason, uses=used.get("uses", 0), used_at_us=used.get("used_at") or None,
            **{name: used.get(name, 0) for name in ("useful", "not_useful", "wrong")},
        )  # fmt: skip


def _candidate(one: Version) -> Candidate:
    """A candidate with the session left out: its number is an engine's own."""
    m = one.memory
    assert one.text_id is not None
    return Candidate(
        num=one.num, text_id=one.text_id, id=parse_id(m.id), content=m.content, session=None, position=m.position,
        speaker=m.speaker, valid_from=m.valid_from_us, topics=None, labels=None, dates=None, kind=m.kind,
        importance=m.importance, pinned=m.pinned, trust=m.trust, observations=m.observations,
        observed_at=m.observed_at_us, stated_confidence=m.stated_confidence, uses=m.uses, used_at=m.used_at_us,
        useful=m.useful, not_useful=m.not_useful, wrong=m.wrong, key=m.key,
    )  # fmt: skip


def _same(held: object, asked: object) -> bool:
    """Whether a value in metadata is the one that is asked for; true is no 1."""
    return held == asked and isinstance(held, bool) == isinstance(asked, bool)


def _near(one: Version, other: Version, reach: int) -> bool:
    """Up to `reach` places apart in one session, and not the same."""
    mine, theirs = one.memory, other.memory
    return (
        mine.session is not None
        and (mine.scope, mine.session) == (theirs.scope, theirs.session)
        and one.num != other.num
        and abs(mine.position - theirs.position) <= reach
    )
