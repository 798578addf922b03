"""Conversations written in the exact form in which each client keeps its own.

A conversation is a list of steps: ("user", text), ("agent", text), ("run", command, output, failed), ("edit", path). Shapes
as the clients wrote them in November 2026: Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Copilot CLI 1.0, Cursor, OpenCode 1.18.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import apsw

START = datetime(2026, 2, 20, 9, 0, tzinfo=UTC)


def stamp(number, start=START):
    return (start + timedelta(seconds=30 * number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def claude(steps, session="0c8f3a52-5d0e-4c1b-9e0f-2f6b0a7c1d11", cwd="/home/ana/src/shop", start=START):
    rows, parent = [], None
    base = {
        "isSidechain": False,
        "userType": "external",
        "cwd": cwd,
        "sessionId": session,
        "version": "2.1.329",
        "gitBranch": "main",
    }

    def add(type, message, number, **more):
        nonlocal parent
        uuid = f"{session[:8]}-0000-4000-8000-{len(rows):012d}"
        rows.append(
            {
                "parentUuid": parent,
                **base,
                "type": type,
                "message": message,
                "uuid": uuid,
                "timestamp": stamp(number, start),
                **more,
            }
        )
        parent = uuid

    def assistant(content):
        return {"id": f"msg_{len(rows)}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content,
                "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5}}  # fmt: skip

    for number, (kind, *rest) in enumerate(steps):
        if kind == "user":
            add("user", {"role": "user", "content": rest[0]}, number, permissionMode="default")
        elif kind == "agent":
            add("assistant", assistant([{"type": "text", "text": rest[0]}]), number)
        else:
            name, given, output, failed = tool(kind, rest)
            id = f"toolu_{number:04d}"
            add("assistant", assistant([{"type": "tool_use", "id": id, "name": name, "input": given}]), number)
            result = {
                "tool_use_id": id,
                "type": "tool_result",
                "content": f"Exit code 1\n{output}" if failed else output,
                "is_error": failed,
            }
            more = {
                "toolUseResult": f"Error: Exit code 1\n{output}"
                if failed
                else {"stdout": output, "stderr": "", "interrupted": False}
            }
            add("user", {"role": "user", "content": [result]}, number, **more)
    return lines(rows)


def tool(kind, rest):
    """(name, input, output, failed) as Claude Code names them."""
    if kind == "run":
        command, output, failed = rest
        return "Bash", {"command": command, "description": "Run it"}, output, failed
    return (
        "Edit",
        {"file_path": rest[0], "old_string": "a", "new_string": "b"},
        f"The file {rest[0]} has been updated.",
        False,
    )


def codex(steps, session="019aa000-1111-7222-8333-444455556666", cwd="/home/ana/src/shop", start=START):
    rows = []

    def add(type, payload, number):
        rows.append({"timestamp": stamp(number, start), "type": type, "payload": payload, "ordinal": len(rows)})

    add("session_meta", {"id": session, "timestamp": stamp(0, start), "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.169.0",
                         "source": "cli", "model_provider": "openai", "git": {"branch": "main"}}, 0)  # fmt: skip
    add(
        "response_item",
        {
            "type": "message",
            "role": "developer",
            "content": [
                {
                    "type": "input_text",
                    "text": "<permissions instructions>Never ask for approval, because it is off.</permissions instructions>",
                }
            ],
        },
        0,
    )
    add(
        "response_item",
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": f"<environment_context>\n  <cwd>{cwd}</cwd>\n</environment_context>"}
            ],
        },
        0,
    )
    for number, (kind, *rest) in enumerate(steps):
        if kind == "user":
            add(
                "turn_context",
                {"turn_id": f"t{number}", "cwd": cwd, "approval_policy": "never", "model": "gpt-5-codex"},
                number,
            )
            add(
                "response_item",
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": rest[0]}]},
                number,
            )
            item = {
                "type": "UserMessage",
                "id": f"u{number}",
                "content": [{"type": "text", "text": rest[0], "text_elements": []}],
            }
            add(
                "event_msg",
                {"type": "item_completed", "thread_id": session, "turn_id": f"t{number}", "item": item},
                number,
            )
        elif kind == "agent":
            add(
                "response_item",
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": rest[0]}]},
                number,
            )
        elif kind == "run":
            command, output, failed = rest
            add(
                "response_item",
                {
                    "type": "function_call",
                    "name": "exec_command",
                    "arguments": json.dumps({"cmd": command}),
                    "call_id": f"call_{number}",
                },
                number,
            )
            text = f"Chunk ID: a{number}\nWall time: 0.4 seconds\nProcess exited with code {int(failed)}\nOriginal token count: 9\nOutput:\n{output}"
            add("response_item", {"type": "function_call_output", "call_id": f"call_{number}", "output": text}, number)
        else:
            patch = f"*** Begin Patch\n*** Update File: {rest[0]}\n@@\n-a\n+b\n*** End Patch"
            add(
                "response_item",
                {
                    "type": "custom_tool_call",
                    "status": "completed",
                    "call_id": f"call_{number}",
                    "name": "apply_patch",
                    "input": patch,
                },
                number,
            )
            add("response_item", {"type": "custom_tool_call_output", "call_id": f"call_{number}",
                                  "output": json.dumps({"output": "Success.", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})}, number)  # fmt: skip
    return lines(rows)


def gemini(steps, session="7d1c2b3a-aaaa-4bbb-8ccc-1234567890ab", start=START):
    rows = [
        {
            "sessionId": session,
            "projectHash": "3f1e",
            "startTime": stamp(0, start),
            "lastUpdated": stamp(0, start),
            "kind": "main",
        }
    ]
    for number, (kind, *rest) in enumerate(steps):
        base = {"id": f"{session[:8]}-{number}", "timestamp": stamp(number, start)}
        if kind == "user":
            rows.append({**base, "type": "user", "content": [{"text": rest[0]}]})
        elif kind == "agent":
            rows.append(
                {
                    **base,
                    "type": "gemini",
                    "content": rest[0],
                    "thoughts": [],
                    "tokens": {"input": 1, "output": 1, "cached": 0, "total": 2},
                    "model": "gemini-2.5-pro",
                }
            )
        else:
            command, output, failed = rest if kind == "run" else (None, "Successfully modified file", False)
            shown = (
                f"Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {int(failed)}\nSignal: (none)"
                if command
                else output
            )
            call = {"id": f"call-{number}", "name": "run_shell_command" if command else "replace",
                    "args": {"command": command} if command else {"file_path": rest[0], "old_string": "a", "new_string": "b"},
                    "result": [{"functionResponse": {"id": f"call-{number}", "name": "x", "response": {"output": shown}}}],
                    "status": "success", "timestamp": stamp(number, start)}  # fmt: skip
            rows.append(
                {
                    **base,
                    "type": "gemini",
                    "content": "",
                    "toolCalls": [{**call, "result": None, "status": "executing"}],
                    "model": "gemini-2.5-pro",
                }
            )
            rows.append({**base, "type": "gemini", "content": "", "toolCalls": [call], "model": "gemini-2.5-pro"})
        rows.append({"$set": {"lastUpdated": stamp(number, start)}})
    return lines(rows)


def copilot(steps, session="5b0e8d1c-2222-4333-8444-abcdefabcdef", cwd="/home/ana/src/shop", start=START):
    rows = []

    def add(type, data, number):
        rows.append(
            {
                "type": type,
                "data": data,
                "id": f"e{len(rows)}",
                "timestamp": stamp(number, start),
                "parentId": f"e{len(rows) - 1}" if rows else None,
            }
        )

    add(
        "session.start",
        {
            "sessionId": session,
            "version": 1,
            "producer": "copilot-agent",
            "copilotVersion": "1.0.102",
            "startTime": stamp(0, start),
            "context": {"cwd": cwd},
        },
        0,
    )
    for number, (kind, *rest) in enumerate(steps):
        if kind == "user":
            add(
                "user.message",
                {
                    "content": rest[0],
                    "transformedContent": f"<current_datetime>{stamp(number, start)}</current_datetime>\n\n{rest[0]}",
                    "attachments": [],
                },
                number,
            )
        elif kind == "agent":
            add("assistant.message", {"messageId": f"m{number}", "content": rest[0], "toolRequests": []}, number)
        else:
            command, output, failed = rest if kind == "run" else (None, "File updated", False)
            given = (
                {"command": command, "description": "Run it"}
                if command
                else {"path": rest[0], "old_str": "a", "new_str": "b"}
            )
            add(
                "tool.execution_start",
                {"toolCallId": f"c{number}", "toolName": "bash" if command else "edit", "arguments": given},
                number,
            )
            content = f"{output}\n<exited with exit code {int(failed)}>" if command else output
            add(
                "tool.execution_complete",
                {"toolCallId": f"c{number}", "success": True, "result": {"content": content}},
                number,
            )
    return lines(rows)


def cursor(steps):
    rows = []
    for number, (kind, *rest) in enumerate(steps):
        if kind == "user":
            text = f"<user_info>\nOS: linux\n</user_info>\n<user_query>\n{rest[0]}\n</user_query>"
            rows.append({"role": "user", "message": {"content": [{"type": "text", "text": text}]}})
        elif kind == "agent":
            rows.append({"role": "assistant", "message": {"content": [{"type": "text", "text": rest[0]}]}})
        elif kind == "run":
            use = {"type": "tool_use", "id": f"t{number}", "name": "run_terminal_cmd", "input": {"command": rest[0]}}
            rows.append({"role": "assistant", "message": {"content": [use]}})
            result = {
                "type": "tool_result",
                "tool_use_id": f"t{number}",
                "content": f"Exit code: {int(rest[2])}\n{rest[1]}",
            }
            rows.append({"role": "user", "message": {"content": [result]}})
    return lines(rows)


def opencode(path, steps, session="ses_5f0a", cwd="/home/ana/src/shop", start=START):
    """Add a session, and one of a sub-agent, to the database at `path`."""
    con, created = apsw.Connection(str(path)), int(start.timestamp() * 1000)
    con.execute(
        "CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,"
        " title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);"
        "CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);"
        "CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);"
    ).fetchall()
    con.execute(
        "INSERT INTO session VALUES (?, 'p', NULL, 's', ?, 't', '1.18.33', ?, ?)", (session, cwd, created, created)
    )
    con.execute("INSERT INTO session VALUES ('child_' || ?1, 'p', ?1, 's', ?2, 't', '1.18.33', 1, 1)", (session, cwd))
    for number, (kind, *rest) in enumerate(steps):
        at = int((start + timedelta(seconds=30 * number)).timestamp() * 1000)
        role = "user" if kind == "user" else "assistant"
        message = {"role": role, "time": {"created": at}, "agent": "build"}
        con.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
            (f"msg_{session}_{number:04d}", session, at, at, json.dumps(message)),
        )
        if kind in ("user", "agent"):
            part = {"type": "text", "text": rest[0]}
        else:
            command, output, failed = rest if kind == "run" else (None, "ok", False)
            given = (
                {"command": command, "description": "d"}
                if command
                else {"filePath": rest[0], "oldString": "a", "newString": "b"}
            )
            part = {"type": "tool", "callID": f"c{number}", "tool": "bash" if command else "edit",
                    "state": {"status": "completed", "input": given, "output": output, "title": "t", "metadata": {"exit": int(failed)},
                              "time": {"start": at, "end": at}}}  # fmt: skip
        con.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
            (f"prt_{session}_{number:04d}", f"msg_{session}_{number:04d}", session, at, at, json.dumps(part)),
        )
    con.execute("INSERT INTO message VALUES ('msg_9_' || ?1, 'child_' || ?1, 1, 1, '{\"role\": \"user\"}')", (session,))
    con.execute(
        "INSERT INTO part VALUES ('prt_9_' || ?1, 'msg_9_' || ?1, 'child_' || ?1, 1, 1,"
        ' \'{"type": "text", "text": "We use Fortran, not C."}\')',
        (session,),
    )
    con.close()
    return path


# What each of the files in data/transcripts holds: a correction, a decision with its reason, a lesson, and noise.
CORRECTION = "We use pnpm in this repo, not npm."
DECISION = "We decided to keep the invoice numbers in Postgres because a sequence must never skip."
FAILED, WORKED = "pnpm test", "TZ=UTC pnpm test"
STEPS = [
    ("user", "hi! can you run the tests for the billing module and tell me what fails?"),
    ("agent", "Sure, let me look at how the tests are run here."),
    ("run", "cat package.json", '{"scripts": {"test": "vitest"}}', False),
    ("run", "npm test", "sh: vitest: not found", True),
    ("user", "No, we use pnpm in this repo, not npm. Please try that again."),
    ("run", FAILED, "RangeError: Invalid time zone specified: Europe/Kiew\nTests: 3 failed, 41 passed", True),
    ("agent", "Three tests fail. I'll look at the date helper."),
    ("run", WORKED, "Tests: 44 passed", False),
    ("agent", "All 44 tests pass now."),
    ("user", "nice. " + DECISION + " So leave that table alone, ok?"),
    ("agent", "Understood, I'll leave the table alone. Is there anything else you want me to look at?"),
    ("user", "why is the diff so large? maybe we should split it since reviewers complain"),
    ("agent", "The diff is large because it includes the lock file."),
    ("user", "ok thanks, commit it"),
]


# The beginning of a program that is killed in place of its n-th write; n is its last argument.
DYING = """
import os, sys
import limpet
from limpet.features.organize import Sources
from limpet.store.sql.ledger import Ledger
left = int(sys.argv[-1])
def dying(repository, name):
    plain = getattr(repository, name)
    def call(self, *given):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return plain(self, *given)
    setattr(repository, name, call)
dying(Ledger, "commit")
dying(Sources, "keep")
"""
