"""Text that is seen as what it is: control characters, halves of characters and line breaks as signs."""

from __future__ import annotations

import html
import re

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """The text in one line that every terminal, picture and file can hold.

    Control characters become their pictures (␀ to ␟, ␡), other line breaks ␤, and what is no character �.
    """
    return _UNSEEN.sub(_sign, text)


def escaped(text: str) -> str:
    """The visible text as XML and HTML have it: some control characters are allowed there in no form at all."""
    return html.escape(visible(text))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    return "␤" if code in (0x85, 0x2028, 0x2029) else "�"
