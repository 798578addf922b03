"""Writes zep.jsonl by the classes in which Zep's client gives a graph. Run by its own environment: `make test-importers`.

Its service is not asked.
"""

import sys
from pathlib import Path

from zep_cloud.types import Edge, Episode, Node

given = [
    Node(
        uuid_="n1", name="Ana", labels=["Entity", "Person"], summary="Leads billing", created_at="2026-01-02T12:00:00Z",
        episode_uuids=["p1"], episode_uuids_truncated=False,
    ),
    Node(uuid_="n2", name="billing", labels=["Entity"], summary="", episode_uuids=[], episode_uuids_truncated=False),
    Edge(
        uuid_="e1", name="LEADS", fact="Ana leads billing", source_node_uuid="n1", source_node_name="Ana",
        target_node_uuid="n2", target_node_name="billing", episode_uuids=["p1"], attributes={"since": "January"},
        created_at="2026-01-03T12:00:00Z", valid_at="2026-01-01T12:00:00Z", invalid_at="2026-01-04T12:00:00Z",
    ),
    Episode(
        uuid_="p1", content="I lead billing", role="user", role_name="Ana", source="message", thread_uuid="t1",
        created_at="2026-01-02T12:00:00Z", metadata={"ticket": 7},
    ),
]  # fmt: skip
Path(sys.argv[1]).write_text("".join(one.json() + "\n" for one in given), encoding="utf-8")
