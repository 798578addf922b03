"""What was organized: how far a source was read, and which wait because a hook has named them."""

from __future__ import annotations

from limpet.features.organize import Source, Sources


def source(path="/t.jsonl", *, scope="project:api", digest="d1", reached=None, at=1):
    return Source(scope, path, digest, reached, at)


def test_a_source_is_kept_by_scope_and_path(store):
    Sources(store).keep(source())
    Sources(store).keep(source(digest="d2", at=2, reached="{}"))
    Sources(store).keep(source(scope="global"))

    assert Sources(store).get("project:api", "/t.jsonl") == source(digest="d2", at=2, reached="{}")
    assert Sources(store).get("global", "/t.jsonl") == source(scope="global")
    assert Sources(store).get("project:web", "/t.jsonl") is None
    assert Sources(store).waiting() == []


def test_a_named_source_waits_until_it_was_read(store):
    Sources(store).announce("project:api", "/b.jsonl", 2)
    Sources(store).announce("project:api", "/a.jsonl", 1)
    Sources(store).announce("global", "/c.jsonl", 3)
    assert [one.path for one in Sources(store).waiting()] == ["/a.jsonl", "/b.jsonl", "/c.jsonl"]
    assert [one.path for one in Sources(store).waiting("global")] == ["/c.jsonl"]

    Sources(store).keep(source("/a.jsonl", digest=None, reached="{}"))
    assert [one.path for one in Sources(store).waiting("project:api")] == ["/a.jsonl", "/b.jsonl"]
    Sources(store).keep(source("/a.jsonl"))
    assert [one.path for one in Sources(store).waiting("project:api")] == ["/b.jsonl"]


def test_what_was_read_is_kept_when_it_is_named_again(store):
    """A session was taken up again: the file has grown, and what a model has read of it stays read."""
    Sources(store).keep(source(reached='{"claude/s": "t9"}'))
    Sources(store).announce("project:api", "/t.jsonl", 5)

    (one,) = Sources(store).waiting()
    assert (one.digest, one.reached, one.at) == ("d1", '{"claude/s": "t9"}', 5)
