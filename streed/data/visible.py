"""Text that is seen as what it is: control characters, halves of characters and line breaks as signs."""

from __future__ import annotations

import html

_SIGNS: dict[int, str] = dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "�")
_SIGNS |= {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "␡", 0x85: "␤", 0x2028: "␤", 0x2029: "␤"}


def visible(text: str) -> str:
    """The text in one line that every terminal, picture and file can hold.

    Control characters become their pictures (␀ to ␟, ␡), other line breaks ␤, and what is no character �.
    """
    return text.translate(_SIGNS)


def escaped(text: str) -> str:
    """The visible text as XML and HTML have it: some control characters are allowed there in no form at all."""
    return html.escape(visible(text))
