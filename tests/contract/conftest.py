"""The engines that the contract is asked of, and a scribe who writes into any of them."""

from __future__ import annotations

import pytest

from limpet.model.clock import FixedClock
from limpet.model.events import Event
from limpet.model.memory import Filter
from limpet.store.sqlite.database import SqliteStore
from limpet.text.describe import describe
from limpet.text.normalise import fingerprint
from tests import postgres_server

# All that need the server run in one process, which starts it.
POSTGRES = pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))
ENGINES = ("file", "memory", POSTGRES)
EVERYTHING = Filter(states=("active", "archived", "retracted"))


def open_engine(name, tmp_path):
    if name == "postgres":
        if why := postgres_server.missing():
            pytest.skip(why)
        from limpet.features.postgres import PostgresStore

        return PostgresStore(postgres_server.url_of(tmp_path.name), describe)
    return SqliteStore(":memory:" if name == "memory" else str(tmp_path / "memory.db"), describe)


@pytest.fixture
def clock():
    return FixedClock("2026-03-01T12:00:00Z")


@pytest.fixture(params=ENGINES)
def store(request, tmp_path):
    opened = open_engine(request.param, tmp_path)
    yield opened
    opened.close()


class Scribe:
    """Writes events through the write door. Ids count upwards, so that two engines draw the same ones."""

    def __init__(self, store, clock):
        self.store, self.clock = store, clock
        self.made = 0

    @staticmethod
    def id_of(number):
        return (0x0190_0000_0000 + number).to_bytes(6, "big") + b"\x70\0\x80" + number.to_bytes(7, "big")

    def id(self):
        self.made += 1
        return self.id_of(self.made)

    def event(self, type, memory=None, content=None, *, operation=None, at=None, origin="agent", **data):
        """An event that is not written yet; `remembered` ones make up their memory and stand in project:api."""
        id = self.id()
        if type == "remembered":
            memory = memory or self.id()
            data = {"scope": "project:api", "kind": "fact"} | data
        at = self.clock.now() if at is None else at
        return Event(
            id=id, type=type, memory=memory, at=at, operation=operation or id, origin=origin, content=content, data=data
        )

    def write(self, *events):
        """Returns the events as the ledger has them, with their places."""
        self.store.ledger.commit(lambda _: events)
        return list(self.store.ledger.events(ids=[event.id for event in events]))

    def remember(self, text, **data):
        """A memory in an operation of its own. Returns its id."""
        return self.write(self.event("remembered", None, text, **data))[0].memory

    def change(self, type, memory, content=None, **data):
        return self.write(self.event(type, memory, content, **data))[0]

    def purge(self, memory):
        return self.change("purged", memory)

    def undo(self, event):
        return self.change("undone", event.memory, undoes=event.id.hex())


@pytest.fixture
def scribe(store, clock):
    return Scribe(store, clock)


def mark(text, *, scope="project:api", kind="fact", speaker=None, key=None):
    return fingerprint(scope, kind, speaker, key, text)


def body_of(store, memory):
    (body,) = store.search.texts_of([memory])
    return body


def contents(found):
    """Texts of memories, candidates or a page of them, in the order given."""
    return [one.content for one in getattr(found, "memories", found)]


def texts_of(store, bodies, where=EVERYTHING):
    """What some bodies say, in the order given."""
    said = {one.text_id: one.content for one in store.search.candidates(bodies, where)}
    return [said[body] for body in bodies]


def walk(store, where, *, sort="created", limit=2, descending=True):
    """Every memory of a listing, a page at a time."""
    found, cursor = [], None
    while True:
        page = store.listings.page(where, sort=sort, limit=limit, cursor=cursor, descending=descending)
        assert len(page.memories) <= limit
        found += page.memories
        cursor = page.cursor
        if cursor is None:
            return found
