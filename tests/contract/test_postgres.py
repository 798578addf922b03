"""What holds for Postgres and SQLite side by side, and for tenants."""

from __future__ import annotations

import contextlib
import time

import pytest

import limpet
from limpet.store import lexical
from limpet.store.records import Filter
from tests import postgres_server
from tests.contract.conftest import Scribe, open_engine
from tests.contract.test_arrays import FILTERS, QUERIES

pytestmark = [
    pytest.mark.xdist_group("postgres"),
    pytest.mark.skipif(postgres_server.missing() is not None, reason=str(postgres_server.missing())),
]


@pytest.fixture
def both(tmp_path, clock):
    """A scribe at a file and one at Postgres."""
    opened = [Scribe(open_engine(name, tmp_path), clock) for name in ("file", "postgres")]
    yield opened
    for one in opened:
        one.store.close()


@pytest.mark.parametrize("size", ["few texts", "many texts"])
def test_rows_are_ranked_as_those_of_sqlite(both, size, monkeypatch):
    if size == "many texts":
        monkeypatch.setattr(lexical, "SMALL_STORE", 0)
        monkeypatch.setattr(lexical, "ROW_BUDGET", 4)
    for one in both:
        one.remember("The rate limit is 100 per minute", topics=["api", "rate limit"], importance=0.8)
        one.remember("Deploys never run on Friday", topics=["ops"], session="s", speaker="Ana")
        one.remember("Berlin and 東京 have an api each", scope="global", metadata={"file": "api.py"})
        made = one.remember("Deploy deploy deploy", topics=["limit", "rate"])
        for number in range(20):
            one.remember(f"deploy {number} of march keeps the limit", topics=["api"])
        one.change("edited", made, "Deploy twice")
        one.purge(one.remember("deploy the secret"))
    for where in FILTERS:
        for query in (*QUERIES, "limit 7"):
            found = [one.store.search.lexical(query, where, limit=None) for one in both]
            (file, other) = ([(hit.text_id, hit.score) for hit in one.hits] for one in found)
            assert file == other
            assert (found[0].stems, found[0].weight, found[0].absent) == (
                found[1].stems,
                found[1].weight,
                found[1].absent,
            )
            assert sorted(both[0].store.search.allowed(where)) == sorted(both[1].store.search.allowed(where))


def test_a_word_longer_than_an_index_takes_is_found_all_the_same(both):
    word = "x" * 5_000
    for one in both:
        id = one.remember(f"the token {word} is there")
        assert one.store.search.texts_of([id]) == [
            h.text_id for h in one.store.search.lexical(word, Filter(), limit=5).hits
        ]
        assert one.store.maintenance.verify() == []


def test_a_text_that_postgres_cannot_hold_is_refused_by_name(both):
    with pytest.raises(limpet.BadInput, match="NUL"):
        both[1].remember("zero \0 byte")
    assert both[1].store.listings.count(Filter()) == 0


def test_a_deadline_ends_a_statement_and_the_snapshot_goes_on(both):
    from limpet.store.postgres.search import interrupted

    database = both[1].store._database
    with both[1].store.snapshot():
        ended = True
        with interrupted(database, time.monotonic() + 0.05):
            database.rows("SELECT pg_sleep(20)")
            ended = False
        assert ended
        assert database.rows("SELECT 1") == [(1,)]


def test_a_write_of_which_a_statement_failed_is_not_acknowledged(both):
    database = both[1].store._database
    with pytest.raises(limpet.StoreError), database.writing() as con:
        con.execute("INSERT INTO scope (name) VALUES ('lost')")
        with contextlib.suppress(Exception):
            con.execute("SELECT 1 / 0")
    assert database.rows("SELECT 1 FROM scope WHERE name = 'lost'") == []
