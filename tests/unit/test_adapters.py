"""Adapters without their frameworks: what they say then, and what all of them are made of."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import limpet
from limpet.features.adapters.documents import Documents, data_of, text_of
from limpet.features.adapters.turns import Turns

FRAMEWORKS = {
    "claude": ("anthropic", "limpet[claude]"),
    "langgraph": ("langgraph", "limpet[langgraph]"),
    "openai_agents": ("agents", "limpet[openai-agents]"),
    "adk": ("google.adk", "limpet[adk]"),
    "pydantic_ai": ("pydantic_ai_harness", "limpet[pydantic-ai]"),
    "llama_index": ("llama_index", "limpet[llama-index]"),
}


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_without_its_framework_an_adapter_says_what_to_install(module):
    package, extra = FRAMEWORKS[module]
    if importlib.util.find_spec(package.partition(".")[0]) and package != "google.adk":
        pytest.skip(f"{package} is here")
    with pytest.raises(ImportError) as raised:
        importlib.import_module(f"limpet.features.adapters.{module}")
    assert f"pip install '{extra}" in str(raised.value)


def test_no_command_loads_an_adapter():
    ask = "import sys, limpet, limpet.cli.main, limpet.api; print([one for one in sys.modules if 'adapters' in one])"
    assert subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_documents_that_differ_by_name_or_text_alone_stay_apart(memory):
    documents = Documents(memory, "mine")
    for name, text in [("a", "same"), ("b", "same"), ("A", "same"), ("a:\nb", "c"), ("a", "b:\nc"), ("a", "B:\nc")]:
        documents.put(name, text)
    memory.work()

    assert {name: text_of(documents.get(name)) for name in ("a", "b", "A", "a:\nb")} == {
        "a": "B:\nc", "b": "same", "A": "same", "a:\nb": "c",
    }  # fmt: skip
    assert documents.get("c") is None and len(list(documents.all())) == 4
    assert Documents(memory.in_scope("project:other"), "mine").get("a") is None
    assert documents.delete("a") and documents.get("a") is None and not documents.delete("a")


def test_json_comes_back_as_it_was_whatever_its_characters(memory):
    value = {"a": [1, 2.5, None, True, {"b": "\x1b[0m \x00 \ud800 \x7f 😀\n"}], "back": "\\u0000 \\b"}
    turns, documents = Turns(memory, "mine", "chat"), Documents(memory, "mine")
    turns.add([("user", "yes", value), ("user", "yes", value)])
    documents.put("a", "text", data=value)

    assert turns.items() == [value, value]
    assert data_of(documents.get("a")) == value


def test_a_document_that_was_replaced_meanwhile_is_not_overwritten(memory):
    documents = Documents(memory, "mine")
    old = documents.put("a", "one")
    documents.put("a", "two")

    with pytest.raises(limpet.BadInput):
        documents.put("a", "three", over=old)
    assert text_of(documents.get("a")) == "two"


def test_processes_that_put_one_name_at_once_leave_one_document(path):
    def put(worker):
        with limpet.open(path, scope="project:api") as memory:
            documents = Documents(memory, "mine")
            for number in range(8):
                documents.put("shared", f"worker {worker}, number {number}")
                documents.put(f"own {worker}", f"number {number}")

    with limpet.open(path, scope="project:api") as memory:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(put, range(4)))
        held = [one.metadata["document"] for one in Documents(memory, "mine").all()]
        assert sorted(held) == ["own 0", "own 1", "own 2", "own 3", "shared"]
        assert text_of(Documents(memory, "mine").get("shared")).endswith("number 7")
