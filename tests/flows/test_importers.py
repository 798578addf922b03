"""Imports of files that the real programs wrote (tests/importers/, `make test-importers` writes them anew)."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from limpet.model.ids import format_id

DATA = Path(__file__).resolve().parents[1] / "data" / "importers"
FRESH = os.environ.get("LIMPET_IMPORTERS")  # a folder of files that were just written


def real(name, folder):
    if FRESH:
        if not (Path(FRESH) / name).exists():
            pytest.skip(f"{name} was not written here")
        # A copy: one test changes it, and each folder holds one file.
        shutil.copy(Path(FRESH) / name, folder / name)
        return folder / name
    (folder / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return folder / name


def held(memory):
    return {one.content: one for one in memory.list(all_states=True, limit=100).memories}


def linked(memory):
    texts = {one.id: one.content for one in memory.list(all_states=True, limit=100).memories}
    edges = memory._context.store.edges.all()
    return {(texts[format_id(one.source)], one.type, texts[format_id(one.target)]) for one in edges}


def test_what_mem0_gives_comes_in_with_its_owners(memory, tmp_path):
    path = real("mem0.json", tmp_path)
    report = memory.import_from("mem0", path)
    assert (report.new, report.rejected, dict(report.notes)) == (4, [], {})
    found = held(memory)
    assert set(found) == {
        "I prefer tabs over spaces", "Noted: the staging port is 5433", "Deploys go out on Tuesdays",
        "The VPN hangs when the lid closes",
    }  # fmt: skip
    one = found["Noted: the staging port is 5433"]
    assert (one.topics, one.speaker, one.session) == (("style",), "assistant", "monday")
    assert {"n": 3, "user_id": "ana", "run_id": "monday"}.items() <= one.metadata.items()
    ends = found["Deploys go out on Tuesdays"]
    assert (ends.valid_to.date().isoformat(), ends.metadata["agent_id"]) == ("2190-01-01", "ops")
    assert_same_ids(found, {one["memory"]: one["id"] for one in json.loads(path.read_text())["results"]})
    assert memory.import_from("mem0", path).known == 4


def test_the_file_of_the_reference_memory_server_comes_in(memory, tmp_path):
    path = real("memory.jsonl", tmp_path)
    report = memory.import_from("mcp", path)
    assert (report.new, report.links, report.rejected, dict(report.notes)) == (4, 1, [], {})
    found = held(memory)
    assert set(found) == {
        "Ana: Leads billing", "Ana: Works from Lisbon", "billing is a team", "Ana part of billing",
    }  # fmt: skip
    assert linked(memory) == {("Ana: Leads billing", "part_of", "billing is a team")}
    assert memory.import_from("mcp", path).known == 4


def test_the_folder_of_notes_of_basic_memory_comes_in_as_markdown(memory, tmp_path):
    with tarfile.open(real("basic-memory.tar", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    report = memory.import_from("markdown", tmp_path / "notes")
    assert report.rejected == []
    assert dict(report.notes) == {"links to files that are not there": 1}
    found = held(memory)
    assert {
        "Coffee Brewing: How we brew.", "Coffee Brewing > Relations: requires [[Not There]]",
        "Kitchen: The kitchen is on the second floor",
    } <= set(found)  # fmt: skip
    method = found["Coffee Brewing > Observations: [method] Pour over gives more clarity than French press #taste"]
    assert (method.kind, method.topics) == ("note", ("coffee", "taste", "Observations"))
    part = "Coffee Brewing > Relations: part_of [[Kitchen]]"
    assert (part, "related_to", "Kitchen: The kitchen is on the second floor") in linked(memory)
    assert memory.import_from("markdown", tmp_path / "notes").known == report.new


def assert_same_ids(found, theirs):
    assert {text: one.metadata["import"]["id"] for text, one in found.items()} == theirs
