"""CrewAI's storage backend: what it keeps is what CrewAI's own LanceDB backend keeps; it is searched by recall."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime, timedelta

import pytest

pytest.importorskip("crewai")
os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai.memory.storage.backend import StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

import limpet
from limpet.features.adapters.crewai import LimpetBackend

T0 = datetime(2026, 2, 1)


def records():
    return [
        MemoryRecord(id=f"r{i}", content=text, scope=scope, categories=categories, metadata={"n": i % 2}, importance=0.1 * i, created_at=T0 + timedelta(days=i), last_accessed=T0)
        for i, (text, scope, categories) in enumerate([
            ("Releases leave on Tuesdays", "/shop/ops", ["release"]), ("Releases leave on Tuesdays", "/shop", ["release", "plan"]),
            ("Ana is allergic to peanuts", "/people/ana", ["health"]), ("The queue holds jobs for a day", "/shop/ops/queue", []),
            ("Bob waters the plants", "/people/bob", ["plants"]), ("Root note", "/", []),
        ])
    ]  # fmt: skip


def seen(record):
    return record and record.model_dump(exclude={"embedding"})


def test_it_keeps_what_crewais_own_backend_keeps(memory, tmp_path):
    ours, theirs = LimpetBackend(memory), LanceDBStorage(path=str(tmp_path / "lance"))
    assert isinstance(ours, StorageBackend)
    for store in (ours, theirs):
        made = records()
        for one, vector in zip(made, ours.embedder([one.content for one in made]), strict=True):
            one.embedding = vector
        store.save(made)
    memory.work()

    def same():
        for scope in (None, "/", "/shop", "/shop/ops", "/people", "/nothing"):
            assert ours.count(scope) == theirs.count(scope)
            assert ours.list_categories(scope) == theirs.list_categories(scope)
            assert [seen(one) for one in ours.list_records(scope)] == [seen(one) for one in theirs.list_records(scope)]
            pages = [[one.id for one in store.list_records(scope, limit=2, offset=1)] for store in (ours, theirs)]
            assert pages[0] == pages[1]
            mine, other = ours.get_scope_info(scope or "/"), theirs.get_scope_info(scope or "/")
            assert (mine.record_count, sorted(mine.categories), sorted(mine.child_scopes)) == (
                other.record_count, sorted(other.categories), sorted(other.child_scopes),
            )  # fmt: skip
            assert sorted(ours.list_scopes(scope or "/")) == sorted(theirs.list_scopes(scope or "/"))
        assert [seen(ours.get_record(f"r{i}")) for i in range(7)] == [
            seen(theirs.get_record(f"r{i}")) for i in range(7)
        ]

    same()
    for store in (ours, theirs):
        changed = store.get_record("r2")
        changed.content, changed.embedding = (
            "Ana is allergic to walnuts",
            ours.embedder(["Ana is allergic to walnuts"])[0],
        )
        store.update(changed)
    same()
    for given in (
        {"record_ids": ["r4"]},
        {"scope_prefix": "/shop/ops", "metadata_filter": {"n": 1}},
        {"categories": ["plan"]},
        {"older_than": T0 + timedelta(days=1)},
    ):
        assert ours.delete(**given) == theirs.delete(**given)
        same()
    for store in (ours, theirs):
        store.reset("/people")
    same()


def test_search_is_by_recall_within_scope_categories_and_metadata(memory):
    backend = LimpetBackend(memory)
    backend.save(records())
    memory.work()

    def found(question, **given):
        return [one.id for one, _ in backend.search(backend.embedder([question])[0], **given)]

    assert set(found("when do we ship new versions?", limit=2)) == {"r0", "r1"}
    assert found("when do we ship new versions?", scope_prefix="/shop/ops", limit=1) == ["r0"]
    assert found("when do we ship new versions?", categories=["plan"]) == ["r1"]
    assert set(found("anything", metadata_filter={"n": 1})) <= {"r1", "r3", "r5"}
    scores = [score for _, score in backend.search(backend.embedder(["which food can Ana not eat?"])[0])]
    assert all(0 <= one <= 1 for one in scores)
    assert len(asyncio.run(backend.asearch(backend.embedder(["plants"])[0], limit=1))) == 1
    with pytest.raises(limpet.BadInput, match="no known text"):
        backend.search([0.0] * 32)


def test_crewais_memory_remembers_and_recalls_with_it(memory):
    backend = LimpetBackend(memory)
    crew = Memory(storage=backend, embedder=backend.embedder)
    crew.remember("Releases leave on Tuesdays", scope="/shop", categories=["release"], importance=0.8)
    crew.drain_writes()
    memory.work()

    (match, *_) = crew.recall("when do releases leave?", depth="shallow")
    assert match.record.content == "Releases leave on Tuesdays" and match.record.scope == "/shop"
    assert "Releases leave on Tuesdays" in memory.recall("when do releases leave?").items[0].content
