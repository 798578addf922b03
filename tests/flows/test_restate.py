"""Saying a thing again: what the second call adds is kept and listed, what cannot be kept is named."""

from __future__ import annotations

import json

import pytest

import limpet
from limpet.agents.tools import Tools
from limpet.cli.main import main

TEXT = "Deploys need the VPN"


def everything(memory, id):
    return [one.as_dict() for one in memory.history(id)]


def test_all_that_the_second_call_says_is_kept_and_listed(memory, clock):
    why = memory.remember("The office network was scanned").id
    id = memory.remember(TEXT, topics=["deploy"], metadata={"line": 1}).id
    clock.advance(days=1)

    receipt = memory.remember(
        "deploys need the VPN.", topics=["vpn", "deploy"], metadata={"line": 2, "by": "Ben"}, because=[why], pin=True,
        importance=0.9, confidence=0.8, origin="user", source="ops.md:3", valid_from="2026-01-01",
        valid_to="2027-01-01",
    )  # fmt: skip

    assert (receipt.status, receipt.id, receipt.reason) == ("observed", id, None)
    assert set(receipt.added) == {
        "topics", "metadata", "because", "pin", "importance", "confidence", "origin", "source", "valid_from", "valid_to"
    }  # fmt: skip
    assert receipt.as_dict()["added"] == list(receipt.added)
    now = memory.get(id)
    assert now.content == TEXT
    assert now.topics == ("deploy", "vpn") and now.metadata == {"line": 2, "by": "Ben"}
    assert now.pinned and (now.importance, now.stated_confidence) == (0.9, 0.8)
    assert (now.origin, now.trust, now.source) == ("user", "agent", "ops.md:3"), "it rests on what an agent said"
    assert (now.valid_from_us, now.valid_to_us) == (limpet.FixedClock("2026-01-01T00:00:00Z").now(), 1798761600000000)
    assert [one.id for one in memory.why(id).reasons] == [why]
    assert now.observations == 2


def test_undo_takes_all_of_it_back_and_a_rebuild_keeps_it(memory, clock):
    why = memory.remember("The office network was scanned").id
    id = memory.remember(TEXT, topics=["deploy"], metadata={"line": 1}).id
    before = memory.get(id)
    clock.advance(days=1)
    memory.remember(TEXT, topics=["vpn"], metadata={"line": 2}, because=[why], pin=True, importance=0.9, origin="user")
    history = everything(memory, id)
    memory.rebuild()
    assert everything(memory, id) == history and [one.id for one in memory.why(id).reasons] == [why]
    memory.undo()
    now = memory.get(id)
    for name in ("topics", "metadata", "pinned", "importance", "origin", "trust", "observations", "stated_confidence"):
        assert getattr(now, name) == getattr(before, name), name
    assert memory.why(id).reasons == []


def test_what_adds_nothing_is_one_event_and_says_nothing(memory):
    given = {"topics": ["deploy"], "metadata": {"line": 1}, "pin": True, "importance": 0.9, "source": "ops.md:3"}
    memory.remember(TEXT, **given)
    events = memory.stats().events
    receipt = memory.remember(TEXT, **given)
    assert (receipt.status, receipt.added, receipt.reason) == ("observed", (), None)
    assert memory.stats().events == events + 1
    memory.remember(TEXT)
    now = memory.get(receipt.id)
    assert (now.importance, now.pinned) == (0.9, True), "what was not said changes nothing"


def test_what_cannot_be_kept_is_named(memory):
    first = memory.remember(TEXT, session="s1", source="ops.md:3").id
    second = memory.remember("The VPN is slow", because=[first]).id

    receipt = memory.remember(TEXT, session="s2", source="other.md:9", because=[second], id="0" * 31 + "1")

    assert receipt.id == first and receipt.added == ()
    for name in ("session s2", "source other.md:9", f"because {second}", "id"):
        assert name in receipt.reason
    assert memory.get(first).session == "s1"


def test_too_many_topics_are_named(memory):
    id = memory.remember(TEXT, topics=[f"t{i}" for i in range(49)]).id
    receipt = memory.remember(TEXT, topics=["a", "b", "c"])
    assert receipt.added == ("topics",) and "topics b, c" in receipt.reason
    assert memory.get(id).topics[-1] == "a"


def test_a_lower_origin_adds_and_replaces_nothing(memory):
    id = memory.remember(TEXT, origin="user", importance=0.9, confidence=0.9, metadata={"line": 1}).id
    receipt = memory.remember(
        TEXT, origin="web", importance=0.1, confidence=0.1, metadata={"line": 2, "seen": "a page"}, topics=["vpn"],
        valid_from="2020-01-01", valid_to="2027-01-01",
    )  # fmt: skip
    assert set(receipt.added) == {"metadata", "topics"}
    for name in ("importance", "confidence", "metadata line", "valid_from", "valid_to"):
        assert f"{name} (that of origin user stays)" in receipt.reason
    now = memory.get(id)
    assert (now.importance, now.stated_confidence, now.valid_to_us, now.trust) == (0.9, 0.9, None, "user")
    assert now.metadata == {"line": 1, "seen": "a page"} and now.topics == ("vpn",)


def test_a_higher_origin_vouches_unless_what_it_rests_on_is_trusted_less(memory):
    page = memory.remember("A page says the VPN is needed", origin="web").id
    plain = memory.remember(TEXT, origin="web").id
    derived = memory.remember("Ship from the office", because=[page]).id

    assert memory.remember(TEXT, origin="user").added == ("origin",)
    assert (memory.get(plain).origin, memory.get(plain).trust) == ("user", "user")
    assert memory.correct(plain, "Deploys need nothing").status == "proposed"

    assert memory.remember("Ship from the office", origin="user").added == ("origin",)
    assert (memory.get(derived).origin, memory.get(derived).trust) == ("user", "web")
    assert memory.remember("Ship from the office", origin="user").added == ()
    leaned = memory.remember("Never ship at night", origin="web").id
    memory.remember("Never ship at night", origin="user", because=[page])
    assert (memory.get(leaned).origin, memory.get(leaned).trust) == ("user", "web")


def test_a_restatement_gives_a_memory_its_key(memory):
    id = memory.remember("We deploy with make release").id
    receipt = memory.remember("We deploy with make release", key="deploy.command")
    assert (receipt.id, receipt.added) == (id, ("key",))
    assert memory.fact("deploy.command").id == id
    memory.undo()
    assert memory.get(id).key is None

    memory.set_fact("deploy.command", "We deploy by hand", origin="user")
    assert memory.remember("We deploy with make release", key="deploy.command").status == "proposed"
    assert memory.fact("deploy.command").value == "We deploy by hand"


def test_the_same_words_of_another_time_are_another_memory(memory):
    """That it held in 2019 says nothing of today, and that it will again is not said yet."""
    now = memory.remember(TEXT, valid_to="2026-06-01").id
    past = memory.remember(TEXT, valid_from="2019-01-01", valid_to="2020-01-01")
    later = memory.remember(TEXT, valid_from="2026-09-01")
    assert (past.status, later.status) == ("created", "created") and len({now, past.id, later.id}) == 3

    memory.set_fact("user.city", "Tampa", valid_from="2025-01-01")
    memory.set_fact("user.city", "Rome", valid_from="2018-01-01")
    for status in ("created", "observed"):
        assert memory.set_fact("user.city", "Tampa", valid_from="2020-01-01").status == status
    assert [one.value for one in memory.fact_history("user.city")] == ["Rome", "Tampa", "Tampa"]
    assert memory.fact("user.city", as_of="2021-01-01").value == "Tampa"


def test_a_batch_adds_too_also_to_what_it_has_just_said(memory):
    item = {"content": TEXT}
    receipts = memory.remember_batch(
        [item, item | {"topics": ["vpn"], "pin": True}, item | {"topics": ["deploy"], "importance": 0.9}, item]
    )
    assert [one.status for one in receipts] == ["created", "observed", "observed", "observed"]
    assert [one.added for one in receipts] == [(), ("topics", "pin"), ("importance", "topics"), ()]
    now = memory.get(receipts[0].id)
    assert now.topics == ("vpn", "deploy") and now.pinned and now.importance == 0.9
    more = memory.remember_batch([item | {"topics": ["a"]}, item | {"topics": ["b"]}])
    assert [one.added for one in more] == [("topics",), ("topics",)]
    assert memory.get(now.id).topics == ("vpn", "deploy", "a", "b")


def test_agents_and_commands_are_told(memory, path, capsys):
    memory.remember(TEXT)
    (result,) = Tools(memory, lambda: None).remember([{"content": TEXT, "topics": ["vpn"]}])["results"]
    assert (result["status"], result["added"]) == ("observed", ["topics"])
    assert main(["--store", str(path), "--scope", "project:api", "--json", "remember", TEXT, "--pin"]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == ["pin"]
    assert main(["--store", str(path), "--scope", "project:api", "remember", TEXT, "--topic", "ops"]) == 0
    assert "added: topics" in capsys.readouterr().out


def test_a_reason_that_is_not_there_is_an_error_the_second_time_too(memory):
    memory.remember(TEXT)
    with pytest.raises(limpet.NotFound):
        memory.remember(TEXT, because=["01890000-0000-7000-8000-000000000001"])
