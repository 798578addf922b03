"""STORE URL MESSAGE: a LangGraph agent, a model and its tools in turn, whose long-term memory is the store."""

import json
import sys
import urllib.request

from langgraph.graph import END, START, StateGraph

import limpet
from limpet.features.adapters.langgraph import LimpetStore

path, url, message = sys.argv[1:]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("save", "look_up")]


def model(state):
    body = json.dumps({"model": "stub", "messages": state["messages"], "tools": TOOLS}).encode()
    request = urllib.request.Request(f"{url}/v1/chat/completions", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        said = json.load(answer)["choices"][0]["message"]
    return {"messages": [*state["messages"], said]}


def tools(state, *, store):
    made = []
    for call in state["messages"][-1]["tool_calls"]:
        given = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "save":
            store.put(("users", "ana"), given["key"], {"text": given["text"]})
            said = "saved"
        else:
            said = "\n".join(one.value["text"] for one in store.search(("limpet",), query=given["query"]))
        made.append({"role": "tool", "tool_call_id": call["id"], "content": said})
    return {"messages": [*state["messages"], *made]}


with limpet.open(path, scope="project:shop") as memory:
    graph = StateGraph(dict).add_node(model).add_node(tools).add_edge(START, "model").add_edge("tools", "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].get("tool_calls") else END)
    graph.compile(store=LimpetStore(memory)).invoke({"messages": [{"role": "user", "content": message}]})
