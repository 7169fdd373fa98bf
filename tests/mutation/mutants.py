"""Small wrong changes to a Python file: another comparison, another sign, another constant, a statement or a condition gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
RECKONED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a file."""

    line: int  # where it begins
    before: str
    after: str
    start: int  # bytes of the file that it replaces
    end: int

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]

    def place(self, source: bytes) -> str:
        """Its lines as one, with what is replaced in [[ ]]: it stays the same where lines are added above."""
        first, last = source.rfind(b"\n", 0, self.start) + 1, source.find(b"\n", self.end)
        parts = source[first : self.start], b"[[", source[self.start : self.end], b"]]", source[self.end : last]
        return " ".join(b"".join(parts).decode().split())


def mutants(source: bytes) -> list[Mutant]:
    """All that we know how to make of a file, in the order of its text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, after in _changes(ast.parse(source), top=True):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = source[start:end].decode()
        found.append(Mutant(node.lineno, before, after, start, end))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.after))


def _changes(node: ast.AST, *, top: bool = False) -> Iterator[tuple[ast.AST, str]]:
    """Of a node and what is below it: what to replace, and by which text. Types, decorators and assertions are left alone."""
    yield from _of(node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                continue
            if (
                top
                and isinstance(child, ast.Assign)
                and isinstance(child.value, ast.Subscript | ast.BinOp)
                and _is_type(child.value)
            ):
                continue
            yield from _changes(child)


TYPE_PARTS = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.List, ast.Tuple, ast.Load)


def _is_type(node: ast.AST) -> bool:
    """``str | int`` and ``Callable[[int], str]`` at the top of a file name a type."""
    return isinstance(node, ast.Subscript | ast.BinOp) and all(isinstance(part, TYPE_PARTS) for part in ast.walk(node))


def _of(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield node, _text(ast.Compare(node.left, [COMPARED[type(op)]()], node.comparators))
        case ast.Compare(ops=[first, *rest]) if rest:
            yield node, _text(ast.Compare(node.left, [COMPARED[type(first)](), *rest], node.comparators))
            yield node, _text(ast.Compare(node.left, [first, *rest[:-1], COMPARED[type(rest[-1])]()], node.comparators))
        case ast.BinOp() if not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)):
            yield (
                node,
                _text(ast.BinOp(node.left, RECKONED[type(node.op)](), node.right)) if type(node.op) in RECKONED else "None",
            )
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield node, _text(ast.BoolOp(other, node.values))
            for k in range(len(node.values)):
                left = node.values[:k] + node.values[k + 1 :]
                yield node, _text(left[0] if len(left) == 1 else ast.BoolOp(node.op, left))
        case ast.UnaryOp(op=ast.Not() | ast.USub()) if not isinstance(node.operand, ast.Constant) or isinstance(node.op, ast.Not):
            yield node, _text(node.operand)
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() as value):
            yield node, str(value + 1)
        case ast.Constant(value=float() as value):
            yield node, repr(2.0 * value if value else 1.0)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield test, "False"
            if not isinstance(node, ast.While):
                yield test, "True"
        case ast.comprehension(ifs=[test, *_]):
            yield test, "True"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield node, "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield node, "pass"
        case ast.Return(value=value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield node, "return None"
        case ast.Break() | ast.Continue():
            yield node, "pass"
        case ast.Call(func=ast.Name(id="min" | "max" as name)):
            yield node.func, {"min": "max", "max": "min"}[name]
    return


def _text(node: ast.AST) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"
