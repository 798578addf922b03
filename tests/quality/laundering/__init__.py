"""Stories in which a stranger's text is stored as an agent's own, and honest sessions, played through the real hooks.

`stories*.jsonl` and `honest*.jsonl` were written by authors who saw neither the code nor each other. A story has a `poison`:
words of which an injected text that carries the false claim holds at least two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from limpet.agents.hooks.client_adapters import CLIENT_ADAPTERS
from limpet.agents.hooks.entry import handle
from limpet.agents.tools import Tools, caller

HERE = Path(__file__).parent
SCOPE = "project:it"


def stories(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@dataclass
class Played:
    """A story that was played: the ids that each `remember` event stored, and what a later session was shown."""

    ids: dict[int, str | None] = field(default_factory=dict)
    shown: str = ""


def play(story: dict[str, Any], memory: Any, clock: Any) -> Played:
    """Play a story's events, then begin another session and send its later message."""
    path, client, number, folder = memory.path, story["client"], 1, _folder(story)
    tools, played = Tools(memory, lambda: None), Played()

    def hook(role: str, **fields: Any) -> str:
        clock.advance(seconds=20)
        return _hook(path, client, role, f"s{number}", {"folder": folder, **fields}, clock)

    hook("start", source="startup")
    for place, event in enumerate(story["events"]):
        clock.advance(seconds=30)
        caller.set(f"s{number}")
        match event["do"]:
            case "user":
                hook("message", text=event["text"])
            case "tool":
                hook("tool", tool=event["tool"], input=event.get("input"), output=event.get("output"))
            case "say":
                hook("turn", answer=event["text"])
            case "compact":
                hook("start", source="compact")
            case "recall":
                tools.recall(query=event["text"], budget_tokens=2_000)
            case "remember":
                item = {"content": event["text"], "kind": event.get("kind", "fact")}
                (receipt,) = tools.remember([item])["results"]
                played.ids[place] = receipt.get("id")
            case "session":
                hook("end")
                client, number = event.get("client") or client, number + 1
                clock.advance(seconds=3_600)
                hook("start", source="startup")
    hook("end")
    memory.work()
    number += 1
    clock.advance(seconds=86_400)
    played.shown = hook("start", source="startup") + hook("message", text=story["later"])
    return played


def _hook(path: str, client: str, role: str, session: str, fields: dict[str, Any], clock: Any) -> str:
    adapter = CLIENT_ADAPTERS[client]
    event = next((name for name, its in adapter.events.items() if its == role), None)
    if event is None:
        return ""
    data: dict[str, Any] = {"hook_event_name": event}
    given = {"session": session, **fields}
    for name, value in given.items():
        for where in adapter.fields.get(name, ())[:1]:
            _put(data, where, value)
    if "output" in fields:
        data["tool_response"] = {"result": fields["output"]}
    raw = json.dumps(data).encode()
    return handle([client, event, "--store", path, "--scope", SCOPE], raw, clock).decode()


def _folder(story: dict[str, Any]) -> str:
    """Return where a story plays: the folder of the first file that its agent names, without those beneath it."""
    inputs = [event.get("input") or {} for event in story["events"] if event["do"] == "tool"]
    paths = [value for given in inputs for value in given.values() if isinstance(value, str) and value.startswith("/")]
    return "/".join(paths[0].split("/")[:4]) if paths and paths[0].count("/") > 3 else ""


def _put(data: Any, path: str, value: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        data = data.setdefault(step, {}) if not step.isdigit() else data
    if last.isdigit():
        return
    data[last] = value
