"""Small programs of what is hard to follow: every statement outside of a slice is taken away."""

from __future__ import annotations

import ast
import copy

import pytest

from lipstick.scripts import text_provenance
from tests.lipstick.scripts.execution import NotEndedError, run, shown, statements

PROGRAMS = {
    "a property and a class variable": """
class Tank:
    scale = 2
    def __init__(self, level):
        self._level = level
    @property
    def level(self):
        return self._level * Tank.scale
    @level.setter
    def level(self, value):
        self._level = value
tank = Tank(3)
Tank.scale = 5
a = tank.level
tank.level = 4
b = tank.level
""",
    "closures that share a variable": """
def pair():
    held = [0]
    def put(x):
        held.append(x)
    def get():
        return sum(held)
    return put, get
put, get = pair()
put(3)
other, get2 = pair()
other(9)
a = get()
b = get2()
""",
    "functions kept in a dict": """
log = []
def up(x):
    log.append("up")
    return x + 1
def down(x):
    return x - 1
table = {"up": up, "down": down}
a = table["up"](3)
b = table["down"](a)
c = len(log)
""",
    "a decorator": """
calls = 0
def counted(f):
    def inner(*args, **kwargs):
        global calls
        calls += 1
        return f(*args, **kwargs)
    return inner
@counted
def add(x, y=2):
    return x + y
a = add(1)
b = add(1, y=5)
c = calls
""",
    "return inside of try and finally": """
seen = []
def safe(x):
    try:
        seen.append(x)
        return 10 // x
    except ZeroDivisionError:
        return -1
    finally:
        seen.append("done")
a = safe(2)
b = safe(0)
c = len(seen)
""",
    "a generator that reads late": """
k = 1
def ticks(n):
    for i in range(n):
        yield i * k
g = ticks(3)
k = 10
a = list(g)
b = k
""",
    "elements of elements": """
row = [1, 2]
grid = [row, [3]]
index = {"first": grid}
index["first"][0].append(7)
grid[1][0] = 5
a = sum(row)
b = grid[1]
copied = [list(r) for r in grid]
copied[0].append(100)
c = len(row)
""",
    "a loop that replaces a list of lists": """
inner = [0]
rows = [[1]]
for i in range(3):
    for r in rows:
        r.append(i)
    rows = [inner, [i]]
a = inner
b = rows
""",
    "stars": """
def total(*parts, scale=1, **named):
    return (sum(parts) + sum(named.values())) * scale
first, *rest = [1, 2, 3]
more = {"x": 4, "scale": 2}
a = total(first, *rest)
b = total(first, **more)
""",
    "inheritance and super": """
class Base:
    def __init__(self, x):
        self.x = x
        self.log = []
    def run(self):
        self.log.append(self.x)
        return self.step()
    def step(self):
        return 0
class Child(Base):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y
    def step(self):
        return self.x * self.y
one = Child(2, 3)
two = Base(5)
a = one.run()
b = two.run()
c = one.log
""",
    "a context manager": """
class Guard:
    def __init__(self, out):
        self.out = out
    def __enter__(self):
        self.out.append("in")
        return self.out
    def __exit__(self, *error):
        self.out.append("end")
        return False
out = []
with Guard(out) as g:
    g.append(1)
a = out
b = len(out)
""",
    "nested loops with break and else": """
found = None
tried = 0
for i in range(4):
    for j in range(4):
        tried += 1
        if i * j == 6:
            found = (i, j)
            break
    else:
        continue
    break
a = found
b = tried
""",
    "recursion with state": """
memo = {}
depth = 0
def fib(n):
    global depth
    depth += 1
    if n in memo:
        return memo[n]
    value = n if n < 2 else fib(n - 1) + fib(n - 2)
    memo[n] = value
    return value
a = fib(6)
b = len(memo)
c = depth
""",
    "callables that sort and reduce": """
from functools import reduce
weight = {"a": 3, "b": 1}
used = []
def key(name):
    used.append(name)
    return weight[name]
names = sorted(weight, key=key)
weight["c"] = 9
a = reduce(lambda x, y: x + y, [weight[n] for n in names], 0)
b = used
""",
    "an object that calls": """
class Scale:
    def __init__(self, k):
        self.k = k
        self.count = 0
    def __call__(self, x):
        self.count += 1
        return x * self.k
s = Scale(2)
a = s(4)
a2 = list(map(s, [1, 2]))
b = s.count
""",
    "an iterator that is used twice": """
data = iter([1, 2, 3, 4])
a = next(data)
skipped = next(data)
b = list(data)
""",
    "keys that are deleted while others stay": """
d = {"x": 1, "y": 2}
view = d.keys()
e = d
del e["x"]
a = list(view)
d.update(z=3)
b = len(e)
""",
    "a method kept in a variable": """
items = []
put = items.append
put(3)
do = {"put": put}
do["put"](4)
a = items
""",
    "exec changes what it likes": """
n = 1
code = "n = n + 5"
exec(code)
a = n
""",
    "setattr and getattr": """
class Box:
    pass
box = Box()
name = "x"
setattr(box, name, 3)
a = getattr(box, "x")
same = box
same.x += 1
b = box.x
""",
    "a swap through a helper": """
def swap(pair):
    pair[0], pair[1] = pair[1], pair[0]
left = [1, 2]
right = left
swap(right)
a = left[0]
b = right
""",
    "augmented assignment of an alias": """
xs = [1]
ys = xs
ys += [2]
a = xs
n = 1
k = n
k += 1
b = n
""",
    "a chain of conditions": """
x, y, z = 1, 5, 9
log = []
def see(v):
    log.append(v)
    return v
a = see(x) < see(y) < see(z)
b = len(log)
c = see(0) and see(7)
""",
    "a class that counts its objects": """
class Seen:
    count = 0
    all = []
    def __init__(self, n):
        Seen.count += 1
        self.all.append(n)
one = Seen(1)
two = Seen(2)
a = Seen.count
b = two.all
""",
    "default arguments that are kept": """
def put(x, held=[]):
    held.append(x)
    return held
first = put(1)
second = put(2)
a = len(first)
""",
}

VARIABLES = ("a", "b", "c", "a2")


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_statement_outside_of_a_slice_matters(name: str) -> None:
    text = PROGRAMS[name].lstrip("\n")
    tree = ast.parse(text)
    whole = run(copy.deepcopy(tree))
    provenance = text_provenance(text)
    for variable in VARIABLES:
        if variable not in whole:
            continue
        kept = {line.number for line in provenance.depends(variable).lines}
        for place in range(len(statements(tree))):
            other = copy.deepcopy(tree)
            statement, body, at = statements(other)[place]
            if statement.lineno in kept:
                continue
            body[at] = ast.copy_location(ast.Pass(), statement)
            try:
                after = run(other)
            except NotEndedError:
                continue
            if variable in after:
                assert shown(after[variable]) == shown(whole[variable]), (
                    f"{variable} without line {statement.lineno}: {ast.unparse(statement)}"
                )
