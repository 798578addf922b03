"""Writes sqlite_vec.db by mcp-memory-service's own storage. Run by its own environment: `make test-importers`.

Its vectors come from its own fallback for tests, hashes, so that no model is fetched.
"""

import asyncio
import os
import sys
from importlib import import_module
from pathlib import Path

os.environ |= {"MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1", "MCP_MEMORY_ONNX_ALLOW_DOWNLOAD": "0", "HF_HUB_OFFLINE": "1"}
os.environ["MCP_MEMORY_BASE_DIR"] = str(Path(sys.argv[1]).with_name("base"))
# The interpreter's own sqlite3 may be built without extensions, which its vectors need.
sys.modules["sqlite3"] = import_module("pysqlite3")
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.graph import GraphStorage
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.utils.hashing import generate_content_hash


async def main(path: str) -> None:
    storage = SqliteVecMemoryStorage(path)
    await storage.initialize()

    async def keep(content: str, tags: list[str], type: str, **metadata: object) -> str:
        hash = generate_content_hash(content)
        stored, said = await storage.store(
            Memory(content=content, content_hash=hash, tags=tags, memory_type=type, metadata=metadata),
            skip_semantic_dedup=True,
        )
        assert stored, said
        return hash

    port = await keep("The staging port is 5432", ["db", "staging"], "decision", ticket=7)
    hang = await keep("Deploys hang when the VPN is down", ["deploy"], "bug")
    fix = await keep("Reconnecting the VPN lets a deploy go on", [], "gotcha")
    gone = await keep("This one was deleted", ["x"], "note")
    await storage.delete(gone)
    stored, said, _ = await storage.update_memory_versioned(port, "The staging port is 5433", reason="moved")
    assert stored, said
    graph = GraphStorage(path)
    await graph.store_association(fix, hang, 0.9, ["causal"], relationship_type="fixes")
    await graph.store_association(hang, port, 0.4, ["semantic"], relationship_type="related")
    await graph.store_entity_link(hang, "VPN", "tool")
    await graph.close()
    await storage.close()


asyncio.run(main(sys.argv[1]))
