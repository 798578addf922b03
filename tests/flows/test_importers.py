"""Imports of files that the real programs wrote (tests/importers/, `make test-importers` writes them anew)."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from limpet.model.errors import BadInput
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


def test_a_graph_of_graphiti_comes_in_as_facts_with_their_times(memory, tmp_path):
    path = real("graphiti.jsonl", tmp_path)
    report = memory.import_from("graphiti", path)
    assert (report.new, report.links, report.rejected) == (4, 1, [])
    assert dict(report.notes) == {"nodes without a summary are topics of their facts": 1}
    found = held(memory)
    ended = found["Ana works on refunds"]
    assert (ended.valid_from.isoformat(), ended.valid_to.isoformat()) == (
        "2026-01-01T12:00:00+00:00", "2026-01-04T12:00:00+00:00",
    )  # fmt: skip
    assert ended.metadata["expired_at"].startswith("2026-01-05")
    leads = found["Ana leads billing"]
    assert leads.topics == ("Ana", "billing") and leads.valid_to is None
    assert leads.metadata["relation"] == {"from": "Ana", "type": "LEADS", "to": "billing"}
    said = found["ana: I lead billing since January"]
    assert (said.kind, said.metadata["source_description"]) == ("episode", "chat")
    assert linked(memory) == {(leads.content, "caused_by", said.content)}
    assert found["Ana: Leads billing"].metadata["team"] == "billing"
    assert memory.import_from("graphiti", path).known == 4


def test_what_the_client_of_zep_gives_is_read_as_a_graph_is(memory, tmp_path):
    path = real("zep.jsonl", tmp_path)
    report = memory.import_from("graphiti", path)
    assert (report.new, report.links, report.rejected) == (3, 2, [])
    found = held(memory)
    fact, said = found["Ana leads billing"], found["I lead billing"]
    assert (fact.topics, fact.valid_from.day, fact.valid_to.day) == (("Ana", "billing"), 1, 4)
    assert fact.metadata["since"] == "January"
    assert (said.kind, said.speaker, said.session, said.valid_from.day) == ("episode", "Ana", "t1", 2)
    assert said.metadata["metadata"] == {"ticket": 7} and said.metadata["import"]["id"] == "p1"
    assert linked(memory) == {(one, "caused_by", said.content) for one in (fact.content, "Ana: Leads billing")}


def test_an_agent_file_of_letta_comes_in_as_blocks_and_what_was_said(memory, tmp_path):
    path = real("agent.af", tmp_path)
    report = memory.import_from("letta", path)
    assert (report.new, report.rejected) == (6, [])
    assert dict(report.notes) == {
        "empty blocks were left out": 1, "messages of the system and of tools were left out": 2,
    }  # fmt: skip
    found = held(memory)
    human = found["Ana prefers tabs over spaces.\nShe leads billing."]
    assert (human.kind, human.topics, human.metadata["agents"]) == ("preference", ("human",), ["shop-helper"])
    assert "I am the assistant of the shop." in found
    said = [
        (one.speaker, one.content, one.valid_from.minute, one.session)
        for one in sorted(found.values(), key=lambda one: one.valid_from)
        if one.kind == "episode"
    ]
    assert said == [
        ("user", "The staging port is 5433", 1, "shop-helper"),
        ("assistant", "Noted: port 5433.", 2, "shop-helper"),
        ("user", "Deploys go out on Tuesdays", 4, "shop-helper"),
        ("assistant", "I will keep that in mind.", 5, "shop-helper"),
    ]
    # The block is the same one when it says something else.
    path.write_text(path.read_text().replace("She leads billing.", "She led billing."))
    again = memory.import_from("letta", path)
    assert (again.known, again.changed, again.new) == (5, 1, 0)


def test_the_first_form_of_an_agent_file_is_read_too(memory, tmp_path):
    agent = {"name": "old", "core_memory": [{"label": "human", "value": "Ana"}],
             "messages": [{"role": "user", "text": "hello", "created_at": "2025-01-01T00:00:00+00:00"}, {"role": 1}]}  # fmt: skip
    (tmp_path / "old.af").write_text(json.dumps(agent))
    report = memory.import_from("letta", tmp_path / "old.af")
    assert report.new == 2 and set(held(memory)) == {"Ana", "hello"}
    assert report.rejected == [("old, message 2", "a message needs a role")]


def test_the_database_of_mcp_memory_service_comes_in_with_tags_links_and_versions(memory, tmp_path):
    path = real("sqlite_vec.db", tmp_path)
    report = memory.import_from("mcp-memory-service", path.parent)
    assert (report.new, report.links, report.rejected) == (4, 3, [])
    assert dict(report.notes) == {
        "deleted memories were left out": 1, "links of the type 'fixes' are related_to here": 1,
    }  # fmt: skip
    found = held(memory)
    new, old = found["The staging port is 5433"], found["The staging port is 5432"]
    assert (old.state, old.superseded_by, old.valid_to) == ("superseded", new.id, new.valid_from)
    assert (new.kind, new.topics, new.metadata["ticket"]) == ("decision", ("db", "staging"), 7)
    hang = found["Deploys hang when the VPN is down"]
    assert (hang.kind, hang.topics, hang.metadata["memory_type"]) == ("lesson", ("deploy", "VPN"), "bug")
    fix = found["Reconnecting the VPN lets a deploy go on"]
    assert fix.topics == (), "untagged is no tag"
    assert linked(memory) == {
        (fix.content, "related_to", hang.content),
        (old.content, "related_to", hang.content),
        (new.content, "supersedes", old.content),
    }
    with closing(apsw.Connection(str(path))) as theirs:
        hashes = dict(theirs.execute("SELECT content, content_hash FROM memories WHERE deleted_at IS NULL"))
    assert_same_ids(found, hashes)
    assert memory.import_from("mcp-memory-service", path).known == 4


def test_the_database_of_claude_mem_comes_in_whole(memory, tmp_path):
    path = real("claude-mem.db", tmp_path)
    report = memory.import_from("claude-mem", path)
    assert (report.new, report.rejected, dict(report.notes)) == (4, [], {})
    found = {(one.metadata["claude_mem"], one.metadata.get("type")): one for one in held(memory).values()}
    bug = found["observation", "bugfix"]
    assert bug.content == (
        "Deploys hang when the VPN is down\nReconnecting lets them go on\n"
        "A deploy waited for ten minutes until the VPN was connected again.\n"
        "- The deploy waits for the registry\n- The registry is behind the VPN"
    )
    assert (bug.kind, bug.topics) == ("lesson", ("problem-solution", "gotcha", "shop"))
    assert bug.valid_from.isoformat() == "2026-01-05T12:00:00+00:00"
    assert bug.metadata["files_modified"] == ["deploy.py", "ops/vpn.md"]
    assert found["observation", "decision"].content == "The staging port is 5433"
    summary = found["summary", None]
    assert summary.kind == "episode" and summary.content.splitlines()[0] == "Request: Find why deploys hang"
    assert len(summary.content.splitlines()) == 5
    prompt = found["prompt", None]
    assert (prompt.speaker, prompt.content) == ("user", "Why do deploys hang?")
    assert {one.session for one in found.values()} == {"session-of-claude"}, "the client's own session"
    assert memory.import_from("claude-mem", path).known == 4


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


def test_the_folder_of_notes_of_basic_memory_comes_in_with_its_relations(memory, tmp_path):
    with tarfile.open(real("basic-memory.tar", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    report = memory.import_from("markdown", tmp_path / "notes")
    assert (report.new, report.links, report.rejected) == (5, 1, [])
    assert dict(report.notes) == {"links to files that are not there": 1}
    found = held(memory)
    assert set(found) == {
        "How we brew.", "Pour over gives more clarity than French press #taste",
        "Water at 94 °C (measured at the kettle)", "requires [[Not There]]", "The kitchen is on the second floor",
    }  # fmt: skip
    method = found["Pour over gives more clarity than French press #taste"]
    assert (method.kind, method.topics) == ("skill", ("coffee", "taste", "Coffee Brewing"))
    wanted = {"category": "method", "permalink": "main/brewing/coffee-brewing"}
    assert wanted.items() <= method.metadata.items()
    assert found["Water at 94 °C (measured at the kettle)"].kind == "decision"
    assert linked(memory) == {("How we brew.", "part_of", "The kitchen is on the second floor")}
    assert memory.import_from("markdown", tmp_path / "notes").known == 5


DATABASES = {
    "langgraph": "langgraph.db",
    "chroma": "chroma.sqlite3",
    "mcp-memory-service": "sqlite_vec.db",
    "claude-mem": "claude-mem.db",
}


@pytest.mark.parametrize("format", DATABASES)
def test_another_database_is_refused(memory, tmp_path, format):
    other = real("chroma.sqlite3" if format != "chroma" else "langgraph.db", tmp_path)
    with pytest.raises(BadInput, match="is no"):
        memory.import_from(format, other)


@pytest.mark.parametrize(("format", "text"), [("graphiti", "\0"), ("letta", "[1]"), ("letta", '{"name": "x"}')])
def test_another_file_is_refused(memory, tmp_path, format, text):
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadInput, match="is n"):
        memory.import_from(format, tmp_path / "x")


def assert_same_ids(found, theirs):
    assert {text: one.metadata["import"]["id"] for text, one in found.items()} == theirs
