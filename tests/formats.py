"""Files of other programs, made to their exact formats."""

from __future__ import annotations

import json
import struct
from contextlib import closing

import apsw

from limpet.features.transfer import amem

T0 = 1_771_466_912.5


def memori_db(path, rows, version=3, extra=""):
    """rows: dictionaries of columns; a schema of Memori as old as `version`."""
    columns = ["id", "content", "vector", "metadata", "created_at", "updated_at"]
    with closing(apsw.Connection(str(path))) as con:
        con.execute(
            "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, vector BLOB, metadata TEXT,"
            " created_at REAL NOT NULL, updated_at REAL NOT NULL)"
        )
        if version >= 1:
            con.execute("CREATE VIRTUAL TABLE memories_fts USING fts5(content, content=memories, content_rowid=rowid)")
        if version >= 2:
            con.execute("ALTER TABLE memories ADD COLUMN last_accessed REAL DEFAULT 0.0")
            con.execute("ALTER TABLE memories ADD COLUMN access_count INTEGER DEFAULT 0")
            columns += ["last_accessed", "access_count"]
        if version >= 3:
            con.execute("CREATE INDEX idx_memories_type ON memories(json_extract(metadata, '$.type'))")
        for i, row in enumerate(rows):
            full = {
                "id": f"00000000-0000-4000-8000-{i:012}", "created_at": T0 + i, "updated_at": T0 + i, "vector": None,
                "metadata": None, "last_accessed": 0.0, "access_count": 0,
            } | row  # fmt: skip
            con.execute(
                f"INSERT INTO memories ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                tuple(full[name] for name in columns),
            )
        con.execute(f"PRAGMA user_version={version}; {extra}").fetchall()
    return path


def amem_file(path, nodes, edges=(), dimensions=128):
    """nodes: (id, type, created, session, confidence, text); edges: (source, target, type, weight, created)."""
    edges = sorted(edges)
    packed = [amem.pack_text(text.encode()) for *_, text in nodes]
    tables, at = b"", 0
    for (id, type, created, session, confidence, _), blob in zip(nodes, packed, strict=True):
        own = [i for i, edge in enumerate(edges) if edge[0] == id]
        tables += amem.NODE.pack(
            id, type, created, session, confidence, 0, created, 1.0, at, len(blob), (own or [0])[0] * 32, len(own)
        )
        at += len(blob)
    tables += b"".join(amem.EDGE.pack(*edge) for edge in edges)
    node_table = amem.HEADER.size
    edge_table = node_table + 72 * len(nodes)
    texts = edge_table + 32 * len(edges)
    head = amem.HEADER.pack(
        b"AMEM", 1, dimensions, 0, len(nodes), len(edges), node_table, edge_table, texts, texts + at
    )
    path.write_bytes(head + tables + b"".join(packed) + bytes(4 * dimensions * len(nodes)))
    return path


def pmb_db(path, events, edges=(), entities=()):
    """events: dictionaries of columns; edges: (source, target, type); entities: (ulid, name)."""
    with closing(apsw.Connection(str(path))) as con:
        con.execute(
            "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, ulid TEXT UNIQUE NOT NULL, workspace_id TEXT NOT"
            " NULL, event_type TEXT NOT NULL, content TEXT NOT NULL, metadata_json TEXT, timestamp REAL NOT NULL,"
            " importance REAL DEFAULT 0.5, access_count INTEGER DEFAULT 0, last_accessed REAL NOT NULL, archived_at REAL,"
            " source_session_id TEXT, tier TEXT NOT NULL DEFAULT 'working');"
            "CREATE TABLE event_edges (source_ulid TEXT NOT NULL, target_ulid TEXT NOT NULL, edge_type TEXT NOT NULL,"
            " confidence REAL NOT NULL DEFAULT 1.0, rationale TEXT, created_at REAL NOT NULL,"
            " PRIMARY KEY (source_ulid, target_ulid, edge_type));"
            "CREATE TABLE arcs (id INTEGER PRIMARY KEY, workspace_id TEXT, title TEXT);"
            "CREATE TABLE arc_events (arc_id INTEGER, event_ulid TEXT);"
            "CREATE TABLE graph_entities (id INTEGER PRIMARY KEY AUTOINCREMENT, workspace_id TEXT, kind TEXT, name TEXT,"
            " n_mentions INTEGER DEFAULT 0, last_seen REAL);"
            "CREATE TABLE graph_event_entities (event_ulid TEXT, entity_id INTEGER);"
            "CREATE TABLE agent_actions (id INTEGER PRIMARY KEY, tool TEXT)"
        ).fetchall()
        for i, row in enumerate(events):
            full = {
                "ulid": f"u{i}", "workspace_id": "w", "event_type": "fact", "content": f"event {i}", "timestamp": T0 + i,
                "last_accessed": T0 + i, "metadata_json": "{}",
            } | row  # fmt: skip
            con.execute(
                f"INSERT INTO events ({', '.join(full)}) VALUES ({', '.join('?' * len(full))})", tuple(full.values())
            )
        for source, target, type in edges:
            con.execute("INSERT INTO event_edges VALUES (?, ?, ?, 0.8, NULL, ?)", (source, target, type, T0))
        for ulid, name in entities:
            con.execute(
                "INSERT INTO graph_entities (workspace_id, kind, name, last_seen) VALUES ('w', 'x', ?, 0)", (name,)
            )
            con.execute("INSERT INTO graph_event_entities VALUES (?, ?)", (ulid, con.last_insert_rowid()))
        con.execute("INSERT INTO agent_actions (tool) VALUES ('Bash')")
    return path


def lines(path, *objects):
    path.write_text(
        "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in objects), encoding="utf-8"
    )
    return path


def chatgpt(*conversations):
    """Conversations as lists of (role, text): the JSON of conversations.json."""
    found = []
    for number, messages in enumerate(conversations):
        mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
        for i, (role, text) in enumerate(messages):
            mapping[str(i)] = {
                "id": str(i),
                "parent": str(i - 1) if i else "root",
                "children": [str(i + 1)] if i + 1 < len(messages) else [],
                "message": {
                    "id": f"m{number}-{i}",
                    "author": {"role": role},
                    "create_time": T0 + i,
                    "content": {"content_type": "text", "parts": [text]},
                },
            }
        found.append(
            {"conversation_id": f"c{number}", "title": f"Talk {number}", "create_time": T0, "mapping": mapping,
             "current_node": str(len(messages) - 1)}
        )  # fmt: skip
    return json.dumps(found)


def damaged_amem(data, field, value):
    """A file with one header field (by its place among the ten) set to a value."""
    head = list(struct.unpack_from("<4sIIIQQQQQQ", data))
    head[field] = value
    return struct.pack("<4sIIIQQQQQQ", *head) + data[64:]
