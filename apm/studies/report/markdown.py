"""Tables in Markdown, and pages whose marked parts are made from numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

_PART = re.compile(r"<!-- table: (?P<name>[\w-]+) -->.*?<!-- end -->", flags=re.DOTALL)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, first column left, the others right.

    >>> print(markdown_table(("a", "b"), [("x", "1")]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    rule = ("---", *["---:"] * (len(header) - 1))
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows))


def fill(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The text with every part between `<!-- table: name -->` and `<!-- end -->` made anew.

    Names that `parts` does not have stay as they are.

    >>> fill("<!-- table: a --> old <!-- end -->", {"a": lambda: "new"})
    '<!-- table: a -->\\n\\nnew\\n\\n<!-- end -->'
    """

    def renew(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in parts:
            return match[0]
        return f"<!-- table: {name} -->\n\n{parts[name]()}\n\n<!-- end -->"

    return _PART.sub(renew, text)
