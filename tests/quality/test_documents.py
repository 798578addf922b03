"""A folder of Markdown that nobody wrote for a rule: this project's own documentation, imported and checked."""

from __future__ import annotations

import shutil
from pathlib import Path

import limpet
from limpet.model.clock import FixedClock

DOCS = Path(__file__).parents[2] / "docs"
# What somebody at work on this project may ask; each is answered somewhere in there.
MESSAGES = (
    "How is an acknowledged write made durable?",
    "Add a ranking feature for the length of a text",
    "Which embedder is the default, and how is another one chosen?",
    "Why is BM25 computed in two phases?",
    "write an importer for another program",
    "What may the message hook inject?",
    "How do I move a store to another machine?",
    "the mirror's file was changed by hand, what happens?",
    "Where do the weights of fusion stand?",
    "What happens to the old value of a keyed fact?",
    "Does anything leave this machine?",
    "How are near-duplicates folded?",
    "limpet doctor says that texts wait for vectors",
    "What is a scope?",
    "How does sync between two laptops resolve a conflict?",
    "Which kinds of memories are there?",
    "How is confidence computed?",
    "undo the last import",
    "Is Postgres supported?",
    "What does purge erase?",
)


def test_documents_make_hardly_any_proposal_and_no_wrong_caution(tmp_path):
    clock, notes = FixedClock("2026-03-01T09:00:00+00:00"), tmp_path / "notes"
    for path in sorted(DOCS.rglob("*.md"), key=lambda one: one.stat().st_size)[:40]:
        (notes / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, notes / path.parent.name)
    with limpet.open(tmp_path / "memory.db", scope="project:docs", clock=clock, durable=False) as memory:
        memory.import_from("markdown", notes)
        memory.work()
        assert memory.count() > 200

        pairs = [one for one in memory.review(limit=1_000) if one.other is not None]
        assert len(pairs) <= 10, [(one.kind, one.other.content, one.memory.content) for one in pairs]
        for message in MESSAGES:
            brief = memory.prepare(message, budget_tokens=1_500)
            assert brief.tokens <= 1_500
            assert not [one for one in brief.warnings if one.what == "contradicts"], brief.text()
