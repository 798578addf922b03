"""A store that an earlier commit wrote opens, answers as it did, and takes new writes; so does its mirror."""

from __future__ import annotations

import importlib.util
import json
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import limpet
from limpet.store.sql.chain import chain_all
from limpet.store.sql.statements import migrations
from limpet.store.sqlite.connection import CHAINED, LATEST_SCHEMA, MIGRATIONS

FOLDER = Path(__file__).parents[1] / "data" / "old_stores"
STORES = sorted(FOLDER.glob("*.tar.gz"))


@pytest.fixture(params=STORES, ids=[one.name.removesuffix(".tar.gz") for one in STORES])
def old(request, tmp_path):
    """The folder of an old store: memory.db, its mirror, and the answers it gave."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def answers(old):
    return json.loads((old / "answers.json").read_text(encoding="utf-8"))


def ask(path, clock):
    """The questions of the script that wrote the store."""
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return json.loads(json.dumps(made.ask(path, clock)))


# Answers with scores. Confidence, feedback, the age of importance and weights that were fitted anew have moved scores
# since, and so have vectors of words: what stood first is among the first three, three of the first five are among the
# first ten. Today's scores are beside it.
RANKED = {"lexical": (3, 2)}
# Answers by vectors of an embedder that is no more.
BY_VECTORS = ("recall", "known")


def stands_as_before(now, before, places, gone):
    ids = {query: [id for id, _ in found] for query, found in now.items()}
    was = {query: [id for id, _ in found] for query, found in before.items()}
    assert [query for query, (first, *_) in was.items() if first not in ids[query][:places]] == []
    assert [query for query, one in was.items() if len(set(one[:5]) - set(ids[query][:10])) > gone] == []


def _ids(sections):
    return {id for section in sections for id in section}


def test_an_old_store_answers_as_it_did(old, answers, request):
    given = ask(old / "memory.db", limpet.FixedClock(answers["now"]))
    now = json.loads((FOLDER / f"{request.node.callspec.id}.ranked.json").read_text(encoding="utf-8"))
    for what, before in answers.items():
        if what in RANKED:
            stands_as_before(given[what], before, *RANKED[what])
            assert given[what] == now[what], what
        elif what == "brief":
            assert [query for query, one in before.items() if len(_ids(one) - _ids(given[what][query])) > 2] == []
        elif what not in ("now", *BY_VECTORS):
            assert given[what] == before, what


def test_an_old_store_that_is_only_read_is_read_without_what_came_later(old, answers):
    clock = limpet.FixedClock(answers["now"])
    with limpet.open(old / "memory.db", scope="project:api", clock=clock, read_only=True) as memory:
        held = [one.id for one in memory.list().memories]
        assert [memory.get(short).id for short in memory.abbreviate(held)] == held
        assert memory.log(limit=1)


def test_an_old_store_is_sound_takes_writes_and_rebuilds(old, answers):
    with limpet.open(old / "memory.db", scope="project:api", clock=limpet.FixedClock(answers["now"])) as memory:
        assert memory.verify() == []
        made = memory.remember("Written by a newer limpet", kind="note")
        before = {one.id: one for one in memory.list(limit=1000, all_states=True).memories}
        memory.rebuild()
        assert {one.id: one for one in memory.list(limit=1000, all_states=True).memories} == before
        assert made.id in before
        assert memory.verify() == []


def test_the_mirror_of_an_old_store_syncs_and_changes_nothing_held(old, answers):
    bound = old / "mirror" / ".limpet" / "mirror.json"
    known = json.loads(bound.read_text(encoding="utf-8"))
    known["store"] = str((old / "memory.db").resolve())
    bound.write_text(json.dumps(known), encoding="utf-8")
    with limpet.open(old / "memory.db", scope="project:api", clock=limpet.FixedClock(answers["now"])) as memory:
        report = memory.mirror_sync(old / "mirror")
        assert (report.created, report.edited, report.archived, report.conflicts) == (0, 0, 0, 0)
        again = memory.mirror_sync(old / "mirror")
        assert (again.added, again.updated, again.removed) == (0, 0, 0)


def schema(path):
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        made = connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'")
        return connection.execute("PRAGMA user_version").get, sorted(made.fetchall(), key=str)


def test_a_store_of_any_version_between_is_led_to_the_schema_of_a_new_one_and_loses_nothing(old, answers, tmp_path):
    clock = limpet.FixedClock(answers["now"])
    with limpet.open(tmp_path / "new.db", scope="project:api", clock=clock):
        pass
    first, _ = schema(old / "memory.db")
    with limpet.open(old / "memory.db", scope="project:api", clock=clock, read_only=True) as memory:
        held = {one.id: one.content for one in memory.list(limit=1000, all_states=True).memories}

    assert (first, schema(tmp_path / "new.db")[0]) == (1, LATEST_SCHEMA)
    for version in range(first, LATEST_SCHEMA + 1):
        path = tmp_path / f"{version}.db"
        path.write_bytes((old / "memory.db").read_bytes())
        with closing(apsw.Connection(str(path))) as connection:
            for number, text in migrations(MIGRATIONS):
                if first < number <= version:
                    connection.execute(text)
                if number == CHAINED <= version:
                    chain_all(connection)
            connection.execute(f"PRAGMA user_version={version}")

        with limpet.open(path, scope="project:api", clock=clock) as memory:
            assert {one.id: one.content for one in memory.list(limit=1000, all_states=True).memories} == held
            assert memory.verify() == []
        assert schema(path) == schema(tmp_path / "new.db"), version
