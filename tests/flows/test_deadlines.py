"""What a recall does with the time it is given: words first, and nobody's slowness beyond it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

import limpet
from limpet.cli.main import main
from limpet.model.dataclass import replace
from limpet.recall.answer import recall
from limpet.recall.plan import make_plan
from tests.flows.test_work import WordEmbedder

COLD = """
import sys, limpet
with limpet.open(sys.argv[1], scope="global") as memory:
    found = memory.recall("customer pallet", deadline_ms=400)
    print(len(found.items), *found.missing, "numpy" in sys.modules)
"""


def test_a_cold_process_loads_nothing_for_vectors_that_its_deadline_has_no_time_for(path):
    """To load NumPy took all of a short deadline, before the first word was looked up."""
    with limpet.open(path, scope="global") as memory:
        memory.remember("The customer counts each pallet")
    done = subprocess.run([sys.executable, "-c", COLD, path], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["1", "vector", "False"]


def test_a_long_deadline_changes_no_answer_of_a_small_store(path, clock):
    """A word that all of a few texts have is in none of the lists that are held: it was left out as if too late."""
    with limpet.open(path, scope="global", clock=clock) as memory:
        memory.remember("We use ruff as the linter")
        for _ in range(3):
            patient, timed = memory.recall("linter"), memory.recall("linter", deadline_ms=600_000)
            assert timed.missing == []
            assert (timed.items, timed.relevance) == (patient.items, patient.relevance)


def test_a_deadline_that_came_before_words_were_looked_at_is_not_called_nothing(path, capsys):
    with limpet.open(path, scope="global") as memory:
        memory.remember("The customer counts each pallet")
    for more in ([], ["--sessions"]):
        code = main(
            ["recall", "pallet customer", "--store", str(path), "--scope", "global", "--deadline-ms", "0.001", *more]
        )
        said = capsys.readouterr().err
        assert code == 3
        assert "nothing" not in said and "deadline came" in said
    assert main(["recall", "zebra", "--lexical", "--store", str(path), "--scope", "global"]) == 1


def test_what_came_before_the_words_takes_none_of_their_time(path):
    """As opening a store on a cold disk does, or counting what waits for vectors in a large one."""
    with limpet.open(path, scope="global") as memory:
        stored = memory.remember("The customer counts each pallet").id
        context = memory._context
        plan = make_plan(
            "pallet customer", replace(context.filter(), as_of=context.now()), k=3, now=context.now(), deadline_ms=500,
            budget_tokens=None, lexical_only=True, without=frozenset(),
        )  # fmt: skip
        time.sleep(0.6)
        found = recall(context.store, None, plan)
    assert [one.id for one in found.items] == [stored] and "lexical" not in found.missing


def test_a_recall_without_time_for_vectors_does_not_count_those_that_are_missing(path, clock):
    """Counting the texts that wait took longer than a search by words."""
    with limpet.open(path, scope="global", clock=clock, embedder=WordEmbedder()) as memory:
        memory.remember("Deploys run on Friday")
        memory.work()
        stored = memory.remember("Backups run on Monday").id
        found = memory.recall("backups", deadline_ms=20)
        assert [one.id for one in found.items][:1] == [stored] and "vector" in found.missing
        assert found.notes["vector"] in ("texts wait for their vectors: `limpet work` makes them", *OUT_OF_TIME)
        assert memory.recall("backups", deadline_ms=60_000).missing == []


# What a busy machine may say in its place.
OUT_OF_TIME = (
    "the deadline leaves no time to embed the query",
    "the deadline leaves no time to load the embedding model",
)


class Timed(WordEmbedder):
    """Takes its time, and knows how long."""

    spent_ms = 0.0

    def embed_passages(self, texts):
        began = time.perf_counter()
        time.sleep(0.05)
        self.spent_ms += (time.perf_counter() - began) * 1000
        return super().embed_passages(texts)


def test_the_time_that_is_told_has_what_came_before_the_search(path, clock):
    embedder = Timed()
    with limpet.open(path, scope="global", clock=clock, embedder=embedder) as memory:
        memory.remember("Deploys run on Friday")
        assert memory.recall("deploys").elapsed_ms >= embedder.spent_ms > 0
        memory.remember("Backups run on Monday")
        embedder.spent_ms = 0.0
        assert memory.recall_sessions("backups").elapsed_ms >= embedder.spent_ms > 0


class Unmeasured(WordEmbedder):
    """Says nothing of its cosines; does not answer until it is let."""

    calibration = None

    def __init__(self):
        super().__init__()
        self.may = threading.Event()

    def embed_passages(self, texts):
        self.may.wait(60)
        return super().embed_passages(texts)


@pytest.mark.parametrize("deadline_ms", [4_000, None])
def test_an_embedder_that_takes_long_to_measure_keeps_no_recall(path, clock, deadline_ms):
    """The measuring goes on beside it, and a later recall has the vectors."""
    embedder = Unmeasured()
    with limpet.open(path, scope="global", clock=clock, embedder=embedder) as memory:
        stored = memory.remember("Deploys run on Friday").id
        found = memory.recall("deploys", deadline_ms=deadline_ms)
        assert ([one.id for one in found.items], found.missing) == ([stored], ["vector"])
        assert "busy" in found.notes["vector"] or "deadline came" in found.notes["vector"]
        embedder.may.set()
        for _ in range(3_000):
            if memory._context.semantic().load().calibration is not None:
                break
            time.sleep(0.01)
        assert memory.recall("deploys", deadline_ms=60_000).missing == []
        assert memory._context.store.vectors.embedder().calibration is not None


def test_a_short_deadline_does_without_the_vector_of_a_long_question(path, clock):
    """To embed 1,400 characters took longer than the whole recall was given."""
    with limpet.open(path, scope="global", clock=clock) as memory:
        stored = memory.remember("Deploys run on Friday").id
        memory.work()
        assert memory.recall("when do deploys run?").missing == []
        found = memory.recall("When do deploys run, and what was said of it? " * 30, deadline_ms=50)
        assert [one.id for one in found.items] == [stored] and "vector" in found.missing
        assert found.notes["vector"] == "the deadline leaves no time to embed the query"
