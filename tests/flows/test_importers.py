"""Imports of files that the real programs wrote (tests/importers/, `make test-importers` writes them anew)."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "data" / "importers"
FRESH = os.environ.get("LIMPET_IMPORTERS")  # a folder of files that were just written


def real(name, folder):
    if FRESH:
        return Path(FRESH) / name
    (folder / name).write_bytes(gzip.decompress((DATA / f"{name}.gz").read_bytes()))
    return folder / name


def held(memory):
    return {one.content: one for one in memory.list(all_states=True, limit=100).memories}


def test_a_langgraph_store_comes_in_whole(memory, tmp_path):
    path = real("langgraph.db", tmp_path)
    before = path.read_bytes()
    report = memory.import_from("langgraph", path)
    assert (report.new, report.rejected) == (4, [])
    found = held(memory)
    assert set(found) == {
        "Ana prefers tabs over spaces", "The staging port is 5433", "Ben deploys on Tuesdays",
        '{"name": "Ana", "team": "billing"}',
    }  # fmt: skip
    one = found["The staging port is 5433"]
    assert (one.topics, one.metadata["ticket"], one.metadata["namespace"], one.metadata["key"]) == (
        ("db",), 7, "memories.ana", "m2",
    )  # fmt: skip
    assert found["Ana prefers tabs over spaces"].kind == "preference" and one.valid_from.year >= 2026
    assert memory.import_from("langgraph", path).known == 4 and path.read_bytes() == before


def test_the_collections_of_chroma_come_in_with_their_metadata(memory, tmp_path):
    path = real("chroma.sqlite3", tmp_path)
    report = memory.import_from("chroma", path.parent)
    assert (report.new, report.rejected) == (3, [])
    assert dict(report.notes) == {"entries without a document were left out": 1}
    found = held(memory)
    assert set(found) == {"Deploys go out on Tuesdays", "The staging port is 5433", "Ana leads billing"}
    one = found["Deploys go out on Tuesdays"]
    wanted = {"n": 3, "share": 0.5, "ok": True, "topic": "deploy", "collection": "notes", "id": "n1"}
    assert {name: one.metadata[name] for name in wanted} == wanted and one.topics == ("deploy",)
    assert found["The staging port is 5433"].kind == "decision"
    assert found["Ana leads billing"].metadata["collection"] == "people", "the same id in another collection"
    assert memory.import_from("chroma", path).known == 3


@pytest.mark.parametrize("format", ["langgraph", "chroma"])
def test_another_database_is_refused(memory, tmp_path, format):
    from limpet.model.errors import BadInput

    other = real("chroma.sqlite3" if format == "langgraph" else "langgraph.db", tmp_path)
    with pytest.raises(BadInput, match="is no"):
        memory.import_from(format, other)
