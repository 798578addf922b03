"""What a hook injects: for prompts that a memory fits, with and without names nobody knows yet, and for all the others."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

import limpet
from benchmarks import embedding_cache, own
from limpet.agents.hooks.entry import handle
from limpet.agents.hooks.gate import query_of
from limpet.agents.hooks.injected import ASKED, MESSAGE_TOKENS, Holdout, offered
from tests.quality.halves import is_held_back, read

HALVES = ("tuning", "held-back")
# Beside the 30 memories of the set: none, or those of two other projects.
OTHERS = (0, 170)
# Shares of the whole set, two prompts from what was measured (tests/quality/README.md).
RIGHT = {"plain": 0.80, "new name": 0.80}
RIGHT_BY_MEANING = {"plain": 0.90, "new name": 0.90}
WRONG = 0.10


def prompts():
    """(kind, prompt, the memory that fits it)."""
    for row in read("prompts.jsonl"):
        if "new_name" in row:
            yield from (("plain", row["prompt"], row["text"]), ("new name", row["new_name"], row["text"]))
        elif "prompt" in row:
            yield "nothing", row["prompt"], None


# Long messages are made of these: so many plain prompts, alone or around one that a memory fits.
PLAIN_IN_ONE = 5
# Shares of the whole set, two messages from what was measured: the right one shown, and anything where nothing fits.
RIGHT_IF_LONG, WRONG_IF_LONG = {"words": 0.50, "judge": 0.75}, {"words": 0.48, "judge": 0.43}


def long_messages():
    """(kind, message, the memory that fits it): with a prompt in the midst of others, and others alone."""
    several = [prompt if prompt[-1] in ".?!" else f"{prompt}." for kind, prompt, _ in prompts() if kind == "nothing"]
    fits = [(prompt, text) for kind, prompt, text in prompts() if kind != "nothing"]
    for number, (prompt, text) in enumerate(fits):
        around = [several[(number * PLAIN_IN_ONE + place) % len(several)] for place in range(PLAIN_IN_ONE)]
        yield "nothing", " ".join([*around, *(several[(number * 3 + place) % len(several)] for place in (7, 20))]), None
        yield "fits", " ".join([*around[:2], prompt, *around[2:]]), text


# Each store is made and asked once, by one worker.
STORES = [pytest.param(one, marks=pytest.mark.xdist_group(f"prompts beside {one}")) for one in OTHERS]


@pytest.fixture(scope="module", params=STORES)
def injected(request, tmp_path_factory):
    """(kind, half) -> whether the right memory was injected (of "nothing": whether any was), a value for each prompt."""
    path, clock = tmp_path_factory.mktemp("prompts") / "memory.db", limpet.FixedClock("2026-03-01T12:00:00Z")
    texts = [row["text"] for row in read("prompts.jsonl") if "text" in row]
    rows = own.read("memories.jsonl")
    others = [one["content"] for one in rows if one["scope"] in ("project:mobile", "project:ml")]
    embedder, found = embedding_cache.load(), defaultdict(list)
    with limpet.open(path, scope="global", clock=clock, embedder=embedder) as memory:
        every = texts + others[: request.param]
        memory.remember_batch({"content": text, "origin": "user", "anyway": True} for text in every)
    for kind, prompt, fitting in prompts():
        event = {"session_id": prompt, "cwd": str(path.parent), "prompt": prompt}
        argv = ["claude", "UserPromptSubmit", "--store", str(path), "--scope", "global"]
        said = handle(argv, json.dumps(event).encode(), clock).decode()
        found[kind, HALVES[is_held_back(prompt)]].append(fitting in said if fitting else said != "")
    return found


@pytest.fixture(scope="module")
def offered_by_meaning(tmp_path_factory):
    """The same where recall goes by meaning, among all other projects' memories, without the judge."""
    return offered_beside(tmp_path_factory, OTHERS[-1], judge=False)


@pytest.fixture(scope="module")
def offered_by_judge(tmp_path_factory):
    """As beside a running process: the judge reads what is found, among the 30 memories."""
    return offered_beside(tmp_path_factory, OTHERS[0], judge=True)


@pytest.fixture(scope="module", params=["words", "judge"])
def offered_if_long(request, tmp_path_factory):
    """How it is asked, and what long messages are shown, among all other projects' memories."""
    way = request.param
    return way, offered_beside(tmp_path_factory, OTHERS[-1], judge=way == "judge", asked=long_messages())


def offered_beside(tmp_path_factory, count, *, judge, asked=None):
    texts = [row["text"] for row in read("prompts.jsonl") if "text" in row]
    others = [one["content"] for one in own.read("memories.jsonl") if one["scope"] in ("project:mobile", "project:ml")]
    path, clock = tmp_path_factory.mktemp("meaning") / "memory.db", limpet.FixedClock("2026-03-01T12:00:00Z")
    embedder, found = embedding_cache.load(), defaultdict(list)
    with limpet.open(path, scope="global", clock=clock, embedder=embedder, judge=judge) as memory:
        every = texts + others[:count]
        memory.remember_batch({"content": text, "origin": "user", "anyway": True} for text in every)
        memory.work(only_vectors=True)
        for kind, prompt, fitting in asked or prompts():
            shown = []
            if query := query_of(prompt):
                how = {"thorough": True} if judge else {"lexical_only": asked is not None}
                recalled = memory.recall(query, k=ASKED, trace=True, **how)
                texts_by_id = {one.id: one.content for one in recalled.items}
                offer = offered(recalled, query, memory.abbreviate, MESSAGE_TOKENS, Holdout("", 0.0))
                shown = [texts_by_id[id] for id in offer.ids]
            found[kind, HALVES[is_held_back(prompt)]].append(fitting in shown if fitting else bool(shown))
    return found


def share(injected, kind):
    values = [one for half in HALVES for one in injected[kind, half]]
    return sum(values) / len(values)


def test_the_set_has_forty_prompts_of_each_sort_in_both_halves():
    kinds = [(kind, is_held_back(prompt)) for kind, prompt, _ in prompts()]
    assert [sum(one == kind for one, _ in kinds) for kind in ("plain", "new name", "nothing")] == [20, 20, 40]
    assert len(set(kinds)) == 6


@pytest.mark.parametrize("kind", RIGHT)
def test_what_fits_a_prompt_is_injected_whatever_new_it_names(injected, kind):
    assert share(injected, kind) >= RIGHT[kind]


def test_ordinary_prompts_that_nothing_answers_get_nothing(injected):
    assert share(injected, "nothing") <= WRONG


@pytest.mark.parametrize("kind", RIGHT_BY_MEANING)
def test_by_meaning_what_fits_a_prompt_is_shown(offered_by_meaning, kind):
    assert share(offered_by_meaning, kind) >= RIGHT_BY_MEANING[kind]


def test_by_meaning_ordinary_prompts_get_nothing(offered_by_meaning):
    assert share(offered_by_meaning, "nothing") <= WRONG


def test_by_the_judge_what_fits_is_shown_and_ordinary_prompts_get_nothing(offered_by_judge):
    right = [one for kind in RIGHT for half in HALVES for one in offered_by_judge[kind, half]]
    assert sum(right) >= 34 and len(right) == 40
    assert sum(one for half in HALVES for one in offered_by_judge["nothing", half]) <= 2


def test_a_long_message_is_shown_what_a_part_of_it_asks_for_and_not_what_it_only_has_words_of(offered_if_long):
    way, shown = offered_if_long
    assert share(shown, "fits") >= RIGHT_IF_LONG[way]
    assert share(shown, "nothing") <= WRONG_IF_LONG[way]
