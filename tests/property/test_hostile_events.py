"""Events that no limpet writes, by JSONL and by segments: none ends an import, spoils a store or sets devices apart."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.devices import OPERATIONS, Device, everything, same_time, seeded
from tests.hostile import bent, forged, imported, ledger, numbers, parsed

CASES = int(os.environ.get("LIMPET_FUZZ", "400")) // 20
FUZZ = settings(max_examples=max(CASES, 5), deadline=None, suppress_health_check=list(HealthCheck))
steps = st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 1 << 20)), min_size=4, max_size=25)
BENT = 20  # lines an example


def lived(path, actions, name="d"):
    device = Device(path, name)
    for what, seed in actions:
        device.act(what, seeded(seed))
    return device


def check_usable(memory):
    """Everything a store is asked for answers, and its ledger makes it anew."""
    assert memory.verify() == []
    for one in memory.list(all_states=True, limit=200).memories:
        memory.history(one.id)
    memory.recall("rate limit deploy", lexical_only=True, explain=True)
    memory.prepare("deploy on friday", lexical_only=True).text()
    memory.review()
    before = everything(memory)
    memory.rebuild()
    assert everything(memory) == before
    assert memory.remember("It still takes what is said").status == "created"


@FUZZ
@given(steps, st.integers(0, 1 << 30))
def test_every_good_line_of_a_file_arrives_whatever_stands_beside_it(actions, seed):
    draw = seeded(seed)
    with tempfile.TemporaryDirectory() as name:
        one = lived(Path(name) / "a.db", actions)
        two = Device(Path(name) / "b.db", "b")
        try:
            good = ledger(one.memory)
            bad = [bent(good[draw(len(good))], draw, good) for _ in range(BENT)] if good else []
            report = imported(two.memory, [*good, *bad])
            assert not [line for line in numbers(report) if line <= len(good)]
            assert all(reason and len(reason) < 1_000 for _, reason in report.rejected)
            there = {one["event"] for one in ledger(two.memory)}
            assert {one["event"] for one in good} <= there
            check_usable(two.memory)
        finally:
            one.close()
            two.close()


@FUZZ
@given(steps, st.integers(0, 1 << 30))
def test_bad_lines_among_good_ones_end_no_import(actions, seed):
    draw = seeded(seed)
    with tempfile.TemporaryDirectory() as name:
        one = lived(Path(name) / "a.db", actions)
        two = Device(Path(name) / "b.db", "b")
        try:
            good = ledger(one.memory)
            lines = [bent(line, draw, good) if draw(3) == 0 else line for line in good]
            dry = imported(two.memory, lines, dry_run=True)
            wet = imported(two.memory, lines)
            assert two.memory.stats().events == wet.new
            assert dry.new + len(dry.rejected) + dry.known == wet.new + len(wet.rejected) + wet.known == len(lines)
            again = imported(two.memory, lines)
            assert again.new == 0
            check_usable(two.memory)
        finally:
            one.close()
            two.close()


@FUZZ
@given(steps, steps, st.integers(0, 1 << 30))
def test_devices_that_have_the_same_bad_segments_are_equal(actions, others, seed):
    """One device's files are bent, another's are whole; two more devices take them in one after the other, or at once."""
    draw = seeded(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, two = lived(folder / "a.db", actions, "a"), lived(folder / "b.db", others, "b")
        ends = [Device(folder / f"{i}.db", f"{i}") for i in range(2)]
        try:
            one.memory.remember("so that there is a file")
            one.memory.export_to("segments", folder / "bent")
            two.memory.export_to("segments", folder / "whole")
            for path in (folder / "bent").glob("*/*.jsonl"):
                header, lines = parsed(path)
                path.unlink()
                if draw(4) == 0:
                    header[("first", "seen", "replaces", "number", "device")[draw(5)]] = (10**7, {"a": 1}, -1, "x")[
                        draw(4)
                    ]
                if not isinstance(header["number"], int) or not 0 <= header["number"] < 10**8:
                    header["number"] = 7
                forged(path.parent, header, [bent(line, draw, lines) if draw(3) == 0 else line for line in lines])
            at_once, one_by_one = ends
            (folder / "both").mkdir()
            for place in ("bent", "whole"):
                for path in (folder / place).glob("*/*.jsonl"):
                    (folder / "both" / path.parent.name).mkdir(parents=True, exist_ok=True)
                    (folder / "both" / path.parent.name / path.name).write_bytes(path.read_bytes())
            at_once.memory.import_from("segments", folder / "both")
            for place in ("whole", "bent") if draw(2) else ("bent", "whole", "bent"):
                one_by_one.memory.import_from("segments", folder / place)
            whole = {line["event"] for line in ledger(two.memory)}
            same_time(ends)
            assert everything(at_once.memory) == everything(one_by_one.memory)
            assert len(whole) <= at_once.memory.stats().events
            for one_end in ends:
                one_end.memory.import_from("segments", folder / "both")
                check_usable(one_end.memory)
        finally:
            for device in (one, two, *ends):
                device.close()


# Two devices that give one id in two scopes leave a ledger of which a file's import takes the first alone.
apart = st.lists(
    st.tuples(st.sampled_from([one for one in OPERATIONS if one != "same_id"]), st.integers(0, 1 << 20)), max_size=25
)


@given(apart, apart, apart)
def test_a_store_of_several_devices_is_byte_identical_through_jsonl(actions, others, later):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, two = lived(folder / "a.db", actions, "a"), lived(folder / "b.db", others, "b")
        end = Device(folder / "c.db", "c")
        try:
            for _ in range(2):
                for device in (one, two, one):
                    device.memory.import_from("segments", folder / "s") if (folder / "s").exists() else None
                    device.memory.export_to("segments", folder / "s")
                for what, seed in later:
                    one.act(what, seeded(seed))
            one.memory.export_to("jsonl", folder / "a.jsonl")
            report = end.memory.import_from("jsonl", folder / "a.jsonl", trust=True)
            end.memory.export_to("jsonl", folder / "c.jsonl")
            assert not report.rejected
            assert (folder / "a.jsonl").read_bytes() == (folder / "c.jsonl").read_bytes()
        finally:
            for device in (one, two, end):
                device.close()


LINES = int(os.environ.get("LIMPET_FUZZ", "400"))
TOGETHER = 200


def torn(line, draw):
    """Its bytes with one to four changed, put in, taken out, or the line cut off."""
    raw = bytearray(json.dumps(line), "utf-8")
    for _ in range(1 + draw(4)):
        at, what = draw(len(raw)), draw(4)
        if what == 0:
            raw[at] = draw(256)
        elif what == 1:
            raw[at:at] = bytes(draw(256) for _ in range(1 + draw(8)))
        elif what == 2:
            del raw[at : at + 1 + draw(8)]
        elif draw(8) == 0:
            del raw[at:]
        if not raw:
            return b"0"
    return bytes(raw).replace(b"\n", b" ")


def test_bent_and_torn_lines_and_segments_end_in_no_internal_error():
    """In one store after the other, by file and by segment: what is left out is counted, and the store stays whole."""
    draw = seeded(LINES)
    done = {"lines": 0, "segments": 0, "segment_lines": 0, "taken_in": 0, "left_out": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while done["lines"] < LINES:
            one = lived(
                folder / f"a{done['lines']}.db", [(OPERATIONS[draw(len(OPERATIONS))], draw(1 << 20)) for _ in range(60)]
            )
            two = Device(folder / f"b{done['lines']}.db", "b")
            try:
                one.memory.export_to("segments", folder / "whole")
                (path, *_) = (folder / "whole").glob("*/*.jsonl")
                header, sequenced = parsed(path)
                good = ledger(one.memory)
                two.memory.import_from(
                    "jsonl", io.StringIO("\n".join(map(json.dumps, good[: draw(len(good))]))), trust=True
                )
                for _ in range(5):
                    bad = [good[draw(len(good))] for _ in range(TOGETHER)]
                    bad = [
                        torn(line, draw) if draw(3) == 0 else json.dumps(bent(line, draw, good)).encode()
                        for line in bad
                    ]
                    report = two.memory.import_from("jsonl", io.BytesIO(b"\n".join(bad)), trust=True)
                    assert report.new + report.known + len(report.rejected) == len([one for one in bad if one.strip()])
                    done["lines"] += len(bad)
                    done["taken_in"] += report.new + report.known
                    done["left_out"] += len(report.rejected)
                    bad = [bent(sequenced[draw(len(sequenced))], draw, sequenced) for _ in range(TOGETHER)]
                    forged(folder / "bent" / path.parent.name, header | {"events": len(bad)}, bad, number=1 + draw(9))
                    taken = two.memory.import_from("segments", folder / "bent")
                    assert all(isinstance(reason, str) for _, reason in taken.rejected)
                    done["segments"] += 1
                    done["segment_lines"] += len(bad)
                check_usable(two.memory)
            finally:
                one.close()
                two.close()
                shutil.rmtree(folder / "bent", ignore_errors=True)
                shutil.rmtree(folder / "whole", ignore_errors=True)
    if os.environ.get("LIMPET_FUZZ_RECORD"):
        Path(os.environ["LIMPET_FUZZ_RECORD"]).write_text(json.dumps(done | {"internal_errors": 0}) + "\n")
