"""The hash chain: whatever is done by limpet leaves it whole; whatever is done to an event by hand is found."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.store.sql.verification import verify_chain
from tests.devices import OPERATIONS, Device, seeded

STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.one_of(st.sampled_from([*OPERATIONS, "purge"]), st.sampled_from(["export", "import", "rebuild"])),
        st.integers(0, 1 << 20),
    ),
    min_size=5,
    max_size=40,
)
COLUMNS = ("id", "type", "memory", "at", "operation", "origin", "data", "place", "salt", "link")


@given(steps=STEPS, seed=st.integers(0, 1 << 30))
@settings(max_examples=15)
def test_every_change_of_an_event_by_hand_is_found_and_no_other(steps, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        devices = [Device(folder / f"{i}.db", f"d{i}", skew_seconds=7 * i) for i in range(2)]
        try:
            for one in devices:
                one.memory.remember("What every store has")
                one.memory.remember("And what comes after that")
            for who, what, number in steps:
                one = devices[who]
                if what == "export":
                    one.memory.export_to("segments", folder / "shared")
                elif what == "import":
                    if (folder / "shared").is_dir():
                        one.memory.import_from("segments", folder / "shared")
                elif what == "rebuild":
                    one.memory.rebuild()
                else:
                    one.act(what, seeded(number))
            for one in devices:
                assert one.memory.verify() == []
                spoil_every_way(one.memory.path, random.Random(seed))
        finally:
            for one in devices:
                one.close()


def spoil_every_way(path: str, chance: random.Random) -> None:
    con = apsw.Connection(path)
    ids = [row[0] for row in con.execute("SELECT id FROM event ORDER BY seq")]
    one, other = chance.sample(ids, 2)
    for column in COLUMNS:
        was = con.execute(f"SELECT CAST({column} AS BLOB) FROM event WHERE id = ?", (one,)).get
        found = after(con, f"UPDATE event SET {column} = ? WHERE id = ?", (bent(column, was, chance), one))
        assert found, column
        both = f"SELECT {column} FROM event WHERE id = ?"
        if column != "id" and con.execute(both, (one,)).get != con.execute(both, (other,)).get:
            swap = f"UPDATE event SET {column} = (SELECT {column} FROM event e WHERE e.id = iif(event.id = ?1, ?2, ?1))"
            assert after(con, f"{swap} WHERE id IN (?1, ?2)", (one, other)), f"swapped {column}"
    text = con.execute("SELECT body FROM event WHERE body IS NOT NULL ORDER BY random() LIMIT 1").get
    if text is not None:
        assert after(con, "UPDATE body SET content = content || '.' WHERE num = ?", (text,))
        assert after(con, "DELETE FROM body WHERE num = ?", (text,))
    assert after(con, "DELETE FROM event WHERE id = ?", (one,))
    assert after(con, "DELETE FROM event WHERE id = ?", (ids[-1],))
    assert after(con, "DELETE FROM chain_end", ())
    for end in ("place", "link"):
        assert after(con, f"UPDATE chain_end SET {end} = ?", (12345 if end == "place" else b"0" * 32,))
    swap = "UPDATE event SET seq = -seq WHERE id IN (?1, ?2); "
    first, second = (con.execute("SELECT seq FROM event WHERE id = ?", (id,)).get for id in (one, other))
    found = after(
        con,
        f"{swap}UPDATE event SET seq = {first + second} + seq WHERE seq < 0",
        (
            one,
            other,
        ),
    )
    assert any("stand" in message for message in found)
    forged = (
        "INSERT INTO event SELECT max(seq) + 1, randomblob(16), type, memory, at, operation, origin, body, data, {}"
    )
    for place in ("NULL, NULL, NULL", "place, salt, link", "max(place) + 1, salt, link"):
        assert after(con, forged.format(place) + " FROM event", ())
    for row in con.execute("SELECT place FROM chain").fetchall():
        assert after(con, "UPDATE chain SET leaf = zeroblob(32) WHERE place = ?", row)
        assert after(con, "DELETE FROM chain WHERE place = ?", row)
    con.close()


def bent(column: str, was: bytes | None, chance: random.Random) -> object:
    """A value with another byte, of the column's type."""
    if column in ("at", "place"):
        return int(was or 0) + chance.choice((-1, 1, 256))
    if was is None:
        return bytes(16) if column == "operation" else "{}"
    at = chance.randrange(len(was))
    other = was[:at] + bytes([was[at] ^ 1 << chance.randrange(7)]) + was[at + 1 :]
    return other if column in ("id", "memory", "operation", "salt", "link") else other.decode("utf-8", "replace")


def after(con: apsw.Connection, statement: str, bound: object) -> list[str]:
    """What the check finds after a change, which is then taken back."""
    con.execute("BEGIN")
    try:
        parts = [one for one in statement.split("; ") if one]
        for part in parts:
            con.execute(part, bound if "?" in part else ())
        return [one.message for one in verify_chain(con)]
    finally:
        con.execute("ROLLBACK")
