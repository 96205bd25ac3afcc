"""Small wrong changes to a source file, one at a time: what a test suite should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

COMPARISONS = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Pow: "*", ast.FloorDiv: "*",
    ast.Mod: "*", ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip
NAMES = {
    "lower": "upper", "upper": "lower", "min": "max", "max": "min", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor",
    "any": "all", "all": "any", "log": "log1p", "log1p": "log", "expm1": "exp", "sqrt": "abs",
    "left": "right", "right": "left", "zeros": "ones", "ones": "zeros", "nanmin": "nanmax",
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: where it is, of what kind, and the text that goes there."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The source with the change made; positions count bytes of UTF-8, as `ast` does."""
        raw = source.encode()
        return (raw[: self.start] + self.text.encode() + raw[self.end :]).decode()

    def shown(self, source: str) -> str:
        """The old text and the new one, on one line."""
        old = source.encode()[self.start : self.end].decode()
        one, other = (" ".join(text.split())[:70] for text in (old, self.text))
        return f"{self.path}:{self.line} [{self.kind}] {one} -> {other}"


def mutants(path: str, source: str) -> list[Mutant]:
    """Every change that is made to this file."""
    return list(_Finder(path, source).walk(ast.parse(source)))


class _Finder:
    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.lines = [0]
        for line in source.encode().splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.raw = source.encode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        place: ast.expr = node  # type: ignore[assignment]
        start = self.lines[place.lineno - 1] + place.col_offset
        end = self.lines[(place.end_lineno or 1) - 1] + (place.end_col_offset or 0)
        return start, end

    def text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.raw[start:end].decode()

    def change(self, node: ast.AST, kind: str, text: str) -> Mutant:
        line: int = node.lineno  # type: ignore[attr-defined]
        return Mutant(self.path, line, kind, *self.span(node), text)

    def between(
        self, first: ast.AST, second: ast.AST, kind: str, old: str, new: str
    ) -> list[Mutant]:
        """Change an operator: the text `old` between two operands."""
        start, end = self.span(first)[1], self.span(second)[0]
        gap = self.raw[start:end].decode()
        if gap.count(old) != 1 or "#" in gap:
            return []
        line: int = first.lineno  # type: ignore[attr-defined]
        return [Mutant(self.path, line, kind, start, end, gap.replace(old, new))]

    def walk(self, node: ast.AST) -> Iterator[Mutant]:
        """This node's changes and those below it; not in messages, types, or `__repr__`."""
        if isinstance(node, ast.Raise):
            yield self.change(node, "drop raise", "pass")
            return
        if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "_repr_html_"):
            return
        if isinstance(node, ast.FunctionDef):
            children: list[ast.AST] = [*node.body, *node.args.defaults]
            children += [default for default in node.args.kw_defaults if default is not None]
        elif isinstance(node, ast.AnnAssign):
            children = [node.value] if node.value is not None else []
        elif isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
            return
        else:
            children = list(ast.iter_child_nodes(node))
        yield from self.here(node)
        for child in children:
            yield from self.walk(child)

    def here(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            symbol = _SYMBOLS[type(node.ops[0])]
            for new in COMPARISONS[type(node.ops[0])]:
                yield from self.between(node.left, node.comparators[0], "comparison", symbol, new)
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            symbol, new = _SYMBOLS[type(node.op)], OPERATORS[type(node.op)]
            yield from self.between(node.left, node.right, "operator", symbol, new)
            yield self.change(node, "drop term", self.text(node.left))
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self.between(node.values[0], node.values[1], "logic", old, new)
            yield self.change(node, "drop condition", f"({self.text(node.values[0])})")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield self.change(node, "drop sign", f"({self.text(node.operand)})")
        elif isinstance(node, ast.Constant):
            yield from self.constant(node)
        elif isinstance(node, ast.Attribute) and node.attr in NAMES:
            yield self.change(node, "name", f"{self.text(node.value)}.{NAMES[node.attr]}")
        elif isinstance(node, ast.Name) and node.id in ("min", "max", "any", "all"):
            yield self.change(node, "name", NAMES[node.id])
        elif isinstance(node, ast.AugAssign | ast.Delete) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        ):
            yield self.change(node, "drop statement", "pass")
        elif isinstance(node, ast.If) and not node.orelse:
            yield self.change(node.test, "never", "False")
        elif isinstance(node, ast.IfExp):
            yield self.change(node, "one branch", self.text(node.body))
            yield self.change(node, "one branch", f"({self.text(node.orelse)})")
        elif isinstance(node, ast.Break | ast.Continue):
            yield self.change(node, "drop jump", "pass")
        elif isinstance(node, ast.keyword) and node.arg is not None:
            yield self.change(node, "drop keyword", "**{}")

    def constant(self, node: ast.Constant) -> Iterator[Mutant]:
        value = node.value
        if isinstance(value, bool):
            yield self.change(node, "constant", repr(not value))
        elif isinstance(value, int):
            yield self.change(node, "constant", repr(value + 1))
        elif isinstance(value, float):
            factor = 1e6 if 0 < abs(value) < 1e-3 else 2.0
            yield self.change(node, "constant", repr(value * factor if value else 1.0))


_SYMBOLS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+",
    ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip
