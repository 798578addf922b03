"""One or two words that say nothing by themselves are no belief but an episode, and the receipt says so."""

from __future__ import annotations

import pytest

from tests.quality.halves import read

ROWS = read("short_statements.jsonl")


@pytest.mark.parametrize("text", ["ok", "done", "TODO", "see above", "Thanks!", "erledigt", "looks good", "de acuerdo"])
def test_it_becomes_an_episode_of_its_session(memory, text):
    receipt = memory.remember(text, session="monday")
    assert (receipt.status, receipt.kind) == ("created", "episode")
    assert receipt.reason.startswith("says nothing by itself: kept as an episode; `limpet edit ID --kind fact`")
    kept = memory.get(receipt.id)
    assert (kept.kind, kept.session, kept.content) == ("episode", "monday", text)
    assert memory.recall(text).items[0].id == receipt.id  # found all the same
    assert memory.remember(text, session="monday").id == receipt.id
    assert memory.promote(receipt.id).kind == "fact" and memory.get(receipt.id).kind == "fact"


@pytest.mark.parametrize(
    "given",
    [
        {"content": "Lisbon", "key": "user.city"}, {"content": "pnpm", "topics": ["tools"]},
        {"content": "vegan", "kind": "preference"}, {"content": "pnpm", "metadata": {"replaces": "npm"}},
        {"content": "ok then, we deploy"}, {"content": "https://docs.example.org"}, {"content": "port=8080"},
        {"content": "/srv/data"}, {"content": "4711"}, {"content": "毎週火曜日にデプロイする"},
        {"content": "Never rebase"}, {"content": "Use pnpm"}, {"content": "Keine Milch"}, {"content": "Python 3.12"},
    ],
    ids=lambda given: given["content"],
)  # fmt: skip
def test_what_says_something_stays_what_it_was_stated_as(memory, given):
    receipt = memory.remember(**given)
    assert receipt.reason is None and receipt.kind is None
    assert memory.get(receipt.id).kind == given.get("kind", "fact")


def test_a_batch_answers_the_same(memory):
    receipts = memory.remember_batch(["done", "Deploys go out on Tuesdays", "see above"])
    assert [one.kind for one in receipts] == ["episode", None, "episode"]


def test_of_two_words_nearly_all_that_say_nothing_are_seen_and_few_others(memory, capsys):
    pairs = [row for row in ROWS if len(row["text"].split()) == 2]
    receipts = memory.remember_batch([row["text"] for row in pairs])
    demoted = [one.kind == "episode" for one in receipts]
    nothing = [is_ for is_, row in zip(demoted, pairs, strict=True) if row["says"] == "nothing"]
    others = [is_ for is_, row in zip(demoted, pairs, strict=True) if row["says"] != "nothing"]
    with capsys.disabled():
        print(f"\nsay nothing: {sum(nothing)} of {len(nothing)}, wrongly {sum(others)} of {len(others)}")  # noqa: T201
    assert sum(nothing) >= 0.8 * len(nothing)
    assert sum(others) <= 0.05 * len(others)
