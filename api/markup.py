"""What of a question reaches a prompt and a store: words, without HTML and without NULs.

Only real markup goes: `std::vector<int>` and `a < b` are questions of programmers.
"""

from __future__ import annotations

import re
from typing import Final

_ELEMENTS: Final = (
    "a|abbr|address|applet|area|article|aside|audio|b|base|bdi|bdo|blink|blockquote|body|br|button"
    "|canvas|caption|center|cite|code|col|colgroup|dd|del|details|dfn|dialog|div|dl|dt|em|embed"
    "|fieldset|figcaption|figure|font|footer|form|frame|frameset|h[1-6]|head|header|hr|html|i"
    "|iframe|img|input|ins|kbd|label|legend|li|link|main|mark|marquee|math|menu|meta|meter|nav"
    "|noscript|object|ol|optgroup|option|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp|script"
    "|section|select|slot|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody"
    "|td|template|textarea|tfoot|th|thead|time|title|tr|track|tt|u|ul|video|wbr|xmp"
)
# Not right behind a word: the <b> of `Pair<b>` is a type, not bold.
_TAG: Final = re.compile(
    rf"(?<!\w)</?(?:{_ELEMENTS})(?:[\s/][^<>]*)?>|<!--.*?-->", re.IGNORECASE | re.DOTALL
)
_CLOSING: Final = re.compile(
    rf"</(?:{_ELEMENTS})\s*>", re.IGNORECASE
)  # `word</b>` has no other meaning


def without_markup(text: str) -> str:
    """The text without HTML tags, comments and NULs, stripped."""
    before = ""
    while before != text:  # what is left of `<<b>script>` must not be a tag again
        before = text
        text = _CLOSING.sub("", _TAG.sub("", text))
    return without_nuls(text).strip()


def without_nuls(text: str) -> str:
    """PostgreSQL and the models take every character but this one."""
    return text.replace("\0", "")
