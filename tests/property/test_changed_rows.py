"""What `verify` says of rows that were changed behind the store's back: each is named, with its field."""

from __future__ import annotations

import random
import shutil

import apsw
import pytest

import limpet
from limpet.model.clock import FixedClock

# Columns of a memory that follow from the ledger, and other values for each.
CHANGES = {
    "kind": ("fact", "preference", "decision"),
    "topics": ('["other"]', None),
    "key": ("user.city", "other.key"),
    "metadata": ('{"a": 1}',),
    "state": ("archived", "retracted", "active", "quarantined"),
    "origin": ("user", "web", "import"),
    "trust": ("user", "web", "import"),
    "source": ("elsewhere:1",),
    "speaker": ("Mallory",),
    "position": (77,),
    "importance": (0.99,),
    "stated_confidence": (0.01,),
    "observations": (9,),
    "observed_at": (5,),
    "pinned": (1, 0),
    "valid_from": (7,),
    "valid_to": (8, None),
    "created_at": (9,),
    "superseded_by": (b"0" * 16, None),
    "reason": ("because",),
    "fingerprint": (1,),
}
TRIES = 150


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store in which every verb has left its events."""
    path = tmp_path_factory.mktemp("rows") / "memory.db"
    with limpet.open(path, scope="project:x", clock=FixedClock("2026-03-01")) as memory:
        first = memory.remember("We deploy with Kamal", kind="decision", topics=["infra"], metadata={"n": 1})
        port = memory.remember("The port is 8080", key="app.port", origin="user")
        memory.correct(port.id, "The port is 9090", why="moved")
        lesson = memory.remember("Run migrations before the deploy", kind="lesson", session="s1", speaker="Ana")
        memory.link(lesson.id, "caused_by", first.id)
        memory.pin(lesson.id)
        memory.tag(first.id, add=["ops"])
        memory.edit(first.id, "We deploy with Kamal 2")
        gone = memory.remember("A wrong belief")
        memory.retract(gone.id, "wrong")
        memory.undo()
        memory.archive(gone.id)
        memory.remember("We deploy with Kamal 2")
        secret = memory.remember("To be purged")
        memory.purge(secret.id, confirm=True)
        memory.merge(memory.remember("Deploys use Kamal 2").id, first.id)
        memory.set_fact("user.city", "Tampa", valid_from="2026-01-01")
        memory.end_fact("user.city")
        memory.work()
        assert memory.verify() == []
    return path


def test_every_changed_row_is_named_with_its_field(store, tmp_path):
    draw = random.Random(1)
    for number in range(TRIES):
        copy = tmp_path / f"{number}.db"
        shutil.copy(store, copy)
        column = draw.choice(list(CHANGES))
        value = draw.choice(CHANGES[column])
        con = apsw.Connection(str(copy))
        rows = [
            row[0]
            for row in con.execute(
                f"SELECT num FROM memory WHERE retired_at IS NULL AND state <> 'purged' AND {column} IS NOT ?", (value,)
            )
        ]
        if not rows:
            continue
        con.execute(f"UPDATE memory SET {column} = ? WHERE num = ?", (value, draw.choice(rows)))
        con.close()
        with limpet.open(copy, scope="project:x") as memory:
            problems = memory.verify()
        name = "search fields" if column == "fingerprint" else column
        assert any(name in one.message for one in problems if one.check in ("projection", "ledger")), (column, value)
        copy.unlink()


def test_a_rebuild_mends_what_was_changed(store, tmp_path):
    copy = tmp_path / "memory.db"
    shutil.copy(store, copy)
    con = apsw.Connection(str(copy))
    con.execute("UPDATE memory SET origin = 'user', pinned = 1 WHERE retired_at IS NULL")
    con.execute("UPDATE edge SET type = 'supports'")
    con.close()
    with limpet.open(copy, scope="project:x") as memory:
        assert memory.verify()
        memory.rebuild()
        assert memory.verify() == []
