"""A reranker puts the first results in its order, within the deadline, and recall does without one that cannot."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import limpet
from limpet.rank import constants

TEXTS = [f"Deploy step {n}: {what}" for n, what in enumerate(("build", "test", "sign", "upload", "announce"))]


class ByLength:
    """The longest first; keeps what it was given."""

    def __init__(self):
        self.seen = []

    def scores(self, query, texts):
        self.seen.append((query, list(texts)))
        return [len(text) for text in texts]


class Broken:
    def scores(self, query, texts):
        raise RuntimeError("no model file")


class Waiting:
    """Answers when it is let go."""

    def __init__(self):
        self.go = threading.Event()

    def scores(self, query, texts):
        self.go.wait(30)
        return [0.0 for _ in texts]


@pytest.fixture
def deploys(memory):
    memory.remember_batch({"content": text} for text in TEXTS)
    return memory


def test_a_reranker_orders_what_was_found(deploys):
    longest = ByLength()
    found = deploys.recall("deploy step", rerank=longest, lexical_only=True, explain=True)

    assert [len(one.content) for one in found.items] == sorted(map(len, TEXTS), reverse=True)
    assert longest.seen[0][0] == "deploy step"
    assert [one.why.signals["rerank"].rank for one in found.items] == [1, 2, 3, 4, 5]
    assert found.missing == []


def test_score_and_relevance_are_those_of_recall(deploys):
    plain = deploys.recall("deploy step sign", lexical_only=True)
    again = deploys.recall("deploy step sign", lexical_only=True, rerank=ByLength())

    assert {one.id: one.score for one in plain.items} == {one.id: one.score for one in again.items}
    assert (plain.relevance, plain.relevant) == (again.relevance, again.relevant)


def test_what_is_behind_the_first_stays_behind(deploys, monkeypatch):
    monkeypatch.setattr(constants, "RERANKED", 2)
    plain = deploys.recall("deploy step sign", k=2, lexical_only=True)
    longest = ByLength()
    found = deploys.recall("deploy step sign", k=2, lexical_only=True, rerank=longest)

    assert longest.seen[0][1] == [one.content for one in plain.items]
    assert {one.id for one in found.items} == {one.id for one in plain.items}


def test_a_reranker_that_fails_is_done_without_and_named(deploys):
    plain = deploys.recall("deploy step sign", lexical_only=True)
    found = deploys.recall("deploy step sign", lexical_only=True, rerank=Broken())

    assert [one.id for one in found.items] == [one.id for one in plain.items]
    assert found.missing == ["rerank"]
    assert found.notes["rerank"] == "RuntimeError: no model file"


@pytest.mark.parametrize("scores", [[1.0], [float("nan")] * 5, [None] * 5, None])
def test_scores_that_are_none_are_a_failure(deploys, scores):
    class Odd:
        def scores(self, query, texts):
            return scores

    found = deploys.recall("deploy step", lexical_only=True, rerank=Odd())

    assert found.missing == ["rerank"]
    assert len(found.items) == 5


def test_a_late_reranker_is_not_waited_for_nor_asked_again_while_it_works(deploys):
    waiting = Waiting()
    late = deploys.recall("deploy step", lexical_only=True, rerank=waiting, deadline_ms=50)
    again = deploys.recall("deploy step", lexical_only=True, rerank=waiting, deadline_ms=5_000)
    waiting.go.set()

    assert len(late.items) == len(again.items) == 5
    assert late.notes["rerank"] == "the deadline came before it had answered"
    assert again.notes["rerank"] == "it is still busy with an earlier recall"


def test_an_unknown_reranker_and_something_else_are_bad_input(deploys):
    with pytest.raises(limpet.BadInput, match="no reranker is called 'nobody'"):
        deploys.recall("deploy step", rerank="nobody")
    with pytest.raises(limpet.BadInput, match="a reranker has a method"):
        deploys.recall("deploy step", rerank=object())


def test_a_package_makes_a_reranker_known_by_name(path, tmp_path, deploys):
    site = tmp_path / "site"
    (site / "shortest-1.0.dist-info").mkdir(parents=True)
    (site / "shortest-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: shortest\nVersion: 1.0\n")
    (site / "shortest-1.0.dist-info" / "entry_points.txt").write_text(
        "[limpet.rerankers]\nshortest = shortest:Shortest\n"
    )
    (site / "shortest.py").write_text(
        "class Shortest:\n    def scores(self, query, texts):\n        return [-len(text) for text in texts]\n"
    )
    command = [
        sys.executable, "-c",
        f"import sys; sys.path.insert(0, {str(site)!r}); from limpet.cli.main import main; sys.exit(main(sys.argv[1:]))",
        "--store", str(path), "--scope", "project:api", "recall", "deploy step", "--lexical", "--rerank",
    ]  # fmt: skip

    told = subprocess.run([*command, "shortest"], capture_output=True, text=True, encoding="utf-8", check=True).stdout
    unknown = subprocess.run([*command, "nobody"], capture_output=True, text=True, encoding="utf-8", check=False)

    lengths = [len(text) for text in sorted(TEXTS, key=told.index)]
    assert lengths == sorted(lengths)
    assert unknown.returncode == 2
    assert "no reranker is called 'nobody'" in unknown.stderr
