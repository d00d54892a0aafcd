"""Random programs that end, for the oracles: reproducible from their seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

_NUMBERS = ("a", "b", "c", "d", "e")
_LISTS = ("xs", "ys", "zs")
_DICTS = ("m", "n")

PRELUDE = """\
class Box:
    def __init__(self, start):
        self.held = start
        self.log = []

    def add(self, x):
        self.held = self.held + x
        self.log.append(x)
        return self.held

    def clear(self):
        self.log = []


def plus(x, y=1):
    if x > y:
        return x + y
    z = x * 2
    return z - y


def push(items, x):
    items.append(x)
    return len(items)


def longest(p, q):
    for item in p:
        if item > 50:
            return q
    return p


def bump():
    global a
    a = a + 1
    return a


def walk(x):
    if x <= 0:
        return 0
    return walk(x - 3) + b


def evens(items):
    for item in items:
        if item % 2 == 0:
            yield item


a = 1
b = 2
c = 3
d = 4
e = 5
xs = [1, 2, 3]
ys = [4, 5]
zs = xs
m = {"k": 1, "l": 2}
n = {"k": 5, "items": ys}
box = Box(3)
bix = Box(a)
k = len
"""

VARIABLES = (*_NUMBERS, *_LISTS, *_DICTS, "box", "bix")


@dataclass(slots=True)
class _Writer:
    random: np.random.Generator
    lines: list[str] = field(default_factory=list)
    loops: int = 0

    def pick(self, items: tuple[str, ...]) -> str:
        return items[int(self.random.integers(len(items)))]

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def number(self, deep: int = 2) -> str:
        choice = int(self.random.integers(12 if deep else 3))
        if choice == 0:
            return str(int(self.random.integers(-3, 9)))
        if choice <= 3:
            return self.pick(_NUMBERS)
        inner = self.number(deep - 1)
        return (
            f"({inner} + {self.number(0)})",
            f"({inner} - {self.number(0)})",
            f"({inner} * {self.number(0)}) % 97",
            f"len({self.pick(_LISTS)})",
            f"sum(x for x in {self.pick(_LISTS)} if x > {self.number(0)})",
            f"({inner} if {self.test()} else {self.number(0)})",
            f"plus({inner}, {self.number(0)})",
            f"{self.pick(_DICTS)}['k']",
        )[choice - 4]

    def test(self) -> str:
        return (
            f"{self.pick(_NUMBERS)} {self.pick(('<', '>', '==', '!='))} {self.number(0)}",
            f"{self.pick(_NUMBERS)} > 2 and {self.pick(_NUMBERS)} < 9",
            f"{self.number(0)} in {self.pick(_LISTS)}",
            f"not {self.pick(_LISTS)} or {self.pick(_NUMBERS)} > 3",
            f"(w := {self.number(0)}) > {self.pick(_NUMBERS)}",
        )[int(self.random.integers(5))]

    def items(self) -> str:
        some = self.pick(_LISTS)
        return (
            f"[{self.number(0)}, {self.number(0)}]",
            some,
            f"{some}[:2]",
            f"{some} + [{self.number(0)}]",
            f"[x + {self.number(0)} for x in {some}]",
            f"sorted({some})",
            f"longest({some}, {self.pick(_LISTS)})",
            f"list(evens({some}))",
            f"list(map(lambda x: x + {self.pick(_NUMBERS)}, {some}))",
            "n['items']",
            f"{self.pick(('box', 'bix'))}.log",
        )[int(self.random.integers(11))]

    def simple(self, depth: int, in_loop: bool) -> None:
        number, some = self.pick(_NUMBERS), self.pick(_LISTS)
        texts = [
            f"{number} = {self.number()}",
            f"{number} = {self.number()}",
            f"{number} += {self.number(1)}",
            f"{number}, {self.pick(_NUMBERS)} = {self.number(1)}, {self.number(1)}",
            f"{some} = {self.items()}",
            f"{some}.append({self.number(1)})",
            f"{some} += [{self.number(0)}]",
            f"{number} = push({some}, {self.number(0)})",
            f"{some}[0:1] = [{self.number(0)}]",
            f"{self.pick(_DICTS)}['k'] = {self.number(1)}",
            f"n['items'] = {some}",
            f"{number} = bump()",
            f"{number} = {self.pick(('box', 'bix'))}.add({self.number(0)})",
            f"{self.pick(('box', 'bix'))}.held = {self.number(0)}",
            f"{self.pick(('box', 'bix'))}.log = {some}",
            "bix = box" if self.random.random() < 0.3 else "box.clear()",
            f"{number} = k({some})" if self.random.random() < 0.5 else f"{number} = walk(4)",
            f"{number} = max({some}, default={self.number(0)})",
            f"m, n = n, {{'k': {self.number(0)}, 'items': {some}}}",
            f"{some}.extend({self.items()})" if not in_loop else f"{some}.append({number})",
        ]
        self.add(depth, texts[int(self.random.integers(len(texts)))])

    def block(self, depth: int, in_loop: bool) -> None:
        for _ in range(int(self.random.integers(1, 4))):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        choice = self.random.random()
        if depth >= 3 or choice < 0.6:
            self.simple(depth, in_loop)
        elif choice < 0.74:
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1, in_loop)
            if self.random.random() < 0.4:
                self.add(depth, f"elif {self.test()}:")
                self.block(depth + 1, in_loop)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, in_loop)
        elif choice < 0.84:
            over = f"range({int(self.random.integers(1, 4))})"
            if self.random.random() < 0.5:
                over = f"list({self.pick(_LISTS)})[:3]"
            self.add(depth, f"for {self.pick((*_NUMBERS, 'i', 'j'))} in {over}:")
            self.loop_body(depth)
        elif choice < 0.9:
            self.loops += 1
            counter = f"t{self.loops}"
            self.add(depth, f"{counter} = 0")
            self.add(depth, f"while {counter} < 4 and {self.test()}:")
            self.add(depth + 1, f"{counter} += 1")
            self.loop_body(depth)
        else:
            self.add(depth, "try:")
            self.block(depth + 1, in_loop)
            self.add(depth + 1, f"{self.pick(_NUMBERS)} = 6 // {self.number(0)}")
            self.block(depth + 1, in_loop)
            self.add(depth, "except ZeroDivisionError:")
            self.block(depth + 1, in_loop)
            if self.random.random() < 0.4:
                self.add(depth, "finally:")
                self.block(depth + 1, in_loop=False)

    def loop_body(self, depth: int) -> None:
        self.block(depth + 1, in_loop=True)
        if self.random.random() < 0.4:
            self.add(depth + 1, f"if {self.test()}:")
            self.add(depth + 2, self.pick(("break", "continue")))
            self.block(depth + 1, in_loop=True)
        if self.random.random() < 0.2:
            self.add(depth, "else:")
            self.block(depth + 1, in_loop=False)


def program(seed: int, statements: int = 14) -> str:
    """A program of some top-level statements behind a common beginning."""
    writer = _Writer(np.random.default_rng(seed))
    for _ in range(statements):
        writer.statement(0, in_loop=False)
    return PRELUDE + "\n".join(writer.lines) + "\n"
