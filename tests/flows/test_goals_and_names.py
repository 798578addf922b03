"""Goals that are reached, keys in another spelling, and what there is to ask about."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.cli.main import main


def open_goals(memory):
    return [one.content for one in memory.list(kind=["goal"]).memories]


def test_a_reached_goal_leaves_the_open_ones_and_says_so(memory, clock):
    goal = memory.remember("Ship the billing page", kind="goal").id
    clock.advance(days=1)
    assert memory.archive(goal, reached=True).reason == "reached"
    clock.advance(days=1)

    assert open_goals(memory) == [] and not memory.prepare("billing page").section("goals")
    one = memory.get(goal)
    assert (one.reason, one.state, one.valid_to_us) == ("reached", "active", clock.now() - 86_400_000_000)
    assert memory.archive(goal, reached=True).status == "unchanged"
    assert memory.verify() == []


def test_a_goal_is_open_again_after_an_undo(memory):
    goal = memory.remember("Ship the billing page", kind="goal").id
    memory.archive(goal, reached=True)
    memory.undo()
    assert open_goals(memory) == ["Ship the billing page"] and memory.get(goal).reason is None


def test_a_page_does_not_end_what_the_user_wants(memory):
    goal = memory.remember("Ship the billing page", kind="goal", origin="user").id
    assert memory.archive(goal, reached=True, origin="web").status == "proposed"
    assert open_goals(memory) == ["Ship the billing page"]
    assert memory.archive(goal, reached=True).status == "changed"


def test_only_a_goal_can_be_reached(memory):
    with pytest.raises(limpet.BadInput, match="not a goal"):
        memory.archive(memory.remember("The API has a limit").id, reached=True)


def test_the_command_shows_a_goal_as_reached(memory, path, capsys):
    memory.archive(memory.remember("Ship the billing page", kind="goal").id, reached=True)
    at = ["--store", str(path), "--scope", memory.scope]
    assert main([*at, "list", "--all"]) == 0
    assert "[reached] Ship the billing page" in capsys.readouterr().out


def test_a_key_in_another_case_is_the_same_key_and_the_receipt_says_so(memory, clock):
    memory.set_fact("user.city", "Tampa")
    clock.advance(days=1)
    receipt = memory.set_fact("User.City", "Warsaw")
    assert (receipt.status, receipt.reason) == ("created", "its key is user.city")
    assert memory.fact("user.city").value == memory.fact("USER.city").value == "Warsaw"
    assert [one.value for one in memory.fact_history("User.City")] == ["Tampa", "Warsaw"]

    clock.advance(days=1)
    memory.end_fact("User.city")
    clock.advance(days=1)
    with pytest.raises(limpet.NotFound):
        memory.fact("user.city")


def test_keys_of_one_batch_are_compared_without_case_too(memory):
    memory.remember_batch([{"content": "Tampa", "key": "user.city"}, {"content": "Oslo", "key": "User.city"}])
    assert [one.key for one in memory.list().memories] == ["user.city"]


def test_topics_and_entities_are_listed_the_most_used_first(memory, path, capsys):
    memory.remember("RateLimiter guards api/limits.py", topics=["api", "limits"])
    memory.remember("Marta wrote the rate_limiter", topics=["api"])
    gone = memory.remember("Pedro left", topics=["people"]).id
    memory.retract(gone, "he did not")
    found = {one.name: one.count for one in memory.graph.entities()}
    assert found["RateLimiter"] == 2 and found["Marta"] == 1 and "Pedro" not in found

    at = ["--store", str(path), "--scope", memory.scope]
    assert main([*at, "list", "--by", "topic", "--limit", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"topic": "api", "memories": 2}
    assert main([*at, "list", "--by", "entity"]) == 0
    assert "Marta" in capsys.readouterr().out
