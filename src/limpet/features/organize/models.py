"""Language models over HTTP: OpenAI, and what speaks its chat completions (Gemini, Claude, Ollama, llama.cpp, vLLM).

One HTTP library instead of an SDK a provider. Keys come from the environment alone.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ...model.errors import BadInput, LimpetError
from ...text.secrets import redact
from ..embedders.openai_api import TooLong, http_answer

TIMEOUT_SECONDS = 120.0
MAX_ANSWER_BYTES = 4_000_000
# provider -> (address of its chat completions, variable of its key)
PROVIDERS = {
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "claude": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
}
FORM = "PROVIDER:MODEL[,url=URL]"


class ModelFailed(LimpetError):
    """A model did not answer, or not with what was asked for. Never leaves the organizer."""

    code = "model_failed"

    def __init__(self, message: str, used: Usage | None = None) -> None:
        super().__init__(message)
        self.used = used


class Usage(NamedTuple):
    """Tokens of one call, as the provider counts them."""

    given: int
    made: int


class Model(NamedTuple):
    """One model and where it is asked."""

    provider: str
    name: str
    url: str

    @property
    def label(self) -> str:
        return f"{self.provider}:{self.name}"


def parse_model(text: str) -> Model:
    """Parse `gemini:NAME`, `claude:NAME`, `openai:NAME,url=http://localhost:11434/v1`. Raises BadInput."""
    head, _, option = text.strip().partition(",")
    provider, _, name = head.partition(":")
    if provider not in PROVIDERS or not name.strip():
        raise BadInput(f"not a model: {text[:80]!r}", hint=f"{FORM}; providers: {', '.join(PROVIDERS)}")
    key, _, given = option.partition("=")
    if option and (key != "url" or not given):
        raise BadInput(f"not an option of a model: {option[:60]!r}", hint=FORM)
    url = (given or PROVIDERS[provider][0]).rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise BadInput(f"not an address: {url[:80]!r}", hint="such as url=http://localhost:11434/v1")
    return Model(provider, name.strip(), url)


def http_client() -> Any:
    """Return a client for `ask`, to be closed. Raises BadInput when the extra is not installed."""
    try:
        import httpx2
    except ImportError:
        raise BadInput("a model needs the extra", hint='pip install "limpet[organizer]"') from None
    return httpx2.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False)


def ask(client: Any, model: Model, system: str, text: str, schema: dict[str, Any], most: int) -> tuple[Any, Usage]:
    """Return the answer as parsed JSON, and its tokens. `most`: tokens that it may have. Raises ModelFailed."""
    import httpx2

    variable = PROVIDERS[model.provider][1]
    key = os.environ.get(variable, "")
    if not key and urlsplit(model.url).hostname not in ("localhost", "127.0.0.1", "::1"):
        raise ModelFailed(f"{model.label} has no key: set {variable}")
    # OpenAI's own newer models take only the one name, other servers often only the other.
    limit = "max_completion_tokens" if model.url == PROVIDERS["openai"][0] else "max_tokens"
    body = {
        "model": model.name,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
        limit: most,
        "response_format": {"type": "json_schema", "json_schema": {"name": "memories", "schema": schema}},
    }
    try:
        status, raw, _ = http_answer(
            client, "POST", f"{model.url}/chat/completions", most=MAX_ANSWER_BYTES, json=body,
            headers={"authorization": f"Bearer {key}"} if key else {},
        )  # fmt: skip
    except TooLong:
        raise ModelFailed(f"{model.label} answered with more than {MAX_ANSWER_BYTES:,} bytes") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ModelFailed(f"{model.label} did not answer: {type(error).__name__}") from None
    if status != 200:
        reason = " ".join(redact(raw)[0].split())[:160]
        raise ModelFailed(f"{model.label} answered with {status}" + (f": {reason}" if reason else ""))
    used = None
    try:
        answer = json.loads(raw)
        counts = answer.get("usage") or {}
        used = Usage(int(counts.get("prompt_tokens", 0)), int(counts.get("completion_tokens", 0)))
        content = (answer["choices"][0]["message"]["content"] or "").strip()
        if content.startswith("```"):
            content = content.partition("\n")[2].rpartition("```")[0]
        return json.loads(content), used
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ModelFailed(f"{model.label} did not answer with JSON: {error!r}"[:300], used) from None
