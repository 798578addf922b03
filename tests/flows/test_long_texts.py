"""Long texts: what stands anywhere in one is found, and it is that part which is shown."""

from __future__ import annotations

import pytest

import limpet
from limpet.text.excerpt import LONG, sections
from tests.property.test_columns import Checksums

LOG = "\n".join(
    f"2026-03-02 04:{n:02}:00 INFO worker {n % 7}: batch {n * 13} of invoices written in {n * 3} ms" for n in range(70)
)
END = "2026-03-02 05:20:00 ERROR the courier's printer in Ghent is out of labels, so no parcel left today"
OTHERS = ("The user drinks tea without milk.", "Deploys go out on Tuesdays.", "Ana leads the platform team.")
QUESTION = "Why was nothing shipped from Belgium?"


@pytest.fixture
def stored(memory):
    """The id of a log whose last line says something."""
    for text in OTHERS:
        memory.remember(text)
    id = memory.remember(f"{LOG}\n{END}", kind="note").id
    memory.work(only_vectors=True)
    return id


def test_the_last_line_of_a_long_log_is_found_and_shown(memory, stored):
    first = memory.recall(QUESTION).items[0]
    assert first.id == stored and END in first.part and len(first.part) < 2 * LONG
    assert first.as_dict()["part"] == first.part
    assert all(not item.part for item in memory.recall("tea with milk?").items if item.id != stored)


def test_a_brief_quotes_the_part_that_is_about_the_message(memory, stored):
    brief = memory.prepare("What is wrong with the label printer of the courier in Ghent?")
    (line,) = [item for section in brief.sections for item in section.items if item.id == stored]
    assert END[-60:] in line.content and line.cut


def test_the_parts_of_a_text_are_all_of_it_in_order():
    text = f"{LOG}\n{END}"
    assert "".join("".join(sections(text)).split()) == "".join(text.split())
    assert len(sections(text)) == pytest.approx(len(text) / 400, rel=0.1)
    assert sections(text[:LONG]) == []
    assert max(map(len, sections("x" * 9_000))) <= 800


def test_a_purge_takes_the_vectors_of_the_parts_along(memory, stored):
    before = memory.stats().vectors
    assert before == len(OTHERS) + 1 + len(sections(f"{LOG}\n{END}"))
    memory.purge(stored, confirm=True)
    assert memory.stats().vectors == len(OTHERS)
    assert memory.verify() == []


def test_parts_are_made_anew_when_topics_change_and_stay_when_rows_are_rebuilt(memory, stored):
    count = memory.stats().vectors
    memory.tag(stored, ["printing"])
    assert memory.stats().vectors == len(OTHERS)
    memory.work(only_vectors=True)
    memory.rebuild()
    assert memory.stats().vectors == count and memory.verify() == []
    assert END in memory.recall(QUESTION).items[0].part


def test_a_recall_embeds_the_beginning_and_leaves_the_parts_to_a_worker(memory):
    id = memory.remember(f"{LOG}\n{END}", kind="note").id
    memory.recall("invoices", deadline_ms=2_000)
    assert memory.stats().vectors == 1
    assert memory.work(only_vectors=True).remaining == 0
    assert memory.recall(QUESTION).items[0].id == id and memory.stats().vectors > 10


def test_another_embedder_has_vectors_of_the_parts_too(path):
    with limpet.open(path, scope="global") as memory:
        memory.remember(f"{LOG}\n{END}", kind="note")
        memory.work(only_vectors=True)
        count = memory.stats().vectors
    with limpet.open(path, scope="global", embedder=Checksums()) as memory:
        memory.work(again=True)
        memory.work()
        assert memory.stats().vectors == count and memory.verify() == []
