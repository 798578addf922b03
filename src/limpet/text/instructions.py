"""Prompt injection: text that reads like an instruction to an agent, which a web page or a tool's output must not smuggle into memory.

Structure, not topics: commands about instructions, roles, secrecy and tools. A memory *about* such text that a person
or the agent itself states is not judged here; only what came from outside is.
"""

from __future__ import annotations

import re
from functools import cache

# (what it is, pattern over text in lower case with white space collapsed). Each runs in linear time.
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("overrides instructions",
     r"\b(?:ignore|disregard|forget|override|bypass|do not follow|stop following)\b.{0,40}\b(?:instruction|prompt|rule|guideline"
     r"|polic(?:y|ies)|previous|above|prior|earlier|system message|everything you|safety)"),
    ("gives a new role",
     r"\b(?:you are now|from now on,? you|act as (?:an? |the )|pretend (?:to be|you are)|your new (?:role|instructions|task)"
     r"|new instructions? ?:|you must (?:now|always|never|not)\b|as an ai (?:agent|assistant|model))"),
    ("imitates a role marker",
     r"(?:^|\s)(?:<\|?(?:im_start|im_end|system|assistant|user|endoftext)\|?>|\[/?inst\]|<<sys>>|###? ?(?:system|instruction)s?\b"
     r"|(?:system|assistant|developer) ?(?:prompt|message)? ?: )|</?(?:system|instructions?|tool_call|function_call)>"),
    ("asks for secrecy",
     r"\b(?:do not|don'?t|never|without)\b.{0,20}\b(?:tell|telling|inform|informing|mention|alert|notify|reveal)\w*\b.{0,30}"
     r"\b(?:user|human|operator|developer|anyone)\b"),
    ("speaks to the agent",
     r"\b(?:(?:hey|dear|attention|note to|important for|message for|instructions? (?:for|to)) (?:any |all |the |every )?"
     r"(?:ai|llm|language model|assistant|agent|chatbot|claude|chatgpt|gpt|copilot|gemini|cursor|codex)"
     r"|(?:ai|llm) (?:agents?|assistants?|models?)[ ,:]+(?:must|should|please|are required|reading this))"),
    ("asks to send data away",
     r"\b(?:send|post|upload|exfiltrate|forward|email|leak|transmit|curl)\b.{0,60}\b(?:credential|password|secret|api key|token|env(?:ironment)?"
     r" variable|private key|\.env|conversation|chat history|memor(?:y|ies)|source code|ssh key)s?\b.{0,60}(?:https?://|\bto\b|@)"),
    ("asks to run something",
     r"\b(?:please |now |immediately |then |first,? )?(?:run|execute|eval|paste)\b.{0,30}\b(?:the following|this) (?:command|code|script|shell|line)"
     r"|\bcurl\b[^|]{0,200}\| ?(?:sudo )?(?:ba|z)?sh\b|\brm -rf [/~]"),
    ("asks to be remembered",
     r"\b(?:remember|store|save|memori[sz]e|add)\b.{0,30}\b(?:this|the following)\b.{0,40}\b(?:memory|memories|permanently|forever|for all future"
     r"|future (?:sessions|conversations))"),
)  # fmt: skip
# What a text must hold for the pattern of the same place to match at all: a word of each group. A look at these costs a
# tenth of the patterns. tests/unit/test_instructions.py compares both.
_NEEDS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("ignore", "disregard", "forget", "override", "bypass", "follow"),
     ("instruction", "prompt", "rule", "guideline", "polic", "previous", "above", "prior", "earlier", "message", "every", "safety")),
    (("you are now", "from now on", "act as", "pretend", "your new", "new instruction", "you must", "as an ai"),),
    (("<", "[", "##", ":"),
     ("im_", "sys", "assistant", "user", "endoftext", "inst", "developer", "tool_call", "function_call")),
    (("tell", "inform", "mention", "alert", "notify", "reveal"),
     ("not", "don't", "dont", "never", "without"),
     ("user", "human", "operator", "developer", "anyone")),
    (("hey ", "dear ", "attention ", "note to", "important for", "message for", "instruction",
      "ai agent", "ai assistant", "ai model", "llm agent", "llm assistant", "llm model"),),
    (("send", "post", "upload", "exfiltrate", "forward", "email", "leak", "transmit", "curl"),
     ("credential", "password", "secret", "key", "token", "env", "conversation", "history", "memor", "code")),
    (("this ", "the following ", "curl", "rm -rf"),
     ("command", "code", "script", "shell", "line", "curl", "rm -rf")),
    (("remember", "store", "save", "memori", "add"),
     ("this", "the following"),
     ("memory", "memories", "permanently", "forever", "future")),
)  # fmt: skip
# Characters that hide text from people but not from models: tags, zero width, bidirectional overrides.
_HIDDEN = "[\U000e0000-\U000e007f\u200b\u2060\u202a-\u202e\u2066-\u2069]"
LONGEST = 20_000


@cache
def _compiled() -> tuple[tuple[str, tuple[tuple[str, ...], ...], re.Pattern[str]], ...]:
    return tuple((name, needs, re.compile(pattern)) for (name, pattern), needs in zip(_PATTERNS, _NEEDS, strict=True))


def reads_like_instruction(text: str) -> str | None:
    """What makes the text an instruction to its reader, in a few words; None for ordinary text."""
    if not text.isascii() and re.search(_HIDDEN, text):
        return "hides characters from people"
    plain = " ".join(text[:LONGEST].lower().split())
    for name, needs, pattern in _compiled():
        for words in needs:
            for word in words:  # a loop: any() with a generator takes twice the time
                if word in plain:
                    break
            else:
                break
        else:
            if pattern.search(plain):
                return name
    return None
