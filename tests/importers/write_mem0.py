"""Writes mem0.json: what mem0's own `Memory.get_all` gives. Run by its own environment: `make test-importers`.

Its embedder is its own mock, and it extracts nothing (`infer=False`), so that no network is asked.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["MEM0_TELEMETRY"] = "False"
with tempfile.TemporaryDirectory() as folder:
    os.environ["MEM0_DIR"] = folder
    from mem0 import Memory
    from mem0.embeddings.mock import MockEmbeddings

    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": {"path": f"{folder}/q", "embedding_model_dims": 10}},
            "history_db_path": f"{folder}/history.db",
            **{name: {"provider": "openai", "config": {"api_key": "none"}} for name in ("llm", "embedder")},
        }
    )
    memory.embedding_model = MockEmbeddings()
    said = [
        {"role": "user", "content": "I prefer tabs over spaces"},
        {"role": "assistant", "content": "Noted: the staging port is 5433"},
    ]
    memory.add(said, user_id="ana", run_id="monday", infer=False, metadata={"category": "style", "n": 3})
    memory.add("Deploys go out on Tuesdays", agent_id="ops", infer=False, expiration_date="2190-01-01")
    (port,) = memory.add("The VPN hangs", user_id="ana", infer=False)["results"]
    memory.update(port["id"], text="The VPN hangs when the lid closes")
    (gone,) = memory.add("This one was deleted", user_id="ana", infer=False)["results"]
    memory.delete(gone["id"])
    found = [
        one
        for owner in ({"user_id": "ana"}, {"agent_id": "ops"})
        for one in memory.get_all(filters=owner, top_k=1_000, show_expired=True)["results"]
    ]
    memory.close()
Path(sys.argv[1]).write_text(json.dumps({"results": found}), encoding="utf-8")
