"""The injection set is well formed, and hooks without a running process bring to its tuning half what they did."""

from __future__ import annotations

import json
from collections import Counter

from benchmarks.injection import SET, measured, summary

# By words, tuning half, as recorded (benchmarks/results, injection-cold): right .567, nothing .822, precision .651. A
# message of the half is .011.
LEAST = {"right": 0.53, "nothing": 0.79, "precision": 0.60}


def read():
    stores = json.loads((SET / "stores.json").read_text("utf-8"))
    prompts = [json.loads(line) for line in (SET / "prompts.jsonl").read_text("utf-8").splitlines()]
    return {one["name"]: one["memories"] for one in stores}, prompts


def test_the_set_is_120_messages_to_each_of_three_stores_half_of_them_for_tuning():
    stores, prompts = read()
    assert {name: len(memories) for name, memories in stores.items()} == {"small": 8, "medium": 60, "life": 160}
    counts = Counter((one["store"], one["half"], bool(one["wants"])) for one in prompts)
    halves = ("tuning", "held_back")
    assert counts == {(store, half, wants): 30 for store in stores for half in halves for wants in (True, False)}


def test_every_message_is_one_of_its_own_and_wants_memories_of_its_store():
    stores, prompts = read()
    ids = {name: [one["id"] for one in memories] for name, memories in stores.items()}
    everything = [id for several in ids.values() for id in several]
    assert len(everything) == len(set(everything)) and len({one["id"] for one in prompts}) == len(prompts)
    # The same words are in one half alone.
    assert len({(one["store"], " ".join(one["prompt"].casefold().split())) for one in prompts}) == len(prompts)
    for one in prompts:
        assert set(one["wants"]) <= set(ids[one["store"]]), one["id"]
        assert one["prompt"].strip() and one["half"] in ("tuning", "held_back"), one["id"]


def test_without_a_process_hooks_bring_what_they_were_measured_to_bring():
    rows = measured("limpet", cold=True, half="tuning")
    shares = summary(rows)
    assert len(rows) == 180 and {name: shares[name] for name in LEAST if shares[name] < LEAST[name]} == {}
    assert shares["repeats"] == 0
