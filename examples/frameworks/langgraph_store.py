"""LangGraph's long-term memory on a store. With a graph: builder.compile(store=store)."""

import limpet
from limpet.features.adapters.langgraph import LimpetStore

with limpet.open(":memory:", scope="project:shop") as memory:
    store = LimpetStore(memory, ttl={"default_ttl": None, "refresh_on_read": True})
    store.put(("users", "ana"), "food", {"text": "Ana is allergic to peanuts", "severity": 3})
    store.put(("users", "ana"), "draft", {"text": "buy bread"}, ttl=60)  # minutes
    memory.remember("Ana's desk is on the third floor")  # by anybody else

    (food,) = store.search(("users",), query="what can she not eat?", filter={"severity": {"$gte": 2}})
    print(food.namespace, food.key, food.value)
    print(store.search(("limpet",), query="where does Ana sit?", limit=1)[0].value["text"])
