"""What was corrected and is said again is noted; it comes back when somebody says that it holds again."""

from __future__ import annotations

import pytest

import limpet

PAIRS = [
    ("We use Jenkins for CI", "We use GitHub Actions for CI"),
    ("Ana owns billing", "Ben owns billing"),
    ("the staging database is Postgres 14", "the staging database is Postgres 17"),
    ("indent with tabs", "indent with spaces"),
    ("The API has no pagination", "The API supports pagination with cursors"),
    ("The office is in Warsaw", "The office is in Tampa"),
    ("release notes are written by hand", "release notes come from the changelog"),
    ("Invoices are sent on the 1st", "Invoices are sent on the 15th"),
    ("We prefer Go for services", "We prefer Rust for services"),
    ("Retries are done three times", "Retries are done five times"),
]


@pytest.fixture(params=PAIRS, ids=lambda pair: pair[0])
def corrected(request, memory, clock):
    """(memory, old text, old id, new text, new id): `old` was corrected to `new` yesterday."""
    old, new = request.param
    first = memory.remember(old, origin="agent").id
    clock.advance(days=1)
    second = memory.correct(first, new, why="it changed").id
    clock.advance(days=1)
    return memory, old, first, new, second


@pytest.mark.parametrize("origin", ["agent", "tool", "web"])
def test_an_old_statement_that_is_repeated_is_an_observation_of_it(corrected, origin):
    memory, old, first, new, second = corrected

    receipt = memory.remember(old, origin=origin)

    assert (receipt.id, receipt.status) == (first, "observed")
    assert second in receipt.reason and new in receipt.reason
    assert [one.content for one in memory.list().memories] == [new]
    assert memory.recall(old, lexical_only=True).items[0].id == second
    assert memory.get(first).observations == 2


def test_what_the_repetition_adds_is_kept_with_what_was_corrected(corrected):
    memory, old, first, *_ = corrected

    receipt = memory.remember(old, topics=["tools"], metadata={"seen": "wiki"}, importance=0.9, pin=True)

    known = memory.get(first)
    assert (known.topics, known.metadata["seen"], known.importance, known.pinned) == (("tools",), "wiki", 0.9, True)
    assert set(receipt.added) >= {"topics", "metadata", "importance", "pin"}
    memory.undo()
    assert memory.get(first).topics == ()


def test_what_replaced_it_in_another_scope_is_told_to_nobody(memory, path, clock):
    first = memory.remember("The office is in Warsaw").id
    clock.advance(days=1)
    memory.correct(first, "The office is in Tampa", scope="project:secret")
    clock.advance(days=1)

    receipt = memory.remember("The office is in Warsaw")

    assert (receipt.status, receipt.reason) == ("created", None)


def test_of_the_user_it_is_asked_about_and_accepted_it_holds_again(corrected):
    memory, old, _, new, second = corrected

    receipt = memory.remember(old, origin="user")

    assert receipt.status == "proposed"
    assert second in receipt.reason
    assert [one.content for one in memory.list().memories] == [new]
    (item,) = [one for one in memory.review() if one.id == receipt.id]
    memory.accept(item.id)
    assert [one.content for one in memory.list().memories] == [old]
    assert memory.get(second).superseded_by == receipt.id


def test_of_the_user_it_is_asked_about_once(corrected):
    memory, old, *_ = corrected
    waiting = memory.remember(old, origin="user").id

    again = memory.remember(old, origin="user")

    assert (again.id, again.status) == (waiting, "observed")
    assert sum(one.id == waiting for one in memory.review()) == 1


def test_a_correction_back_is_a_revert_with_its_history(corrected):
    memory, old, first, new, second = corrected

    back = memory.correct(second, old, why="the change was taken back").id

    assert [one.content for one in memory.list().memories] == [old]
    assert [memory.get(id).content for id in (first, second, back)] == [old, new, old]


def test_undo_of_the_correction_is_a_revert(corrected):
    memory, old, *_ = corrected

    memory.undo()

    assert [one.content for one in memory.list().memories] == [old]


def test_what_is_said_of_another_time_is_a_statement_of_its_own(corrected):
    memory, old, first, *_ = corrected

    assert memory.remember(old, valid_from="2026-06-01").status == "created"
    assert memory.get(first).observations == 1


def test_what_replaced_it_holds_no_more_and_the_old_statement_may_be_made_anew(corrected):
    memory, old, _, _, second = corrected
    memory.retract(second, "wrong too")

    assert memory.remember(old).status == "created"


def test_a_value_that_is_set_again_is_set(memory):
    memory.set_fact("ci.tool", "Jenkins")
    memory.set_fact("ci.tool", "GitHub Actions")

    assert memory.set_fact("ci.tool", "Jenkins").status == "created"
    assert memory.fact("ci.tool").value == "Jenkins"


def test_another_scope_hears_nothing_of_it(corrected, path, clock):
    _, old, *_ = corrected
    with limpet.open(path, scope="project:other", clock=clock) as other:
        assert other.remember(old).status == "created"
