"""Of two results that answer the same question, the newer comes first: in notes and turns, not for the past or siblings."""

from __future__ import annotations

import pytest

from limpet.recall.plan import asks_now, asks_past

OLD, NEW = "We use Jenkins for CI", "We no longer use Jenkins, CI runs on GitHub Actions"


@pytest.fixture
def said(memory):
    """A function that stores (text, date) pairs and gives their ids."""

    def store(*several, **given):
        return [memory.remember(text, valid_from=day, **given).id for text, day in several]

    return store


def first_two(memory, question, **options):
    return [one.id for one in memory.recall(question, k=5, **options).items][:2]


def places(memory, question, ids, **options):
    found = [one.id for one in memory.recall(question, k=5, **options).items]
    return [found.index(id) for id in ids]


def test_a_value_that_changed_comes_before_the_old_one(memory, said):
    old, new = said((OLD, "2024-03-01"), (NEW, "2026-02-01"))
    said(("The CI budget is reviewed by Ana every spring", "2026-02-20"))
    memory.work()
    for question in ("What do we use for CI now?", "What do we use for CI?"):
        for options in ({}, {"lexical_only": True}):
            first, second = places(memory, question, (new, old), **options)
            assert first == 0 and second > 0, (question, options)
    assert first_two(memory, "Is it Jenkins that we use for CI?") == [new, old], "the answer is no"


def test_a_question_about_the_past_or_as_of_a_time_has_the_order_of_its_words(memory, said):
    old, new = said((OLD, "2024-03-01"), (NEW, "2026-02-01"))
    assert first_two(memory, "Was it Jenkins that we used for CI?")[0] == old
    assert first_two(memory, "Is it Jenkins that we use for CI?", as_of="2026-02-20")[0] == old
    assert first_two(memory, "Is it Jenkins that we use for CI?", without=["recency"])[0] == old
    assert new in first_two(memory, "Was it Jenkins that we used for CI?")


def test_what_one_person_said_does_not_replace_what_another_said(memory, said):
    (ana,) = said(("I live in Lyon", "2024-03-01"), speaker="Ana")
    said(("I live in Turin", "2026-02-01"), speaker="Ben")
    assert first_two(memory, "Where does Ana live?")[0] == ana


def test_siblings_are_no_values_of_one_thing(memory, said):
    workers = said(*((f"Worker {i} runs on port {8100 + i}", f"2026-01-{i:02}") for i in range(1, 6)))
    assert first_two(memory, "Which port does worker 2 run on?")[0] == workers[1]


def test_a_question_for_now_takes_the_newer_of_two_answers_in_other_words(memory, said):
    said(("Ana has been living in York for two years", "2023-05-01"), kind="fact")
    new = said(("Ana moved to Leeds for her new job", "2025-11-01"), kind="fact")[0]
    said(("Ana bought a red bicycle", "2026-01-01"), ("Ben has a flat in York", "2024-01-01"), kind="fact")
    found = memory.recall("Where does Ana live these days?", k=4, trace=True)
    assert found.items[0].id == new
    first, second = found.items[:2]
    assert first.why.signals["newer"].contribution > 0 > second.why.signals["replaced"].contribution


def test_questions_say_which_time_they_ask_about():
    for text in ("What is the current plan?", "Is Ana still in York?", "Wo wohnt Ana jetzt?", "¿Dónde vive Ana ahora?"):
        assert asks_now(text) and not asks_past(text), text
    for text in ("Where did Ana live before Leeds?", "What was the first name of the product?"):
        assert asks_past(text) and not asks_now(text), text
    assert not asks_now("Where does Ana live?") and not asks_past("Where does Ana live?")


OWNED, GIVEN = "Ramesh owns the alerting rules", "The alerting rules are Dagny's, Ramesh gave them up"


def test_a_correction_comes_before_what_it_is_nearest_to(memory, said):
    (old,), (other,) = said((OWNED, "2026-01-10")), said(("Ramesh owns a sailing boat", "2026-01-11"))
    (new,) = said((GIVEN, "2026-02-01"), kind="correction")
    memory.work(only_vectors=True)

    first, second = places(memory, "Who owns the alerting rules?", (new, old))
    assert (first, second) == (0, 1)
    assert first_two(memory, "Who has a sailing boat?")[0] == other


def test_a_correction_that_nobody_vouches_for_moves_nothing(memory, said):
    said(
        ("The release train leaves on Tuesday", "2026-01-10"), ("The release train leaves Thursdays now", "2026-02-01")
    )
    (web,) = said(("The release train leaves on Friday", "2026-02-10"), kind="correction", origin="web")
    memory.work(only_vectors=True)
    found = {one.id: one for one in memory.recall("When does the release train leave?", trace=True)}
    assert "newer" not in found[web].why.signals
