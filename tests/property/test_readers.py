"""No file makes a reader do anything but yield records, report, or refuse with words: real files with bytes changed,
cut off or made up. `make fuzz` runs the full count."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import limpet
from limpet.features import organize
from limpet.features.transfer import amem
from limpet.features.transfer.records import Record, TransferReport
from limpet.features.transfer.schema import Acyclic
from limpet.features.transfer.service import records
from limpet.model.errors import LimpetError
from tests import formats, transcripts

# Cases a reader; the suite runs few, `make fuzz` 100,000 in all.
CASES = int(os.environ.get("LIMPET_FUZZ", "400")) // 10
FUZZ = settings(
    max_examples=max(CASES, 10),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
DATA = Path(__file__).parents[1] / "data"


def _made(make, *given):
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder) / "x", *given)
        return path.read_bytes()


def _zip(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", text)
    return packed.getvalue()


TALK = formats.chatgpt([("user", "one"), ("assistant", "two")], [("user", "three")])
CLAUDE = json.dumps(
    [{"uuid": "c", "name": "n", "chat_messages": [{"uuid": "m", "sender": "human", "text": "hi", "content": []}]}]
)
MEM0 = json.dumps([{"id": "1", "memory": "one", "created_at": "2026-01-01", "categories": ["a"], "metadata": {"b": 1}}])
MCP = (
    '{"type":"entity","name":"A","entityType":"t","observations":["x"]}\n'
    '{"type":"relation","from":"A","to":"A","relationType":"r"}\n'
)
NOTE = "---\ntitle: T\ntags: [a, b]\nm:\n  x: |\n    y\n---\n# H\n\n- one [[T]]\n  - two\n\ntext:\n\n1. x\n\n```\ncode\n```\n"
RST = """====\nPump\n====\n:Date: 2024-05-06\n\n.. note:: Read `this <a.rst>`_.\n\n   More.\n\nSizes::\n\n    small 2\n
=====  ===\nname   bar\n=====  ===\nlow    2\n=====  ===\n\n.. code-block:: sh\n   :linenos:\n\n   make\n\n.. [1] A note.\n"""
ORG = """#+TITLE: Shed\n#+FILETAGS: :a:b:\n* Roof :c:\n  :PROPERTIES:\n  :ID: 7\n  :END:\n  See [[file:a.org::*Roof][it]].\n
| a | b |\n|---+---|\n| 1 | 2 |\n** TODO Slates\n#+begin_src sh\n  make\n#+end_src\n"""
PLAIN = "Kestrel\n\nthe client is Dr Haddad of the university\nthe kite may not fly above 120 m\n\n\u2022 one\n\u2022 two, see a.txt\n"

# (format, a file's name, its bytes, a word of its structure that made-up files are made of)
SEEDS = {
    "memori": ("memori", "m.db", _made(formats.memori_db, [{"content": "one", "metadata": '{"type":"fact"}'}] * 1)),
    "memori-jsonl": (
        "memori",
        "m.jsonl",
        b'{"id":"a","content":"x","metadata":{"type":"b"},"created_at":1.5,"vector":[1]}\n' * 3,
    ),
    "amem": ("amem", "a.amem", (DATA / "v1_basic.amem").read_bytes()),
    "pmb": ("pmb", "events.sqlite", _made(formats.pmb_db, [{}, {}], [("u0", "u1", "causes")], [("u0", "e")])),
    "mem0": ("mem0", "m.json", MEM0.encode()),
    "mcp": ("mcp", "m.jsonl", MCP.encode()),
    "claude-memory": ("claude-memory", "a.md", NOTE.encode()),
    "markdown": ("markdown", "a.md", NOTE.encode()),
    "rst": ("text", "a.rst", RST.encode()),
    "org": ("text", "a.org", ORG.encode()),
    "plain": ("text", "a.txt", PLAIN.encode("utf-16")),
    "chatgpt": ("chatgpt", "c.zip", _zip(TALK)),
    "claude": ("claude", "conversations.json", CLAUDE.encode()),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def damaged(draw, seed):
    """The seed with bytes changed, taken out, put in or doubled; or cut off; or, for texts, a value replaced."""
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        what = draw(st.sampled_from(("flip", "cut", "put", "drop", "max", "zero", "double", "json")))
        if what == "flip" and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif what == "cut":
            del data[at:]
        elif what == "put":
            data[at:at] = draw(st.binary(max_size=40))
        elif what == "drop":
            del data[at : at + draw(st.integers(1, 40))]
        elif what == "max":
            data[at : at + 8] = b"\xff" * 8
        elif what == "zero":
            data[at : at + 8] = bytes(8)
        elif what == "double":
            data[at:at] = data[at : at + 200]
        else:
            data[at : at + draw(st.integers(0, 12))] = json.dumps(draw(json_values)).encode()
    return bytes(data)


@pytest.fixture(scope="module")
def place():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("name", SEEDS)
def test_any_file_is_read_reported_or_refused(name, place):
    format, file_name, seed = SEEDS[name]
    folder = place / name
    folder.mkdir()
    path = folder if format in ("markdown", "claude-memory") else folder / file_name
    with limpet.open(":memory:", scope="project:x", clock=limpet.FixedClock("2026-03-01T00:00:00Z")) as memory:

        @FUZZ
        @given(damaged(seed))
        def run(data):
            (folder / file_name).write_bytes(data)
            report = TransferReport()
            try:
                for record in records(format, path, report):
                    assert isinstance(record, Record) and isinstance(record.content, str)
                    assert all(link.target for link in record.links)
            except LimpetError as error:
                assert error.message and len(error.message) < 2_000
            # And the whole way into a store, as far as a dry run goes.
            with suppress(LimpetError):
                memory.import_from(format, path, dry_run=True)

        run()
        assert memory.stats().events == 0


def _opencode():
    with tempfile.TemporaryDirectory() as folder:
        return transcripts.opencode(Path(folder) / "opencode.db", transcripts.STEPS).read_bytes()


TRANSCRIPTS = {
    f"{client}.jsonl": (DATA / "transcripts" / f"{client}.jsonl").read_bytes()
    for client in ("claude", "codex", "gemini", "copilot", "cursor")
} | {"opencode.db": _opencode(), "notes.md": NOTE.encode()}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_any_transcript_is_organized_reported_or_refused(name, place):
    path = place / name
    with limpet.open(":memory:", scope="project:x", clock=limpet.FixedClock("2026-03-01T00:00:00Z")) as memory:

        @settings(FUZZ, max_examples=max(CASES // 2, 10))
        @given(damaged(TRANSCRIPTS[name]))
        def run(data):
            path.write_bytes(data)
            report = organize.run(memory, [path], dry_run=True)
            assert all(place and reason and len(reason) <= 500 for place, reason in report.rejected)

        run()
        assert memory.stats().events == 0


@FUZZ
@given(
    st.binary(max_size=3_000)
    | st.text(max_size=300).map(str.encode)
    | st.builds(lambda a, n: a * n, st.binary(max_size=9), st.integers(0, 400))
)
def test_lz4_gives_back_what_it_packed(data):
    assert amem.unpack_text(amem.pack_text(data), len(data)) == data


@FUZZ
@given(st.binary(max_size=200))
def test_lz4_refuses_or_stays_within_its_limit(blob):
    with suppress(ValueError):
        assert len(amem.unpack_text(blob, 1_000)) <= 1_000


pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25)


@FUZZ
@given(pairs, pairs)
def test_no_cycle_is_left_and_nothing_is_left_out_without_one(new, there):
    there = [(a, b) for a, b in there if a > b]  # makes no cycle by itself
    kept = []
    with limpet.open(":memory:", scope="global") as memory:
        links = Acyclic(memory._context.store)
        for a, b in [*there, *new]:
            if not links.closes("caused_by", bytes([a]), bytes([b])):
                links.add("caused_by", bytes([a]), bytes([b]))
                kept.append((a, b))
    assert kept[: len(there)] == there and not _circular(kept)
    if not _circular([*new, *there]):
        assert kept == [*there, *new]


def _circular(pairs):
    left = set(pairs)
    while left:
        targets = {b for _, b in left}
        free = {pair for pair in left if pair[0] not in targets}
        if not free:
            return True
        left -= free
    return False


@FUZZ
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.integers(0, 2**51),
            st.integers(0, 5),
            st.floats(0, 1, width=32),
            st.text("abc é🚀\n", min_size=1).filter(lambda text: text.strip()),
        ),
        min_size=1,
        max_size=12,
    ),
    st.lists(
        st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 6), st.floats(0, 1, width=32)), max_size=20
    ),
)
def test_amem_in_and_out_is_the_same_again(nodes, links):
    """What one import takes, an export gives and another import takes again."""
    with tempfile.TemporaryDirectory() as name, _store() as one, _store() as two:
        folder = Path(name)
        given_nodes = [
            (3 * i, type, at, session, sure, text) for i, (type, at, session, sure, text) in enumerate(nodes)
        ]
        given_links = {
            (3 * (a % len(nodes)), 3 * (b % len(nodes)), type): (weight, 1_700_000_000_000_000)
            for a, b, type, weight in links
        }
        formats.amem_file(folder / "a", given_nodes, [(*slot, *rest) for slot, rest in given_links.items()])
        one.import_from("amem", folder / "a")
        one.export_to("amem", folder / "b")
        two.import_from("amem", folder / "b")
        two.export_to("amem", folder / "c")
        assert (folder / "b").read_bytes() == (folder / "c").read_bytes()
        assert _shape(one) == _shape(two)
        assert one.verify() == two.verify() == []


def _store():
    return limpet.open(":memory:", scope="project:x", clock=limpet.FixedClock("2026-03-01T00:00:00Z"))


def _shape(memory):
    listed = {one.id: one for one in memory.list(all_states=True, limit=100).memories}
    nodes = sorted(
        (
            one.metadata["import"]["id"],
            one.kind,
            one.content,
            one.session or "",
            one.valid_from_us,
            one.stated_confidence,
        )
        for one in listed.values()
    )
    from limpet.model.ids import format_id

    number = {one.id: one.metadata["import"]["id"] for one in listed.values()}
    links = sorted(
        (number[format_id(e.source)], e.type, number[format_id(e.target)], e.weight)
        for e in memory._context.store.edges.all()
    )
    return nodes, links
