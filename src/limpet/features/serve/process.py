"""`limpet serve` as a process: the store, the threads beside the requests, the listener, the log, the end."""

from __future__ import annotations

import ipaddress
import json
import logging
import os
import signal
import sys
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

import limpet

from ...agents.mcp import Drain
from ...model.clock import format_time
from ...model.errors import BadInput
from ...model.memory import GLOBAL_SCOPE
from ...store.heap import share_one_heap
from .app import App
from .listener import SESSION_SECONDS, SESSIONS, config_of, listening
from .sdk import Services, server_of
from .tokens import tokens_of

# What runs when a stop is asked for is finished, if it takes no longer.
STOP_SECONDS = 20


def serve(store: str | None, scope: str | None, *, host: str, port: int, urls: list[str], page: bool = False) -> None:
    """Serve one store until SIGTERM or Ctrl-C. Raises BadInput, StoreError."""
    share_one_heap()
    scope = scope or os.environ.get("LIMPET_SCOPE") or GLOBAL_SCOPE
    with limpet.open(store, scope=scope) as memory, listening(host, port) as listener:
        port = listener.getsockname()[1]
        grants = tokens_of(memory.path)
        if not grants.any():
            raise BadInput(
                f"there is no token that holds in {grants.path}",
                hint="make one: limpet serve token create NAME --role write --scope SCOPE",
            )
        if not urls and not _is_loopback(host):
            raise BadInput(
                f"{host} is not this machine alone: say how clients reach it", hint="--url https://memory.example.org"
            )
        every = [*_checked(urls), *(f"http://{name}:{port}" for name in ("127.0.0.1", "localhost"))]
        _set_up_log()
        drain = Drain(memory)
        services = Services(memory, drain)
        # Host and Origin are looked at before, with names that only `urls` tells.
        mcp = server_of(None).streamable_http_app(
            session_idle_timeout=SESSION_SECONDS, max_sessions=SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )  # fmt: skip
        app = App(memory, mcp, services, grants, urls=every, page=page)
        if not memory.read_only:
            drain.start()
        try:
            signal.signal(signal.SIGTERM, lambda *_: None)  # the server's own handler stops it, then gives it back here
            logging.getLogger("limpet.features.serve").warning(
                "%s/mcp, port %d, tokens in %s", every[0], port, grants.path
            )
            server = uvicorn.Server(config_of(app, stop_seconds=STOP_SECONDS, log_config=None))
            app.stopping = lambda: server.should_exit
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            pass
        finally:
            if not memory.read_only:
                drain.stop()


class _AsJson(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"at": format_time(int(record.created * 1_000_000)), "level": record.levelname.lower()}
        line |= {"from": record.name, "message": record.getMessage()} | getattr(record, "fields", {})
        return json.dumps(line, ensure_ascii=False)


class _AsText(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{name}={value}" for name, value in getattr(record, "fields", {}).items())
        return f"limpet: {record.getMessage()} {fields}".rstrip()


def _set_up_log() -> None:
    """Log to stderr: words on a terminal, JSON lines elsewhere."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_AsText() if sys.stderr.isatty() else _AsJson())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("limpet.features.serve").setLevel(logging.INFO)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _checked(urls: list[str]) -> list[str]:
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query:
            raise BadInput(f"not a URL of a server: {url!r:.100}", hint="such as https://memory.example.org")
    return [url.rstrip("/") for url in urls]
