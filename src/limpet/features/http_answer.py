"""An HTTP answer of bounded length, read as it comes: what somebody else's server says is not taken whole on trust."""

from __future__ import annotations

from typing import Any


class TooLong(Exception):
    """An error: the answer has more bytes than are read."""


def http_answer(client: Any, method: str, url: str, *, most: int, **given: Any) -> tuple[int, str, Any]:
    """Return the status, text and headers. Raises TooLong beyond `most`, and the errors of `client` (httpx2)."""
    with client.stream(method, url, **given) as response:
        raw = bytearray()
        for block in response.iter_bytes():
            raw += block
            if len(raw) > most:
                raise TooLong
        return response.status_code, bytes(raw).decode("utf-8", "replace"), response.headers
