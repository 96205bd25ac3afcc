"""A griffe extension: docstrings as Markdown that looks as they do in the source.

Examples with prompts are fenced, so that they are highlighted and keep their lines.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*?(?=\n\s*\n|\Z)", re.M | re.S)


class FencedExamples(Extension):
    """Puts a fence around every block that begins with a prompt."""

    def on_object(self, *, obj: Object, **rest: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """`text` with each example, up to the next empty line, between fences."""
    return EXAMPLE.sub(lambda found: fence(found[0], found["indent"]), text)


def fence(block: str, indent: str) -> str:
    return f"\n{indent}```pycon\n{block}\n{indent}```\n"
