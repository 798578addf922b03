"""One ranking for all: who says a thing, or whether anybody does, moves it only where the question names the speaker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import limpet
from benchmarks import embedding_cache
from benchmarks.own import read

SCOPE, DEPTH = "project:api", 20


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[limpet.Limpet]:
    """Each statement of a project as a note, as what Ana says, and as what she says in passing."""
    embedder = embedding_cache.load()
    path = tmp_path_factory.mktemp("one") / "memory.db"
    with limpet.open(path, scope="global", embedder=embedder, durable=False) as memory:
        texts = [one["content"] for one in read("memories.jsonl") if one["scope"] == SCOPE and one["op"] == "remember"]
        memory.remember_batch(
            {"content": text, "kind": kind, "speaker": speaker}
            for text in texts
            for kind, speaker in (("note", None), ("note", "Ana"), ("episode", "Ana"), ("episode", None))
        )
        memory.work(only_vectors=True)
        embedder.save()
        yield memory


def questions() -> list[str]:
    return [one["question"] for one in read("questions.jsonl") if one["scope"] == SCOPE and one["gold"]]


# `places`: other memories that may stand between the first and the last of the same. By words alone many are nearly tied.
@pytest.mark.parametrize(("lexical", "places"), [(False, 3), (True, 3)])
def test_the_same_memory_as_a_note_or_as_a_turn_ranks_within_a_place_or_two(twice, lexical, places):
    for question in questions():
        shown = [item.content for item in twice.recall(question, k=DEPTH, lexical_only=lexical).items]
        for content in set(shown):
            its = [place for place, one in enumerate(shown) if one == content]
            # The last of the results may have lost some of its four.
            if len(its) == 4:
                between = set(shown[its[0] : its[-1]]) - {content}
                assert len(between) <= places, (question, content, between)
