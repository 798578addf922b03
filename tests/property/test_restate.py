"""Whatever a second statement of the same words says is on the memory afterwards, or is named in the receipt."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

import limpet
from limpet.model.memory import TRUST

NOW = "2026-03-01T12:00:00Z"
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "topics": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True),
        "metadata": st.dictionaries(
            st.sampled_from(["x", "y"]), st.sampled_from([1, True, "1", None, [1]]), max_size=2
        ),
        "importance": st.sampled_from([0.0, 0.5, 0.9]),
        "confidence": st.sampled_from([0.0, 0.5, 0.9]),
        "pin": st.booleans(),
        "valid_from": st.sampled_from(["2020-01-01", "2025-01-01", "2026-09-01"]),
        "valid_to": st.sampled_from(["2027-01-01", "2028-01-01"]),
        "source": st.sampled_from(["a.md:1", "b.md:2"]),
        "origin": st.sampled_from(sorted(TRUST)),
        "session": st.sampled_from(["s1", "s2"]),
        "because": st.sampled_from([[0], [1], [0, 1]]),
        "key": st.just("deploy.rule"),
    },
)


def on(memory, id, name, said):
    """Whether a field of a memory holds what was said of it."""
    one = memory.get(id)
    at = limpet.FixedClock(f"{said}T00:00:00Z").now() if name in ("valid_from", "valid_to") else None
    return {
        "topics": lambda: set(said) <= set(one.topics),
        "metadata": lambda: all(repr(one.metadata.get(word, "gone")) == repr(value) for word, value in said.items()),
        "importance": lambda: one.importance == said,
        "confidence": lambda: one.stated_confidence == said,
        "pin": lambda: one.pinned or not said,
        "valid_from": lambda: one.valid_from_us <= at,
        "valid_to": lambda: one.valid_to_us == at,
        "source": lambda: one.source == said,
        "origin": lambda: TRUST[one.origin] >= TRUST[said],
        "session": lambda: one.session == said,
        "because": lambda: set(said) <= {reason.id for reason in memory.why(id, everything=True).reasons},
        "key": lambda: one.key == said,
    }[name]()


@given(first=FIELDS, second=FIELDS, batch=st.booleans())
def test_nothing_that_is_said_again_is_lost(first, second, batch):
    with limpet.open(":memory:", scope="project:api", clock=limpet.FixedClock(NOW)) as memory:
        reasons = [memory.remember("The office network was scanned").id, memory.remember("A page", origin="web").id]
        items = [
            {"content": "Deploys need the VPN"}
            | {name: [reasons[i] for i in value] if name == "because" else value for name, value in given.items()}
            for given in (first, second)
        ]
        if batch:
            one, two = memory.remember_batch(items)
        else:
            one, two = (memory.remember(**item) for item in items)
        event(two.status)
        before = None if two.id != one.id else two
        for name, said in items[1].items():
            if name != "content" and not on(memory, two.id, name, said):
                assert name in (two.reason or ""), f"{name} was lost: {two}"
        if before is not None:
            for name in two.added:
                assert on(memory, two.id, name, items[1].get(name, "agent")) or name in (two.reason or "")
        kept = [one.as_dict() for one in memory.history(two.id)]
        memory.rebuild()
        assert [one.as_dict() for one in memory.history(two.id)] == kept
        assert memory.get(two.id).trust in TRUST and TRUST[memory.get(two.id).trust] <= TRUST[memory.get(two.id).origin]


@given(first=FIELDS, second=FIELDS)
def test_undo_takes_a_restatement_back_whole(first, second):
    with limpet.open(":memory:", scope="project:api", clock=limpet.FixedClock(NOW)) as memory:
        reasons = [memory.remember("The office network was scanned").id, memory.remember("A page", origin="web").id]
        given = [
            {name: [reasons[i] for i in value] if name == "because" else value for name, value in fields.items()}
            for fields in (first, second)
        ]
        one = memory.remember("Deploys need the VPN", **given[0])
        before, links = memory.get(one.id), memory.why(one.id).as_dict()["links"]
        two = memory.remember("Deploys need the VPN", **given[1])
        memory.undo()
        if two.id == one.id:
            after = memory.get(one.id)
            assert {**after.as_dict(), "version_at": 0} == {**before.as_dict(), "version_at": 0}
            assert memory.why(one.id).as_dict()["links"] == links


@given(first=FIELDS, second=FIELDS)
def test_nothing_beside_the_words_is_lost_when_a_check_merges_two(first, second):
    """The larger importance holds, and what the first says of the same field; what it does not say is added."""
    clock = limpet.FixedClock(NOW)
    with limpet.open(":memory:", scope="project:api", clock=clock) as memory:
        reasons = [memory.remember("The office network was scanned").id, memory.remember("A page", origin="web").id]
        ids = []
        for text, given in (
            ("Nightly backups are written to disk", first), ("The nightly backups are written to the disk", second)
        ):  # fmt: skip
            said = {name: value for name, value in given.items() if name not in ("key", "valid_to")}
            said |= {"because": [reasons[i] for i in said["because"]]} if "because" in said else {}
            ids.append((memory.remember(text, **said).id, said))
            clock.advance(days=1)
        (old, before), (new, after) = ids
        memory.work()
        event(memory.get(new).state)
        if memory.get(new).state != "merged":
            return
        kept = memory.get(old)
        for name in ("topics", "pin", "because"):
            for said in (before, after):
                assert name not in said or on(memory, old, name, said[name]), name
        assert kept.importance == max(said.get("importance", 0.5) for said in (before, after))
        assert kept.source == before.get("source", after.get("source"))
        assert kept.stated_confidence == before.get("confidence", after.get("confidence"))
        assert kept.valid_from_us <= memory.get(new).valid_from_us
        said = after.get("metadata", {}) | before.get("metadata", {})
        assert {name: repr(value) for name, value in kept.metadata.items()} == {n: repr(v) for n, v in said.items()}
        memory.rebuild()
        assert memory.get(old) == kept
