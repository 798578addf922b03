"""A storage backend for CrewAI. With a crew: Crew(memory=Memory(storage=backend, embedder=backend.embedder), ...)."""

from crewai.memory.types import MemoryRecord

import limpet
from limpet.features.adapters.crewai import LimpetBackend

with limpet.open(":memory:", scope="project:shop") as memory:
    backend = LimpetBackend(memory)
    backend.save([MemoryRecord(content="Releases leave on Tuesdays", scope="/shop", categories=["release"])])
    (question,) = backend.embedder(["when do we ship?"])
    (record, score), *_ = backend.search(question, scope_prefix="/shop")
    print(record.content, record.categories, 0 <= score <= 1)
