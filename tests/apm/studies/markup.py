"""Reading a page: that tags are closed in order, and what it links to."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Balanced(HTMLParser):
    """Checks that tags are closed in order, and keeps ids, links and sources."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.keep(attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.keep(attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def keep(self, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "xlink:href", "src") and value:
                (self.links if value.startswith("#") else self.outside).append(value)


def parsed(text: str) -> Balanced:
    """The page after reading it whole; every tag must have been closed."""
    page = Balanced()
    page.feed(text)
    page.close()
    assert page.open == []
    return page
