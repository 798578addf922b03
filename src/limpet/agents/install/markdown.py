"""A block of instructions at the end of a Markdown file that belongs to someone else."""

from __future__ import annotations

BEGIN, END = "<!-- limpet: begin -->", "<!-- limpet: end -->"


class NotWhole(ValueError):
    """A marker stands alone: where the block ends cannot be told."""


def put(text: str, body: str) -> str:
    """With the block, in place of the one that is there. Raises NotWhole."""
    found = _block(text)
    # Of the block itself where there is one: a lone CR before it makes a CRLF of its first empty line.
    line_end = "\r\n" if "\r\n" in (text[found[0] : found[1]] if found else text) else "\n"
    block = f"{BEGIN}\n{body.strip()}\n{END}".replace("\n", line_end)
    if found:
        return text[: found[0]] + block + text[found[1] :]
    gap = "" if not text else line_end if text.endswith("\n") else line_end * 2
    return text + gap + block + line_end


def cut(text: str) -> str:
    """Without the block, and without the empty line that parted it. Raises NotWhole."""
    found = _block(text)
    if not found:
        return text
    start, end = found
    for line_end in ("\r\n", "\n"):
        if text.startswith(line_end, end):
            end += len(line_end)
            break
    head = text[:start]
    if head.endswith(("\n\n", "\r\n\r\n")):
        head = head.removesuffix("\n").removesuffix("\r")
    return head + text[end:]


def _block(text: str) -> tuple[int, int] | None:
    if BEGIN not in text and END not in text:
        return None
    start = text.find(BEGIN)
    end = text.find(END, max(start, 0))
    if start < 0 or end < 0 or text.count(BEGIN) != 1 or text.count(END) != 1:
        raise NotWhole(f"{BEGIN} and {END} do not stand in it once each, in this order")
    return start, end + len(END)
