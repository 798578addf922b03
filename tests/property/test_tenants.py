"""A tenant is alone: whatever any repository is asked, it answers as a file would that has this tenant's rows and no others.

The ids and names of the other tenant are asked for too, some of which both have. `make test-postgres` tries 10,000 calls.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limpet
from limpet.features.organize import Sources
from limpet.features.transfer.known_devices import Devices
from limpet.features.usefulness import ExposureRow, Exposures
from limpet.model.clock import FixedClock
from limpet.model.ids import SHORT_BYTES
from limpet.model.memory import STATES, Filter
from limpet.store.records import Action, Proposal, VectorChunk
from limpet.store.sqlite.database import SqliteStore
from limpet.text.describe import describe
from limpet.vectors.index import encode_for_store
from tests import postgres_server
from tests.contract.conftest import Scribe

pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
]
EXAMPLES = 10_000 if os.environ.get("LIMPET_TEST_POSTGRES") else 80
REPOSITORIES = (
    "ledger", "memories", "sessions", "listings", "search", "edges", "graph", "vectors", "jobs", "usage", "reviews",
    "journal", "sources", "exposures", "checkouts", "devices", "erasure", "maintenance",
)  # fmt: skip
# What is the server's, a file's or random; and what takes whole records, which are written below.
LEFT_OUT = {
    "maintenance.stats", "maintenance.encryption", "maintenance.compact", "maintenance.backup",
    "maintenance.rebuild", "erasure.scan_files", "erasure.own_files", "erasure.replaced_stores", "erasure.scour", "erasure.note_copy",
    "erasure.flush", "erasure.flush_waits", "devices.seal", "devices.merge", "devices.wait", "devices.written", "ledger.append", "ledger.commit",
    "usage.restore", "memories.survivor", "reviews.propose", "reviews.replace", "journal.note", "sources.keep", "exposures.note",
    "checkouts.scopes_of", "checkouts.namesake", "checkouts.allow", "checkouts.may_ask", "checkouts.shared", "checkouts.git_folders", "vectors.add", "vectors.calibrate", "vectors.register", "search.until",
}  # fmt: skip


def fill(store, words, count):
    """A life of a tenant; ids count from one, so that those of several tenants are the same."""
    scribe = Scribe(store, FixedClock("2026-03-01T12:00:00Z"))
    ids = [
        scribe.clock.advance(seconds=1) and scribe.remember(
            f"{words} number {n} of the vault", topics=[words, "api"], key=f"{words}.{n % 2}", session=f"{words} {n % 2}",
            position=n, scope=("project:api", f"project:{words}")[n % 2], speaker=words, metadata={"who": words},
        )
        for n in range(count)
    ]  # fmt: skip
    scribe.change("edited", ids[0], f"{words} edited")
    scribe.change("linked", ids[1], edge="contradicts", target=ids[2].hex())
    scribe.change("superseded", ids[2], by=ids[1].hex(), valid_to=scribe.clock.now() + 5)
    scribe.purge(ids[3])
    now = scribe.clock.now()
    row = store.vectors.register(f"{words}:1", words, 8)
    texts = [text for id in ids for text in store.search.texts_of([id])]
    store.vectors.add(row.num, encode_for_store(texts, np.eye(8, dtype=np.float32)[[n % 8 for n in range(len(texts))]]))
    store.jobs.enqueue(f"check {words}", [1, 2], now)
    store.usage.record(ids[:2], now, "useful")
    store.reviews.propose([Proposal(scribe.id(), "contradiction", "project:api", ids[0], ids[1], words, 1.0, now)])
    store.journal.note(Action("project:api", f"{words} 0", now, "asked", words))
    Exposures(store).note([ExposureRow("project:api", f"{words} 0", words, now, "start", ids[1], 3, True, False, None)])
    Sources(store).announce("project:api", f"/{words}", now)
    Devices(store).trust(words.encode().ljust(16)[:16], now)
    store.erasure.note_copy(f"/{words}.jsonl", "export", now)
    return scribe


@cache
def stores(predicates: bool):
    """(a tenant beside another one, a file with the same in it)."""
    from limpet.features.postgres import PostgresStore

    if predicates:
        url = postgres_server.url_of
    else:
        name = postgres_server.without_predicates()
        url = lambda tenant: f"{name}&tenant={tenant}"  # noqa: E731
    fill(PostgresStore(url("zebras"), describe), "zebra", 9)
    place = Path(tempfile.mkdtemp()) / "memory.db"
    tenant, file = PostgresStore(url("lamas"), describe), SqliteStore(str(place), describe, durable=False)
    for store in (tenant, file):
        fill(store, "lama", 5)
    return tenant, file


IDS = [Scribe.id_of(number) for number in range(1, 60)]
NUMBERS = st.integers(0, 40)
NAMES = st.sampled_from(["project:api", "project:zebra", "project:lama", "global"])
WORDS = st.sampled_from(
    ["zebra", "lama", "zebra.0", "lama.0", "zebra 0", "lama 0", "number vault", "api", "edited", "/zebra", "/lama"]
)
FILTERS = st.builds(
    Filter, scopes=st.one_of(st.none(), st.lists(NAMES, min_size=1, max_size=2, unique=True).map(tuple)), states=st.sampled_from([("active",), STATES, ()]),
    topics=st.sampled_from([(), ("zebra",), ("lama",), ("api",)]), session=st.sampled_from([None, "zebra 0", "lama 0"]),
    speaker=st.sampled_from([None, "zebra"]), metadata=st.sampled_from([(), (("who", "zebra"),)]), known_at=st.sampled_from([None, 2**60]),
)  # fmt: skip
SEVERAL = st.lists(st.sampled_from(IDS), min_size=1, max_size=6, unique=True)
ONE = st.sampled_from(IDS)
TIMES = st.sampled_from([0, 1_772_366_400_000_000, 2**60])
GIVEN: dict[str, st.SearchStrategy] = {
    "ids": SEVERAL, "among": SEVERAL, "memories": SEVERAL, "memory": ONE, "id": ONE, "source": ONE, "target": ONE, "start": TIMES, "end": TIMES, "goal": ONE,
    "event": ONE, "device": st.sampled_from([b"zebra".ljust(16), b"lama".ljust(16), b""]), "scope": NAMES, "scopes": st.lists(NAMES, min_size=1, max_size=3, unique=True),
    "names": st.lists(NAMES, max_size=3, unique=True), "name": WORDS, "session": WORDS, "key": WORDS, "path": WORDS, "texts": st.lists(WORDS, max_size=3), "where": FILTERS,
    "limit": st.integers(1, 9), "most": st.integers(1, 9), "reach": st.integers(1, 3), "at": TIMES, "before": TIMES, "after": NUMBERS, "until": TIMES,
    "nums": st.lists(NUMBERS, max_size=5, unique=True), "text_ids": st.lists(NUMBERS, max_size=5, unique=True), "things": st.lists(NUMBERS, max_size=3),
    "fingerprint": st.just(1), "fingerprints": st.lists(NUMBERS, max_size=3), "kind": st.sampled_from(["embed", "contradiction", "check zebra", "check lama"]),
    "known": st.just((0, 2**60)), "held": st.just((0, 2**60)), "types": st.just(("contradicts",)), "type": st.just("contradicts"), "embedder": st.integers(1, 2), "num": st.integers(1, 2),
    "subjects": st.lists(NUMBERS, max_size=4, unique=True), "first": st.lists(NUMBERS, max_size=4, unique=True), "worker": st.just("w"), "error": st.just("e"), "not_before": TIMES, "dead": st.booleans(),
    "numbers": st.lists(NUMBERS, max_size=3), "segment": st.integers(1, 3), "sort": st.sampled_from(["created", "updated", "used", "uses"]), "pieces": st.just([]), "bodies": st.lists(NUMBERS, max_size=5, unique=True), "seconds": st.just(0.0),
}  # fmt: skip
OF_A_METHOD = {
    "edges.reaches": {"start": ONE}, "vectors.chunks": {"known": st.just({})}, "sessions.next_position": {"session": WORDS}, "memories.by_rows": {"nums": st.just([])}, "memories.with_warnings": {"nums": st.just([])},
    "memories.ending": {"end": ONE.map(lambda one: one[-SHORT_BYTES:])}, "memories.resolve": {"text": ONE.map(bytes.hex)}, "ledger.resolve": {"text": ONE.map(bytes.hex)}, "reviews.named": {"text": ONE.map(bytes.hex)},
    "search.lexical": {"text": WORDS}, "search.beginning_with": {"letters": WORDS}, "search.substring": {"text": WORDS}, "listings.standing": {"at": TIMES}, "ledger.events": {"memory": st.one_of(st.none(), ONE), "ids": st.one_of(st.none(), SEVERAL)},
    "ledger.operation": {"event": ONE}, "listings.lately": {"after": st.just(0)}, "listings.page": {"cursor": st.none()},
    "listings.count_by": {"by": st.sampled_from([("kind",), ("scope", "topic"), ("state", "origin"), ("day",)])},
    "edges.of": {"ids": SEVERAL}, "devices.trust": {"at": st.one_of(st.none(), TIMES)}, "journal.numbered": {"session": st.none()}, "journal.typed": {"sessions": st.lists(WORDS, max_size=2), "since": TIMES, "until": TIMES}, "journal.outside_reads": {"since": TIMES},
    "jobs.unchecked": {"rows": st.lists(st.integers(1, 40), max_size=5)}, "jobs.lease": {"subjects": st.one_of(st.none(), st.lists(NUMBERS, max_size=4, unique=True))},
}  # fmt: skip


def repository_of(store, name):
    of_features = {"devices": Devices, "exposures": Exposures, "sources": Sources}
    return of_features[name](store) if name in of_features else getattr(store, name)


def calls():
    """Every method of every repository, and what it may be given."""
    for repository in REPOSITORIES:
        asked = repository_of(stores(True)[0], repository)
        for name in dir(asked):
            full = f"{repository}.{name}"
            if name.startswith("_") or full in LEFT_OUT or not callable(getattr(asked, name)):
                continue
            known, chosen = GIVEN | OF_A_METHOD.get(full, {}), {}
            for parameter in inspect.signature(getattr(asked, name)).parameters.values():
                if parameter.name in known:
                    chosen[parameter.name] = known[parameter.name]
                elif parameter.default is inspect.Parameter.empty:
                    raise AssertionError(f"{full} is not asked: nothing is known to give as {parameter.name}")
            yield st.tuples(st.just(full), st.fixed_dictionaries(chosen))


def plain(found):
    """An answer in which the order of what has none does not matter, nor the number of a version: it says "changed"."""
    if isinstance(found, VectorChunk):
        return found._replace(version=0)
    if type(found) is tuple:
        return tuple(map(plain, found))
    if isinstance(found, Iterator | set | frozenset):
        found = list(found)
    if isinstance(found, list):
        return sorted(map(plain, found), key=repr)
    return found


def ask(store, name, given):
    repository, method = name.split(".")
    try:
        return plain(getattr(repository_of(store, repository), method)(**given))
    except limpet.LimpetError as error:
        return type(error), error.message


@pytest.mark.parametrize("predicates", [True, False], ids=["predicates", "row-level security alone"])
def test_a_tenant_is_alone(predicates):
    tenant, file = stores(predicates)

    @settings(max_examples=EXAMPLES)
    @given(st.one_of(*calls()))
    def alike(call):
        assert ask(tenant, *call) == ask(file, *call)

    alike()
    ours, theirs = tenant.maintenance.stats(), file.maintenance.stats()
    assert ours._replace(file_bytes=0, free_bytes=0) == theirs._replace(file_bytes=0, free_bytes=0)
    assert tenant.maintenance.verify() == file.maintenance.verify()


def test_nothing_is_seen_or_written_without_a_tenant():
    import psycopg

    stores(True)
    with psycopg.connect(postgres_server.database(), autocommit=True) as con:
        tables = [
            row[0]
            for row in con.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'limpet_rows'::regnamespace AND relkind = 'r'"
            )
        ]
        assert len(tables) > 25
        for table in set(tables) - {"schema_version"}:
            for name in (f"limpet_rows.{table}", f"limpet.{table}"):
                assert con.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,), name
        for tenant in ("", "zebras"):
            with pytest.raises(psycopg.Error):
                con.execute(
                    f"SELECT set_config('limpet.tenant', '{tenant}', true); INSERT INTO limpet_rows.scope VALUES ('lamas', 99, 'x')"
                )
        with pytest.raises(psycopg.Error):
            con.execute("INSERT INTO limpet.scope (name) VALUES ('x')")


def test_errors_say_nothing_of_rows():
    tenant, _ = stores(True)
    with pytest.raises(limpet.StoreError) as error:
        tenant.database.rows("SELECT 1 / (SELECT 0 FROM memory WHERE 'lama' IS NOT NULL LIMIT 1)")
    assert "lama number" not in str(error.value)
    assert Path(tenant.path).name
