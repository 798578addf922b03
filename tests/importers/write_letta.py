"""Writes agent.af by the classes of Letta's server that an export goes through. Run by its own environment:
`make test-importers`. Its database, Postgres, is not asked: blocks and messages are made here.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

from letta.schemas.agent_file import AgentFileSchema, AgentSchema, BlockSchema, MessageSchema
from letta.schemas.block import Block
from letta.schemas.embedding_config import EmbeddingConfig
from letta.schemas.enums import MessageRole
from letta.schemas.letta_message_content import TextContent
from letta.schemas.llm_config import LLMConfig
from letta.schemas.message import Message
from letta.system import package_user_message
from openai.types.chat.chat_completion_message_tool_call import ChatCompletionMessageToolCall, Function

blocks = [
    Block(label="human", value="Ana prefers tabs over spaces.\nShe leads billing.", description="Of the user"),
    Block(label="persona", value="I am the assistant of the shop."),
    Block(label="scratch", value=""),
]


def message(number: int, role: MessageRole, text: str | None, **rest: object) -> Message:
    at = datetime(2026, 1, 5, 12, number, tzinfo=UTC)
    content = [] if text is None else [TextContent(text=text)]
    return Message(role=role, content=content, created_at=at, agent_id=None, **rest)


spoken = ChatCompletionMessageToolCall(
    id="call-1", type="function",
    function=Function(name="send_message", arguments='{"message": "Noted: port 5433.", "thinking": "It moved."}'),
)  # fmt: skip
messages = [
    message(0, MessageRole.system, "You are an assistant."),
    message(1, MessageRole.user, package_user_message("The staging port is 5433", timezone="UTC")),
    message(2, MessageRole.assistant, None, tool_calls=[spoken]),
    message(3, MessageRole.tool, '{"status": "OK"}', tool_call_id="call-1"),
    message(4, MessageRole.user, "Deploys go out on Tuesdays"),
    message(5, MessageRole.assistant, "I will keep that in mind."),
]
kept = [BlockSchema.from_block(one) for one in blocks]
agent = AgentSchema(
    id="agent-0", name="shop-helper", agent_type="letta_v1_agent", block_ids=[one.id for one in kept],
    llm_config=LLMConfig.default_config("gpt-4"), embedding_config=EmbeddingConfig.default_config("letta"),
    messages=[MessageSchema.from_message(one) for one in messages],
)  # fmt: skip
whole = AgentFileSchema(
    agents=[agent], groups=[], blocks=kept, files=[], sources=[], tools=[], mcp_servers=[],
    created_at=datetime(2026, 1, 6, tzinfo=UTC),
)  # fmt: skip
Path(sys.argv[1]).write_text(whole.model_dump_json(), encoding="utf-8")
