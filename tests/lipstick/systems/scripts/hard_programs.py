"""Small programs of what is hard to follow."""

from __future__ import annotations

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

PROTOCOLS = {
    "operators of a class": """
class Vector:
    made = 0
    def __init__(self, x, y):
        self.x, self.y = x, y
        Vector.made += 1
    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)
    def __rmul__(self, factor):
        return Vector(factor * self.x, factor * self.y)
    def __eq__(self, other):
        return self.x == other.x
    def __neg__(self):
        return Vector(-self.x, -self.y)
left = Vector(1, 2)
right = Vector(3, 4)
both = left + right
a = both.x
twice = 2 * both
b = twice == left
c = (-left).y
a2 = Vector.made
""",
    "augmented assignment of a class": """
class Bag:
    def __init__(self):
        self.items = []
    def __iadd__(self, item):
        self.items.append(item)
        return self
bag = Bag()
same = bag
bag += 3
a = same.items
b = len(bag.items)
""",
    "indexing of a class": """
class Table:
    def __init__(self):
        self.rows = {}
        self.asked = 0
    def __getitem__(self, key):
        self.asked += 1
        return self.rows.get(key, 0)
    def __setitem__(self, key, value):
        self.rows[key] = value * 2
    def __delitem__(self, key):
        self.rows.pop(key)
    def __contains__(self, key):
        return key in self.rows
    def __len__(self):
        return len(self.rows)
table = Table()
table["x"] = 4
table["y"] = 5
del table["y"]
a = table["x"]
b = "y" in table
c = len(table)
a2 = table.asked
""",
    "going over a class": """
class Countdown:
    def __init__(self, start):
        self.left = start
    def __iter__(self):
        return self
    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left
down = Countdown(4)
first = next(down)
a = [n for n in down]
b = down.left
""",
    "an object that makes a generator": """
class Tree:
    def __init__(self, value, *children):
        self.value, self.children = value, children
    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child
tree = Tree(1, Tree(2), Tree(3, Tree(4)))
a = list(tree)
total = 0
for value in tree:
    total += value
b = total
""",
    "sorted by a method": """
class Card:
    compared = 0
    def __init__(self, rank):
        self.rank = rank
    def __lt__(self, other):
        Card.compared += 1
        return self.rank < other.rank
    def __str__(self):
        return f"<{self.rank}>"
cards = [Card(3), Card(1)]
cards.sort()
a = cards[0].rank
b = str(cards[1])
c = Card.compared > 0
a2 = f"{max(cards)}"
""",
    "truth of an object": """
class Flag:
    def __init__(self, up):
        self.up = up
    def __bool__(self):
        return self.up > 1
flag = Flag(1)
a = 0
if flag:
    a = 5
b = not flag
""",
    "a decorator that registers": """
known = {}
def register(name):
    def wrap(function):
        known[name] = function
        return function
    return wrap
@register("one")
def first():
    return 1
@register("two")
def second():
    return 2
a = known["two"]()
b = sorted(known)
c = first()
""",
    "a decorator of a decorator": """
calls = []
def logged(function):
    def inner(*args):
        calls.append(function.__name__)
        return function(*args)
    return inner
def doubled(function):
    def inner(x):
        return 2 * function(x)
    return inner
@logged
@doubled
def plus(x):
    return x + 1
a = plus(3)
b = len(calls)
""",
    "a class as a decorator": """
class Counted:
    def __init__(self, function):
        self.function = function
        self.calls = 0
    def __call__(self, x):
        self.calls += 1
        return self.function(x)
@Counted
def square(x):
    return x * x
a = square(4)
b = square.calls
""",
    "a class method that makes objects": """
class Point:
    made = []
    def __init__(self, x):
        self.x = x
    @classmethod
    def read(cls, text):
        point = cls(int(text))
        cls.made.append(point)
        return point
    @staticmethod
    def zero():
        return Point(0)
p = Point.read("7")
q = p.read("8")
z = Point.zero()
a = p.x
b = len(Point.made)
c = z.x
""",
    "a break before what an iteration leaves": """
value, rounds = 0, 0
while True:
    rounds += 1
    new = rounds * 2
    if new > 5:
        break
    value = new
a = value
b = rounds
""",
    "a return before what an iteration leaves": """
def search(limit):
    seen, last = [], None
    n = 0
    while True:
        n += 1
        if n > limit:
            return seen, last
        seen.append(n)
        last = n
pair = search(3)
a = pair[0]
b = pair[1]
""",
    "iterators that are used up": """
numbers = iter([1, 2, 3, 4])
first = next(numbers)
pairs = zip("ab", numbers)
a = list(pairs)
b = list(numbers)
squares = (n * n for n in [1, 2, 3])
c = 4 in squares
a2 = list(squares)
""",
    "a generator that is used up": """
def ticks(n):
    for i in range(n):
        yield i
source = ticks(4)
total = sum(source)
a = list(source)
for late in ticks(2):
    pass
b = late
""",
    "a setter that tells others": """
told, largest = [], [0]
class Subject:
    def __init__(self):
        self.listeners = []
        self._value = 0
    @property
    def value(self):
        return self._value
    @value.setter
    def value(self, new):
        self._value = new
        for listener in self.listeners:
            listener(new)
def keep(new):
    if new > largest[0]:
        largest[0] = new
subject = Subject()
subject.listeners.append(told.append)
subject.listeners.append(keep)
subject.value = 4
a = largest[0]
b = told
c = subject.value
""",
    "fields of a data class": """
from dataclasses import dataclass, field
@dataclass(order=True)
class Job:
    at: int
    name: str = "job"
    tags: list = field(default_factory=list)
jobs = [Job(3), Job(1, "first")]
jobs[0].tags.append("late")
jobs.sort()
a = jobs[0].name
b = jobs[1].tags
c = jobs[0] == Job(1, "first")
""",
    "printing into a file": """
import io
target = io.StringIO()
print("x", 1, file=target)
print("y")
a = target.getvalue()
""",
    "a match that takes apart": """
log = []
for item in [("add", 2), {"op": "skip"}, [1, 2, 3], 7]:
    match item:
        case ("add", n):
            log.append(n)
        case {"op": name, **rest}:
            log.append(name)
        case [first, *others] if len(others) > 1:
            log.append(others)
        case int() as number:
            log.append(number)
a = log
b = number
""",
}
"""What classes, decorators and iterators do behind operators, loops and built-in functions."""

LOOPS = {
    "a dict of lists that a loop groups into": """
d = {}
for k in [1,2,1]:
    if k in d:
        d[k].append(3)
    else:
        d[k] = [4]
a = 0
for v in d.values():
    a += len(v)
""",
    "a list in a dict, changed by its key": """
d = {}
d[1] = [4]
d[1].append(3)
a = 0
for v in d.values():
    a += len(v)
""",
    "the last of lists in a dict": """
d = {}
d[1] = [4]
d[1].append(3)
for v in d.values():
    a = v
""",
    "a list in a dict, read by its key": """
d = {}
d[1] = [4]
d[1].append(3)
a = d[1]
""",
    "the lists of a dict, as a list": """
d = {}
d[1] = [4]
d[1].append(3)
a = list(d.values())
""",
    "a loop that groups, read whole": """
d = {}
for k in [1,2,1]:
    if k in d:
        d[k].append(3)
    else:
        d[k] = [4]
a = d
""",
    "a function that groups and returns early": """
def f():
    d = {}
    for k in [1,2,1]:
        if k in d:
            d[k].append(3)
        else:
            d[k] = [4]
    for v in d.values():
        if len(v) > 1:
            return False
    return True
a = f()
""",
    "groups of what a linked list has": """
class L:
    val = 1
    next_node = None
def f(head):
    d: dict[int, list[int]] = {}
    pos = 0
    while head:
        if head.val in d:
            d[head.val].append(pos)
        else:
            d[head.val] = [pos]
        head = head.next_node
        pos += 1
    middle = 0
    for v in d.values():
        if len(v) % 2 != 0:
            middle += 1
    return middle
a = f(L())
""",
    "a part that is replaced behind its change": """
d = {}
for k in [1,2,1]:
    if k in d:
        d[k].append(3)
    d[k] = [4]
a = d
""",
    "a part that is always replaced": """
d = {1: [0], 2: [0]}
for k in [1,2,1]:
    d[k].append(3)
    d[k] = [4]
a = d
""",
    "a name for a part that is replaced": """
d = {1: [0], 2: [0]}
for k in [1,2,1]:
    x = d[k]
    x.append(3)
    d[k] = [4]
a = d
""",
    "a part of a list that grows": """
d = [[0]]
for k in [1,2,1]:
    d[0].append(3)
    d.append([4])
a = d
""",
    "a variable that is None first": """
d = None
for k in [1,2,1]:
    if d:
        d.append(3)
    else:
        d = [4]
a = d
""",
    "an attribute that is None first": """
class C: pass
d = C()
d.x = None
for k in [1,2,1]:
    if d.x:
        d.x.append(3)
    else:
        d.x = [4]
a = d
""",
    "a counter in a dict": """
d = {}
for k in [1,2,1]:
    if k in d:
        d[k] += 1
    else:
        d[k] = 1
a = d
""",
    "dicts in a dict": """
d = {}
for k in [1,2,1]:
    if k in d:
        d[k]["a"] = 1
    else:
        d[k] = {}
a = d
""",
    "a list that a variable has from the second iteration on": """
w = [4]
y = [0]
a = 0
for k in [1,2,1]:
    a += len(w)
    y.append(3)
    y = w
""",
    "that list, read behind the loop": """
w = [4]
y = [0]
for k in [1,2,1]:
    y.append(3)
    y = w
a = w
""",
    "a list that a dict has from the second iteration on": """
w = [4]
d = {1: [0]}
for k in [1,2,1]:
    d[1].append(3)
    d[1] = w
a = w
""",
    "parts of several classes": """
class A:
    def append(self, x):
        global a
        a = x
a = 0
d = {1: [0]}
for k in [1,2,1]:
    d[1].append(3)
    d[1] = A()
""",
    "a dict that is written whole, with a part that changes later": """
d = {}
a = []
for k in "ab":
    a.append(str(d))
    x = [4]
    d[k] = x
    x.append(3)
""",
    "a part that has a default": """
d = {}
a = []
for k in "ab":
    a.append(len(d.get("a", [])))
    x = [4]
    d[k] = x
    x.append(3)
""",
    "a list that a dict has later, read by its own name": """
w = [4]
d = {1: [0]}
a = 0
for k in [1,2,1]:
    a += len(w)
    d[1].append(3)
    d[1] = w
""",
    "loops in loops that find what the last have put there": """
d = {}
a = 0
for k in [1,2,1]:
    for j in [1, 2]:
        a += len(d.get(1, []))
        x = [4]
        d[1] = x
        x.append(5)
""",
    "a counter with a default": """
d = {}
for k in "abca":
    d[k] = d.get(k, 0) + 1
a = d
""",
    "lists by setdefault": """
d = {}
for k in "abca":
    d.setdefault(k, []).append(k)
a = d
""",
    "lists by a defaultdict": """
from collections import defaultdict
d = defaultdict(list)
for k in "abca":
    d[k].append(k)
a = d
""",
    "neighbours of nodes": """
graph = {}
for x, y in [(1,2),(2,3)]:
    if x not in graph:
        graph[x] = []
    graph[x].append(y)
a = graph
""",
    "neighbours on both sides": """
graph = {}
for x, y in [(1,2),(2,3)]:
    if x not in graph:
        graph[x] = set()
    graph[x].add(y)
    if y not in graph:
        graph[y] = set()
    graph[y].add(x)
a = graph
""",
    "a stack": """
stack = []
out = []
for c in "(())":
    if stack and stack[-1] == "(":
        stack.pop()
    else:
        stack.append(c)
a = len(stack)
""",
    "a linked list": """
class Node:
    def __init__(self, v):
        self.v = v
        self.next = None
head = None
tail = None
for v in [1,2,3]:
    n = Node(v)
    if tail is None:
        head = n
    else:
        tail.next = n
    tail = n
a = []
while head:
    a.append(head.v)
    head = head.next
""",
    "the last of the rows so far": """
rows = []
for v in [1,2,3]:
    if rows:
        rows[-1].append(v)
    rows.append([v])
a = rows
""",
    "a trie": """
trie = {}
for w in ["ab", "ac"]:
    node = trie
    for c in w:
        if c not in node:
            node[c] = {}
        node = node[c]
    node["end"] = True
a = trie
""",
    "a memo": """
memo = {}
def fib(n):
    if n in memo:
        return memo[n]
    r = 1
    memo[n] = r
    return r
a = [fib(i) for i in range(3)]
""",
}
"""Loops in which objects have other parts in the second iteration than in the first."""
