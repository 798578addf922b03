"""Counts and times of what was asked, in Prometheus's text format. No scope, name or text is in them."""

from __future__ import annotations

import threading
import time
from collections import Counter

from ... import __version__

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Prometheus counters. Thread-safe. `verb` and `status` are of small, fixed sets: a client must not make series."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()
        self._running = 0
        self._started = time.time()

    def begin(self) -> None:
        with self._lock:
            self._running += 1

    def end(self, verb: str, status: str, seconds: float) -> None:
        with self._lock:
            self._running -= 1
            self._requests[verb, status] += 1
            times = self._times.setdefault(verb, [0] * (len(BUCKETS) + 1))
            times[next((at for at, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))] += 1
            self._sums[verb] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        with self._lock:
            lines = [
                *_about("limpet_build_info", "gauge", "The version that runs."),
                f'limpet_build_info{{version="{__version__}"}} 1',
                *_about("limpet_start_time_seconds", "gauge", "When this process began, in Unix time."),
                f"limpet_start_time_seconds {self._started:.3f}",
                *_about("limpet_requests_running", "gauge", "Requests that are being answered."),
                f"limpet_requests_running {self._running}",
                *_about("limpet_requests_total", "counter", "Requests answered, by verb and status."),
            ]
            for (verb, status), count in sorted(self._requests.items()):
                lines.append(f'limpet_requests_total{{verb="{verb}",status="{status}"}} {count}')
            lines += _about("limpet_request_seconds", "histogram", "How long requests took, by verb.")
            for verb, times in sorted(self._times.items()):
                below = 0
                for most, count in zip((*map(str, BUCKETS), "+Inf"), times, strict=True):
                    below += count
                    lines.append(f'limpet_request_seconds_bucket{{verb="{verb}",le="{most}"}} {below}')
                lines.append(f'limpet_request_seconds_sum{{verb="{verb}"}} {self._sums[verb]:.6f}')
                lines.append(f'limpet_request_seconds_count{{verb="{verb}"}} {below}')
        return "\n".join(lines) + "\n"


def _about(name: str, type: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {type}"]
