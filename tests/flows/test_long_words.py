"""A word without an end, in any script: no recall fails because of it, cold or warm, in its scope or another."""

from __future__ import annotations

import pytest

import limpet

SCOPES = ("project:api", "project:web", "global")
# A letter before the run moves the byte at which the full-text index cuts the word into a character.
LONG = {
    "han": "x" + "漢" * 12_000,
    "han, cut after one byte": "xy" + "漢" * 12_000,
    "thai": "x" + "ก" * 12_000,
    "cyrillic": "x" + "ж" * 20_000,
    "arabic": "x" + "ب" * 20_000,
    "gothic": "x" + "𐌰" * 10_000,
    "ascii": "x" * 40_000,
    "at the bound": "x" * 32_768,
}


def store_everywhere(memory, *texts):
    for scope in SCOPES:
        memory.in_scope(scope).remember_batch([f"{scope}: {text}" for text in texts])
    memory.work()


def found_by(memory, query):
    return [[item.content for item in memory.in_scope(scope).recall(query).items] for scope in SCOPES]


@pytest.mark.parametrize("script", LONG)
def test_a_word_without_an_end_costs_no_recall(path, clock, script):
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        store_everywhere(memory, "The deploy service listens on port 8443", "Backups run at night")
        long = memory.remember(LONG[script]).id
        memory.work()

        answers = [found_by(memory, "Which port does the deploy service listen on?") for _ in range(4)]
        assert all("port 8443" in scope[0] for answer in answers for scope in answer)
        assert memory.get(long).content == LONG[script]

    with limpet.open(path, scope="project:api", clock=clock) as memory:
        again = [found_by(memory, "Which port does the deploy service listen on?") for _ in range(4)]
        assert again == answers


@pytest.mark.parametrize("script", LONG)
def test_a_word_without_an_end_that_comes_to_a_warm_process_costs_no_recall(memory, script):
    store_everywhere(memory, "The deploy service listens on port 8443", "Backups run at night")
    before = [found_by(memory, "deploy service port") for _ in range(3)][-1]

    memory.in_scope("project:web").remember(LONG[script])
    store_everywhere(memory, *(f"Rota {n}: somebody is on call" for n in range(20)))

    after = [found_by(memory, "deploy service port") for _ in range(3)][-1]
    assert [scope[0] for scope in after] == [scope[0] for scope in before]


def test_a_word_that_the_index_cuts_is_found_by_itself_cold_and_warm(path, clock, ids):
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        store_everywhere(memory, "The deploy service listens on port 8443")
        long = memory.remember(LONG["ascii"]).id
    with limpet.open(path, scope="project:api", clock=clock) as memory:
        for _ in range(3):
            assert ids(memory.recall(LONG["ascii"], lexical_only=True))[:1] == [long]
