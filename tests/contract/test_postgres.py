"""What holds for Postgres and SQLite side by side, and for tenants."""

from __future__ import annotations

import contextlib
import time

import pytest

import limpet
from limpet.model.memory import Filter
from limpet.recall.candidates import other_forms
from limpet.store import lexical
from tests import failover, postgres_server
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
        one.remember("Der Vertrag endet, договор остаётся, 계약서를 보냈다", topics=["Vertrages"])
        one.change("edited", made, "Deploy twice")
        one.purge(one.remember("deploy the secret"))
    for where in FILTERS:
        for query in (*QUERIES, "limit 7"):
            found = [
                one.store.search.lexical(query, where, limit=None, forms=other_forms(one.store, query)) for one in both
            ]
            (file, other) = (list(one.hits.items()) for one in found)
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
        assert one.store.search.texts_of([id]) == [*one.store.search.lexical(word, Filter(), limit=5).hits]
        assert one.store.maintenance.verify() == []


@pytest.mark.usefixtures("arrays_of_few_texts")
def test_a_word_that_a_text_has_hundreds_of_times_is_read_as_often(both):
    lists = []
    for one in both:
        one.remember("bolt " * 300 + "and rest", topics=["bolt"])
        one.remember("rest", topics=["bolt", "rest"])
        for _ in range(2):
            one.store.search.arrays.current()
        words = one.store.search.arrays._made[0].words
        lists.append([words.occurrences(word).tolist() for word in ("bolt", "rest", "nothing")])
        _, sizes, places, _ = words.lists_after("bol", most=1_000)
        lists[-1].append((list(sizes), places.tolist()))
    assert lists[0] == lists[1]
    assert [len(found) for found in lists[0][:3]] == [302, 3, 0]


def test_a_bulk_load_is_followed_by_statistics(both):
    """Plans for empty tables take minutes for what takes milliseconds. Here nothing else makes statistics."""
    scribe = both[1]
    database = scribe.store.database
    analyzed = "SELECT last_analyze FROM pg_stat_user_tables WHERE relid = CAST('limpet_rows.posting' AS regclass)"

    def when():
        with database.maintaining() as con:
            return con.execute(analyzed).fetchone()[0]

    before = when()
    scribe.remember("one of a few")
    assert when() == before
    scribe.store.ledger.append([scribe.event("remembered", None, f"the row {number}") for number in range(1_000)])
    assert when() != before


def test_a_text_that_postgres_cannot_hold_is_refused_by_name(both):
    with pytest.raises(limpet.BadInput, match="NUL"):
        both[1].remember("zero \0 byte")
    assert both[1].store.listings.count(Filter()) == 0


def test_a_deadline_ends_a_statement_and_the_snapshot_goes_on(both):
    database = both[1].store.database
    with both[1].store.snapshot():
        ended = True
        with both[1].store.search.until(time.monotonic() + 0.05):
            database.rows("SELECT pg_sleep(20)")
            ended = False
        assert ended
        assert database.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("read", [True, False], ids=["whose rows were read", "whose rows nobody read"])
def test_a_write_of_which_a_statement_failed_is_not_acknowledged(both, read):
    database = both[1].store.database
    with pytest.raises(limpet.StoreError), database.writing() as con:
        con.execute("INSERT INTO scope (name) VALUES ('lost')")
        with contextlib.suppress(Exception):
            found = con.execute("SELECT 1 / 0")
            if read:
                found.fetchall()
    assert database.rows("SELECT 1 FROM scope WHERE name = 'lost'") == []


def test_statements_that_wait_are_run_in_their_order(both):
    database = both[1].store.database
    with database.writing() as con:
        before = con.execute("SELECT count(*) FROM scope")
        con.execute("INSERT INTO scope (name) VALUES (?)", ("first",))
        after = con.execute("SELECT count(*) FROM scope")
        changed = con.total_changes()
        con.executemany("INSERT INTO scope (name) VALUES (?)", [("second",), ("third",)])
        assert con.total_changes() - changed == 2
        assert after.get - before.get == 1
    assert database.rows("SELECT name FROM scope WHERE name IN ('first', 'second', 'third') ORDER BY num") == [
        ("first",), ("second",), ("third",),
    ]  # fmt: skip


def test_a_statement_after_one_that_failed_has_no_rows_and_says_so(both):
    database = both[1].store.database
    with database.snapshot(), database.reading() as con:
        con.execute("SELECT 1 / 0")
        later = con.execute("SELECT name FROM scope")
        with pytest.raises(Exception, match="zero"):
            later.fetchall()
        with pytest.raises(limpet.StoreError, match="not run"):
            later.fetchall()


def prepared_by(database, said):
    """Statements with some words; connections are shared with what else is open at this server."""
    return [row for row in database.rows("SELECT statement FROM pg_prepared_statements") if said in row[0]]


def test_what_is_asked_often_is_prepared_and_answers_as_before(both):
    database = both[1].store.database
    made = both[1].remember("The rate limit is 100 per minute", topics=["api"])
    statement, name = "SELECT ?, ? AS asked_by_this_test", "asked_by_this_test"
    asked = [(both[1].store.memories.get(made), database.rows(statement, ("a", None)))]
    assert prepared_by(database, name) == []
    for _ in range(10):
        with database.snapshot():
            asked.append((both[1].store.memories.get(made), database.rows(statement, ("a", None))))
    assert prepared_by(database, name) and prepared_by(database, "memory")
    assert all(one == asked[0] for one in asked)


def test_what_the_server_does_not_prepare_is_sent_as_it_is(both):
    """`substr` takes an `integer`; a whole number is prepared as a `bigint`."""
    database = both[1].store.database
    for _ in range(5):
        with database.snapshot():
            assert database.rows("SELECT substr('abc', ?)", (2,)) == [("bc",)]
            assert database.rows("SELECT 1") == [(1,)]


def test_a_table_that_was_changed_ends_what_was_prepared(both):
    database = both[1].store.database

    def ask():
        with database.writing() as con:
            return con.execute("SELECT * FROM changing WHERE num = ?", (1,)).fetchall()

    with database.writing() as con:
        con.execute("CREATE TEMPORARY TABLE changing (num bigint)")
        con.execute("INSERT INTO changing VALUES (1)")
    assert [ask() for _ in range(5)] == [[(1,)]] * 5
    with database.writing() as con:
        con.execute("ALTER TABLE changing ADD COLUMN more text")
    with pytest.raises(limpet.StoreError):
        ask()
    assert ask() == [(1, None)]


def test_what_a_snapshots_beginning_gives_is_waited_for_by_the_first_read(both):
    database = both[1].store.database
    both[1].remember("The rate limit is 100 per minute")
    with database.snapshot():
        assert database._mine.reader._con.posted and getattr(database._mine, "version", None) is None
        with database.reading() as con:
            assert database.version(con) == database._mine.version > 0
    with database.snapshot():  # nothing is read
        pass
    with database.snapshot():
        assert database.rows("SELECT 1") == [(1,)]


def test_a_snapshot_that_could_not_begin_is_an_error_and_the_next_one_begins(both, monkeypatch):
    database = both[1].store.database
    monkeypatch.setattr(database, "_as_tenant", "SELECT 1 / 0")
    with pytest.raises(limpet.StoreError), database.snapshot():
        database.rows("SELECT 1")
    with pytest.raises(limpet.StoreError), database.snapshot():
        pass
    monkeypatch.undo()
    with database.snapshot():
        assert database.rows("SELECT 1") == [(1,)]


def test_no_transaction_is_left_open_by_a_snapshot_whose_end_nobody_waited_for(both):
    import psycopg

    database = both[1].store.database
    with database.snapshot():
        ((pid,),) = database.rows("SELECT pg_backend_pid()")
    with psycopg.connect(postgres_server.server().format("postgres"), autocommit=True) as other:
        state = "SELECT state FROM pg_stat_activity WHERE pid = %s"
        failover.soon(lambda: other.execute(state, (pid,)).fetchone() == ("idle",))
