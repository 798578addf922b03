"""Language models over HTTP: Gemini, Claude, and what speaks OpenAI's chat completions (Ollama, llama.cpp, vLLM).

One HTTP library instead of three SDKs: a request each, its answer as JSON, its tokens. Keys come from the environment
alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ...http_answer import TooLong, http_answer
from ...model.dataclass import dataclass
from ...model.errors import BadInput, LimpetError
from ...text.secrets import redact

TIMEOUT_SECONDS = 120.0
MAX_ANSWER_BYTES = 4_000_000
MILLION = 1_000_000


class ModelFailed(LimpetError):
    """A model did not answer, or not with what was asked for. Never leaves the organizer."""

    code = "model_failed"

    def __init__(self, message: str, *, used: Usage | None = None) -> None:
        super().__init__(message)
        self.used = used


class Usage(NamedTuple):
    """Tokens of one call, as the provider counts them."""

    given: int
    made: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model and where it is asked. Prices in US dollars for a million tokens; None: not known."""

    provider: str
    name: str
    url: str
    price_in: float | None = None
    price_out: float | None = None

    @property
    def label(self) -> str:
        return f"{self.provider}:{self.name}"

    @property
    def is_local(self) -> bool:
        return (urlsplit(self.url).hostname or "") in ("localhost", "127.0.0.1", "::1")

    def usd(self, given: int, made: int) -> float | None:
        """None when nobody said what it costs."""
        if self.price_in is None or self.price_out is None:
            return 0.0 if self.is_local and self.price_in is None and self.price_out is None else None
        return (given * self.price_in + made * self.price_out) / MILLION


# provider -> (its own address, variable of its key)
_PROVIDERS = {
    "gemini": ("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    "claude": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
}
PROVIDERS = tuple(_PROVIDERS)
FORM = "PROVIDER:MODEL[,url=URL][,in=USD][,out=USD]"


def parse_model(text: str) -> Model:
    """`gemini:NAME`, `claude:NAME`, `openai:NAME,url=http://localhost:11434/v1,in=0.1,out=0.4`. Raises BadInput."""
    head, *options = text.strip().split(",")
    provider, mark, name = head.partition(":")
    if provider not in _PROVIDERS or not mark or not name.strip():
        raise BadInput(f"not a model: {text[:80]!r}", hint=f"{FORM}; providers: {', '.join(PROVIDERS)}")
    given: dict[str, str] = {}
    for option in options:
        key, mark, value = option.partition("=")
        if key not in ("url", "in", "out") or not mark or not value:
            raise BadInput(f"not an option of a model: {option[:60]!r}", hint=FORM)
        given[key] = value
    url = given.get("url", _PROVIDERS[provider][0]).rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise BadInput(f"not an address: {url[:80]!r}", hint="such as url=http://localhost:11434/v1")
    if ("in" in given) != ("out" in given):
        raise BadInput("a price needs both in= and out=", hint="US dollars for a million tokens")
    return Model(
        provider=provider,
        name=name.strip(),
        url=url,
        price_in=_price(given["in"]) if "in" in given else None,
        price_out=_price(given["out"]) if "out" in given else None,
    )


def _price(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 100_000:
        raise BadInput(f"not a price: {text[:40]!r}", hint="US dollars for a million tokens, such as in=0.30")
    return value


class Asker:
    """Asks models; one HTTP client for all; `close()` it. Raises BadInput when the extra is not installed."""

    def __init__(self) -> None:
        try:
            import httpx2
        except ImportError:
            raise BadInput("a model needs the extra", hint='pip install "limpet[organizer]"') from None
        self._http = httpx2
        self._client = httpx2.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False)

    def close(self) -> None:
        self._client.close()

    def ask(self, model: Model, system: str, text: str, schema: dict[str, Any], most: int) -> tuple[Any, Usage]:
        """The answer as parsed JSON, and its tokens. `most`: tokens that it may have. Raises ModelFailed."""
        shape, read = _SHAPES[model.provider]
        path, headers, body = shape(model, system, text, schema, most)
        answer = self._post(model, path, headers, body)
        used = Usage(0, 0)
        try:
            value, used = read(answer)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise ModelFailed(f"{model.label} answered in a form that is not known: {error!r}"[:300]) from None
        if isinstance(value, str):
            try:
                value = json.loads(_unfenced(value))
            except (ValueError, RecursionError):
                raise ModelFailed(f"{model.label} did not answer with JSON", used=used) from None
        return value, used

    def _post(self, model: Model, path: str, headers: dict[str, str], body: dict[str, Any]) -> Any:
        try:
            status, text, _ = http_answer(
                self._client, "POST", model.url + path, most=MAX_ANSWER_BYTES, headers=headers, json=body
            )
        except TooLong:
            raise ModelFailed(f"{model.label} answered with more than {MAX_ANSWER_BYTES:,} bytes") from None
        except (self._http.HTTPError, self._http.InvalidURL, OSError) as error:
            raise ModelFailed(f"{model.label} did not answer: {type(error).__name__}") from None
        if status != 200:
            said = " ".join(redact(text)[0].split())[:160]
            raise ModelFailed(f"{model.label} answered with {status}" + (f": {said}" if said else ""))
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ModelFailed(f"{model.label} did not answer with JSON") from None


def _unfenced(text: str) -> str:
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    return text


def _key(model: Model) -> str:
    """Raises ModelFailed when a remote provider has no key."""
    found = os.environ.get(_PROVIDERS[model.provider][1], "")
    if not found and not model.is_local:
        raise ModelFailed(f"{model.label} has no key: set {_PROVIDERS[model.provider][1]}")
    return found


Request = tuple[str, dict[str, str], dict[str, Any]]


def _ask_openai(model: Model, system: str, text: str, schema: dict[str, Any], most: int) -> Request:
    key = _key(model)
    # OpenAI's own newer models take only the one name, other servers often only the other.
    limit = "max_completion_tokens" if model.url == _PROVIDERS["openai"][0] else "max_tokens"
    return "/chat/completions", {"authorization": f"Bearer {key}"} if key else {}, {
        "model": model.name,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
        limit: most,
        "response_format": {"type": "json_schema", "json_schema": {"name": "memories", "schema": schema}},
    }  # fmt: skip


def _read_openai(answer: Any) -> tuple[Any, Usage]:
    used = answer.get("usage") or {}
    usage = Usage(int(used.get("prompt_tokens", 0)), int(used.get("completion_tokens", 0)))
    return answer["choices"][0]["message"]["content"] or "", usage


def _ask_claude(model: Model, system: str, text: str, schema: dict[str, Any], most: int) -> Request:
    headers = {"x-api-key": _key(model), "anthropic-version": "2023-06-01"}
    return "/v1/messages", headers, {
        "model": model.name,
        "max_tokens": most,
        "system": system,
        "messages": [{"role": "user", "content": text}],
        "tools": [{"name": "memories", "description": "What is worth remembering.", "input_schema": schema}],
        "tool_choice": {"type": "tool", "name": "memories"},
    }  # fmt: skip


def _read_claude(answer: Any) -> tuple[Any, Usage]:
    used = answer.get("usage") or {}
    given = sum(
        int(used.get(name) or 0) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    usage = Usage(given, int(used.get("output_tokens", 0)))
    return next((part["input"] for part in answer["content"] if part.get("type") == "tool_use"), ""), usage


def _ask_gemini(model: Model, system: str, text: str, schema: dict[str, Any], most: int) -> Request:
    return f"/v1beta/models/{model.name}:generateContent", {"x-goog-api-key": _key(model)}, {
        "systemInstruction": {"parts": [{"text": system}]},
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "generationConfig": {
            "maxOutputTokens": most, "responseMimeType": "application/json", "responseJsonSchema": schema,
        },
    }  # fmt: skip


def _read_gemini(answer: Any) -> tuple[Any, Usage]:
    used = answer.get("usageMetadata") or {}
    made = int(used.get("candidatesTokenCount") or 0) + int(used.get("thoughtsTokenCount") or 0)
    usage = Usage(int(used.get("promptTokenCount") or 0), made)
    parts = answer["candidates"][0]["content"]["parts"]
    return "".join(part.get("text", "") for part in parts if not part.get("thought")), usage


_SHAPES: dict[str, tuple[Callable[..., Request], Callable[[Any], tuple[Any, Usage]]]] = {
    "openai": (_ask_openai, _read_openai),
    "claude": (_ask_claude, _read_claude),
    "gemini": (_ask_gemini, _read_gemini),
}
