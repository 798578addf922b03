"""What this machine's processor makes of sums of products of 8 bits."""

from __future__ import annotations

import platform
from pathlib import Path

_INFO = Path("/proc/cpuinfo")

# x86-64 without VNNI adds them with saturation: the same model makes vectors a little further from those in 32 bits.
SATURATES = (
    platform.machine() in ("x86_64", "AMD64") and _INFO.exists() and "vnni" not in _INFO.read_text(encoding="utf-8")
)
