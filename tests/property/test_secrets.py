"""Whatever a field is called that holds a secret, and however it comes in: its value never reaches the file."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import limpet
from limpet.features.transfer import trust_device
from limpet.features.transfer.jsonl import write_event

# Begins and ends as nothing else in a file does ("conversation" stands in the schema); what it looks like does not matter.
VALUES = st.text("abcdefghijklmnopqrstuvwxyzäöß東京 -", min_size=6, max_size=30).map("zqx{}xqz".format)
_WORDS = ["password", "passwd", "pwd", "secret", "token", "api key", "access key", "private key", "authorization",
          "cookie", "credential", "credentials", "client secret", "passphrase"]  # fmt: skip


@st.composite
def names(draw):
    words = [*draw(st.lists(st.sampled_from(["db", "my", "prod", "x", "old"]), max_size=2)),
             *draw(st.sampled_from(_WORDS)).split()]  # fmt: skip
    style = draw(st.sampled_from(["_", "-", ".", " ", "camel"]))
    name = words[0] + "".join(map(str.title, words[1:])) if style == "camel" else style.join(words)
    return draw(st.sampled_from([name, name.upper(), name.title()])) if style != "camel" else name


@st.composite
def secrets(draw):
    """(metadata, the values in it that must not be stored)"""
    value = draw(VALUES)
    held = draw(st.sampled_from([value, [value], {"a": value, "b": 5}, [[{"x": [value]}]]]))
    made = {"port": 5432, draw(names()): held, "note": "kept as it is"}
    for name in draw(st.lists(st.sampled_from(["db", "env", "a"]), max_size=3)):
        made = draw(st.sampled_from([{name: made}, {name: [1, made]}]))
    return made, value


@given(st.lists(secrets(), min_size=1, max_size=4))
def test_no_value_under_the_name_of_a_secret_reaches_the_file(given):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with limpet.open(root / "store.db", scope="project:a") as memory:
            first = memory.remember("one", metadata=given[0][0])
            assert first.redacted == ("password",)
            memory.tag(first.id, values=given[-1][0])
            memory.correct(first.id, "another", metadata=given[0][0])
            memory.remember_batch({"content": f"number {i}", "metadata": one} for i, (one, _) in enumerate(given))
            lines = [{"content": f"line {i}", "metadata": one} for i, (one, _) in enumerate(given)]
            inbox = root / "inbox"
            inbox.mkdir()
            (inbox / "plain.jsonl").write_text("\n".join(map(json.dumps, lines)))
            mem0 = [{"id": str(i), "memory": f"mem {i}", "metadata": one} for i, (one, _) in enumerate(given)]
            (inbox / "mem0.json").write_text(json.dumps(mem0))
            memory.import_from("jsonl", inbox / "plain.jsonl", trust=True)
            memory.import_from("mem0", inbox / "mem0.json")
            for one in inbox.iterdir():
                one.unlink()
            inbox.rmdir()
            assert "kept as it is" in str([one.metadata for one in memory.list(all_states=True).memories])
            _nowhere(root, given)


@settings(max_examples=15, deadline=None)
@given(secrets())
def test_events_that_another_hand_wrote_bring_none(given):
    """A line of JSONL and a segment: both name their fields as limpet does, and need not come from limpet."""
    metadata, value = given
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shared = root / "shared"
        with limpet.open(root / "a.db", scope="project:a") as memory:
            memory.remember("one", metadata={"port": "MARK"})
            (event,) = memory._context.store.ledger.events()
            memory.export_to("segments", shared)
        (line,) = [json.loads(write_event(event))]
        (segment,) = shared.glob("*/*.jsonl")
        forged = segment.read_text().replace('{"port":"MARK"}', json.dumps(metadata)).encode()
        segment.unlink()
        digest = hashlib.sha256(forged).hexdigest()[:32]
        segment.with_name(f"{segment.name.split('-')[0]}-{digest}.jsonl").write_bytes(forged)
        (root / "lines.jsonl").write_text(json.dumps(line | {"metadata": metadata}))
        for number, way in enumerate(("lines", "segments")):
            place = root / f"store{number}"
            place.mkdir()
            with limpet.open(place / "b.db", scope="project:a") as memory:
                if way == "lines":
                    memory.import_from("jsonl", root / "lines.jsonl", trust=True)
                else:
                    memory.import_from("segments", shared)  # its device is known by it, and trusted then
                    trust_device(memory, "all")
                    memory.import_from("segments", shared)
                assert memory.count() == 1
                _nowhere(place, [(metadata, value)])


def _nowhere(folder, given):
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            for _, value in given:
                assert value.encode() not in content, (file.name, value)
                assert json.dumps(value)[1:-1].encode() not in content, (file.name, value)
