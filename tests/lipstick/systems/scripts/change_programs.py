"""Small programs that change an object by another name of it, in all ways that Python has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_START = """
import collections, heapq, bisect, operator, functools, itertools, copy, io
import csv, json, array, random, contextlib, dataclasses, types, queue
def gen():
    yield 1
    yield 2
    yield 3
def queue_get(x):
    q = queue.Queue()
    q.put(x[0])
    return q.get()
class Obj:
    def __init__(self):
        self.a = 1
        self.l = [0]
    def inc(self):
        self.a += 1
        return self
    @property
    def prop(self):
        return self.a
    @prop.setter
    def prop(self, v):
        self.a = v
    def kid(self):
        return self.l
    def __enter__(self):
        self.a += 10
        return self
    def __exit__(self, *e):
        self.a += 100
    def __call__(self):
        self.a += 1000
@dataclasses.dataclass
class DC:
    a: int = 1
    l: list = dataclasses.field(default_factory=list)
NT = collections.namedtuple('NT', 'p q')
"""

OBJECTS: dict[str, tuple[str, list[str]]] = {
    "[3, 1, 2]": (
        "o",
        [
            "x.append(1)",
            "x += [1]",
            "x[0] = 9",
            "x[:] = [7]",
            "del x[0]",
            "x.insert(0, 5)",
            "x.extend((1, 2))",
            "x.sort()",
            "x.reverse()",
            "x.clear()",
            "x.pop()",
            "x.remove(1)",
            "x *= 2",
            "heapq.heappush(x, 0)",
            "heapq.heapify(x)",
            "bisect.insort(x, 4)",
            "operator.setitem(x, 0, 8)",
            "list.append(x, 1)",
            "x.__setitem__(0, 4)",
            "x[0], x[1] = x[1], x[0]",
            "x[0] += 5",
            "for x[0] in [5]: pass",
            "[x.append(i) for i in [1, 2]]",
            "list(map(x.append, [1]))",
            "random.Random(1).shuffle(x)",
            "x[1:1] = [4]",
            "operator.iadd(x, [4])",
            "x.__iadd__([6])",
            "next(x.append(i) for i in [1])",
            "(lambda: x.append(3))()",
            "functools.partial(x.append, 4)()",
            "heapq.heapreplace(x, 7)",
            "x and x.append(2)",
            "x.append(2) if x else None",
            "getattr(x, 'append')(3)",
            "x.append(y := 3)",
            "operator.methodcaller('append', 3)(x)",
            "operator.delitem(x, 0)",
            "collections.deque(map(x.append, [3]))",
            "list(itertools.starmap(x.append, [(3,)]))",
            "sum(1 for i in [1] if x.append(i) is None)",
            "sorted([1, 2], key=lambda i: x.append(i) or i)",
            "max([1, 2], key=lambda i: x.append(i) or i)",
            "functools.reduce(lambda a, b: x.append(b) or a, [1, 2])",
            "any(x.append(i) for i in [1])",
            "{i: x.append(i) for i in [1]}",
            "[*map(x.append, [5])]",
            "list(filter(x.append, [5]))",
            "a, *x[0:1] = [1, 2]",
            "copy.copy(x).append(3) or x.append(4)",
        ],
    ),
    "{'a': [1], 'b': [2]}": (
        "o",
        [
            "x['c'] = [3]",
            "x.update(c=[1])",
            "x.update({'a': [5]})",
            "x.setdefault('z', [1])",
            "x.pop('a')",
            "del x['a']",
            "x |= {'q': [1]}",
            "x.popitem()",
            "x.clear()",
            "x['a'].append(4)",
            "x.get('a').append(5)",
            "x.setdefault('a', []).append(1)",
            "for v in x.values(): v.append(1)",
            "for k, v in x.items(): v.append(k)",
            "x['a'] += [3]",
            "operator.setitem(x, 'a', [1])",
            "list(x.values())[0].append(3)",
            "next(iter(x.values())).append(2)",
            "[v.append(1) for v in x.values()]",
            "dict(x)['a'].append(6)",
            "x.copy()['a'].append(6)",
            "{**x}['a'].append(7)",
            "(x | {})['a'].append(7)",
            "copy.copy(x)['b'].append(1)",
            "x['a'][0] = 8",
            "sorted(x.items())[0][1].append(3)",
            "max(x.values()).append(3)",
            "dict(zip(x.keys(), x.values()))['a'].append(1)",
            "collections.ChainMap(x)['a'].append(1)",
            "collections.ChainMap(x)['n'] = [1]",
            "types.MappingProxyType(x)['a'].append(2)",
            "list(map(lambda v: v.append(1), x.values()))",
            "operator.itemgetter('a')(x).append(5)",
            "[w for v in [x['a']] for w in [v]][0].append(4)",
            "x.__getitem__('a').append(1)",
            "min(x.items())[1].append(2)",
            "itertools.chain(*[[x['a']]]).__next__().append(3)",
            "list(reversed(list(x.values())))[0].append(3)",
            "list(itertools.chain(x.values()))[0].append(2)",
            "x.fromkeys(['k'], x['a'])['k'].append(9)",
            "functools.reduce(lambda a, b: a, x.values()).append(3)",
            "list(filter(None, x.values()))[0].append(3)",
            "(x['a'] or x['b']).append(1)",
            "(x['a'] if x else 0).append(1)",
            "list(enumerate(x.values()))[0][1].append(8)",
            "collections.OrderedDict(x)['a'].append(3)",
            "collections.defaultdict(list, x)['a'].append(3)",
        ],
    ),
    "{1, 2}": (
        "sorted(o)",
        [
            "x.add(3)",
            "x.discard(1)",
            "x |= {7}",
            "x -= {1}",
            "x &= {1}",
            "x ^= {1, 5}",
            "x.update([8])",
            "x.pop()",
            "x.clear()",
            "x.remove(2)",
            "x.difference_update([1])",
            "x.intersection_update([1])",
            "x.symmetric_difference_update([1])",
        ],
    ),
    "collections.deque([1, 2])": (
        "list(o)",
        [
            "x.append(3)",
            "x.appendleft(0)",
            "x.pop()",
            "x.popleft()",
            "x.rotate(1)",
            "x.extendleft([5])",
            "x.extend([5])",
            "x.insert(0, 4)",
            "x[0] = 9",
            "del x[0]",
            "x.clear()",
            "x.reverse()",
            "x += [1]",
            "x.remove(1)",
        ],
    ),
    "collections.Counter('aab')": (
        "o",
        [
            "x.update('b')",
            "x['a'] += 1",
            "x.subtract('a')",
            "x['z'] = 5",
            "x += collections.Counter('q')",
            "del x['a']",
            "x.clear()",
        ],
    ),
    "collections.defaultdict(list)": (
        "dict(o)",
        [
            "x['a'].append(1)",
            "x['b']",
            "x['a'] = [1]",
            "x['a'] += [2]",
            "x.update(a=[1])",
        ],
    ),
    "collections.OrderedDict(a=1, b=2)": (
        "o",
        [
            "x.move_to_end('a')",
            "x['c'] = 1",
            "x.popitem(last=False)",
        ],
    ),
    "array.array('i', [1, 2])": (
        "list(o)",
        [
            "x.append(3)",
            "x[0] = 5",
            "x.extend([1])",
            "x.pop()",
            "x.reverse()",
            "x.insert(0, 3)",
            "x.byteswap()",
        ],
    ),
    "bytearray(b'ab')": (
        "o",
        [
            "x.append(65)",
            "x[0] = 70",
            "x.extend(b'z')",
            "x += b'q'",
            "del x[0]",
            "memoryview(x)[0:1] = b'Z'",
            "memoryview(x)[0] = 90",
        ],
    ),
    "io.StringIO('ab')": (
        "(o.getvalue(), o.tell())",
        [
            "x.write('q')",
            "print('q', file=x)",
            "x.read(1)",
            "x.seek(1)",
            "x.truncate(1)",
            "csv.writer(x).writerow([1, 2])",
            "json.dump([1], x)",
            "x.writelines(['a', 'b'])",
            "x.readline()",
            "contextlib.redirect_stdout(x).__enter__(); print('h'); contextlib.redirect_stdout(x)",
            "next(x)",
            "list(x)",
            "for line in x: pass",
        ],
    ),
    "iter([1, 2, 3, 4])": (
        "list(o)",
        [
            "next(x)",
            "list(x)",
            "for i in x: break",
            "2 in x",
            "sum(x)",
            "next(x, None)",
            "list(zip([1], x))",
            "a, *b = x",
            "list(itertools.islice(x, 2))",
            "[i for i in x]",
            "max(x)",
            "next(map(str, x))",
            "next(enumerate(x))",
            "sorted(x)",
            "any(x)",
            "x.__next__()",
            "next(itertools.chain(x))",
            "dict.fromkeys(x)",
            "print(*x)",
            "list(itertools.takewhile(lambda i: i < 2, x))",
            "','.join(map(str, x))",
            "set(x)",
            "[*x]",
            "next(filter(None, x))",
            "next(i for i in x)",
            "next(zip(x))",
            "list(map(lambda i: i, x))",
            "itertools.tee(x)[0].__next__()",
            "collections.deque(x, maxlen=0)",
            "[].extend(x)",
            "next(iter(x))",
            "next(reversed(list(x)))",
        ],
    ),
    "Obj()": (
        "sorted(vars(o).items(), key=str)",
        [
            "x.a = 5",
            "x.b = [1]",
            "x.l.append(1)",
            "x.l += [2]",
            "setattr(x, 'a', 9)",
            "x.__dict__['a'] = 4",
            "vars(x)['a'] = 3",
            "x.__dict__.update(a=7)",
            "del x.a",
            "x.inc()",
            "x.prop = 4",
            "x.l[0] = 7",
            "getattr(x, 'l').append(3)",
            "x.inc().inc()",
            "operator.attrgetter('l')(x).append(2)",
            "x.a += 2",
            "x.a, x.b = 5, 6",
            "for x.a in [8]: pass",
            "Obj.inc(x)",
            "type(x).inc(x)",
            "x.__class__.inc(x)",
            "f = x.inc; f()",
            "list(map(Obj.inc, [x]))",
            "x.__setattr__('a', 8)",
            "with x: pass",
            "x()",
            "[o.inc() for o in [x]]",
            "copy.copy(x).l.append(5)",
            "x.kid().append(3)",
            "delattr(x, 'a')",
            "(x if x else 0).inc()",
            "x.l.append(x.a)",
        ],
    ),
    "types.SimpleNamespace(a=1, l=[])": (
        "sorted(vars(o).items(), key=str)",
        [
            "x.a = 2",
            "x.l.append(1)",
            "setattr(x, 'a', 3)",
            "x.b = 1",
        ],
    ),
    "DC()": (
        "(o.a, o.l)",
        [
            "x.a = 5",
            "x.l.append(1)",
            "dataclasses.replace(x, a=1).l.append(4)",
            "x.l = [4]",
        ],
    ),
    "gen()": (
        "list(o)",
        [
            "next(x)",
            "x.send(None)",
            "list(x)",
            "for i in x: break",
            "x.close()",
            "next(x, 0)",
            "x.__next__()",
            "sum(x)",
            "2 in x",
            "a, *b = x",
        ],
    ),
    "queue.Queue()": (
        "o.qsize()",
        [
            "x.put(1)",
            "x.put_nowait(3)",
        ],
    ),
    "[[1], [2]]": (
        "o",
        [
            "x[0].append(3)",
            "for r in x: r.append(1)",
            "x[-1][0] = 7",
            "sum(x, []) and x[0].append(2)",
            "[r.append(0) for r in x]",
            "a, b = x; a.append(5)",
            "(a, b) = x; b += [1]",
            "[a, *b] = x; b[0].append(3)",
            "list(x)[0].append(2)",
            "x[:][0].append(2)",
            "sorted(x)[0].append(9)",
            "(x + [])[0].append(2)",
            "list(map(list.copy, x))[0].append(1) or x[1].append(2)",
            "tuple(x)[0].append(3)",
            "list(zip(*[x]))[0][0].append(3)",
            "dict(enumerate(x))[0].append(2)",
            "max(x).append(3)",
            "x[0] is x[1] or x[0].append(1)",
            "next(iter(x)).append(3)",
            "[*x][1].append(3)",
            "copy.copy(x)[0].append(3)",
            "copy.deepcopy(x)[0].append(3) or x[0].append(4)",
            "list(itertools.chain([x[0]], []))[0].append(2)",
            "filter(None, x).__next__().append(3)",
            "list(reversed(x))[0].append(3)",
            "(*x,)[0].append(2)",
            "{0: x[0]}[0].append(4)",
            "min(x, key=len).append(3)",
            "x.pop().append(3)",
            "heapq.nlargest(1, x)[0].append(3)",
            "list(itertools.islice(x, 1))[0].append(3)",
            "random.Random(1).choice(x).append(4)",
            "operator.getitem(x, 0).append(3)",
            "x.copy()[0].append(5)",
            "(x * 1)[0].append(3)",
            "[y for y in x if y][0].append(3)",
            "list(set(map(id, x))) and x[0].append(3)",
            "collections.deque(x)[0].append(3)",
            "functools.reduce(lambda a, b: b, x).append(3)",
            "(lambda *a: a)(*x)[0].append(3)",
            "dict(a=x)['a'][0].append(3)",
            "queue_get(x).append(2)",
            "x[0].__iadd__([5])",
            "map(lambda r: r, x).__next__().append(3)",
            "itertools.cycle(x).__next__().append(3)",
            "list(itertools.repeat(x[0], 1))[0].append(3)",
            "list(itertools.product(x))[0][0].append(3)",
            "list(itertools.groupby(x))[0][0].append(3)",
            "bisect.insort(x[0], 3)",
            "list(itertools.accumulate(x, lambda a, b: a))[0].append(4)",
            "list(itertools.combinations(x, 1))[0][0].append(2)",
            "list(enumerate(x))[0][1].append(4)",
            "NT(x[0], 1).p.append(3)",
            "NT(x[0], 1)[0].append(3)",
            "DC(1, x[0]).l.append(3)",
            "types.SimpleNamespace(l=x[0]).l.append(3)",
            "functools.partial(lambda a: a, x[0])().append(3)",
            "contextlib.nullcontext(x[0]).__enter__().append(3)",
        ],
    ),
}
"""By an object how its state is read, and changes of it by the name ``x``."""

PATHS = {
    "a name": ("x = o\nCHANGE\n"),
    "a parameter": ("def f(x):\n    CHANGE\nf(o)\n"),
    "a keyword": ("def f(*, x=None):\n    CHANGE\nf(**{'x': o})\n"),
    "many arguments": ("def f(*a):\n    x = a[0]\n    CHANGE\nf(*[o])\n"),
    "a list": ("c = [o]\nx = c[0]\nCHANGE\n"),
    "values of a dict": ("c = {'k': o}\nfor x in c.values():\n    CHANGE\n"),
    "an attribute": ("class H:\n    pass\nh = H()\nh.v = o\nx = h.v\nCHANGE\n"),
    "a closure": ("def mk(x):\n    def f():\n        CHANGE\n    return f\nmk(o)()\n"),
    "a global name": ("x = o\ndef f():\n    global x, a, b, y, f2\n    CHANGE\nf()\n"),
    "a result": ("def f():\n    return o\nx = f()\nCHANGE\n"),
    "a generator": ("def f():\n    yield o\nfor x in f():\n    CHANGE\n"),
    "zip": ("for x, _ in zip([o], [1]):\n    CHANGE\n"),
    "if else": ("x = o if o is not None else 0\nCHANGE\n"),
    "or": ("x = None or o\nCHANGE\n"),
    "a method": (
        "class H:\n"
        "    def __init__(self, v):\n"
        "        self.v = v\n"
        "    def go(self):\n"
        "        x = self.v\n"
        "        CHANGE\n"
        "H(o).go()\n"
    ),
    "a default": ("def f(x=o):\n    CHANGE\nf()\n"),
    "try": ("try:\n    x = o\n    CHANGE\nexcept ZeroDivisionError:\n    pass\n"),
    "a loop": ("x = [0]\nfor _ in range(2):\n    x2 = x\n    x = o\nx = x2\nCHANGE\n"),
    "an expression": ("if (x := o) is not None:\n    CHANGE\n"),
    "a tuple": ("x, _ = (o, 1)\nCHANGE\n"),
    "match": ("match [o]:\n    case [x]:\n        CHANGE\n"),
    "with": ("with contextlib.nullcontext(o) as x:\n    CHANGE\n"),
    "a lambda": ("x = (lambda v: v)(o)\nCHANGE\n"),
    "a class": ("class H:\n    v = o\nx = H.v\nCHANGE\n"),
    "containers of containers": ("c = {'k': [(o, 1)]}\nx = c['k'][0][0]\nCHANGE\n"),
    "a recursion": ("def f(x, n):\n    if n:\n        return f(x, n - 1)\n    CHANGE\nf(o, 2)\n"),
    "a decorated function": (
        "def d(f):\n"
        "    def w(*a):\n"
        "        return f(*a)\n"
        "    return w\n"
        "@d\n"
        "def f(x):\n"
        "    CHANGE\n"
        "f(o)\n"
    ),
    "a special method": (
        "class H:\n"
        "    def __len__(self):\n"
        "        x = self.v\n"
        "        CHANGE\n"
        "        return 1\n"
        "h = H()\n"
        "h.v = o\n"
        "len(h)\n"
    ),
    "a key of sorted": ("def f(x):\n    CHANGE\n    return 1\nsorted([o], key=f)\n"),
    "map": ("def f(x):\n    CHANGE\nlist(map(f, [o]))\n"),
    "partial": ("def f(k, x):\n    CHANGE\nfunctools.partial(f, 1)(o)\n"),
}
"""Ways by which an object that is called ``o`` becomes ``x``, with a place for a change."""


def programs(made: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the changes of an object, each with a program that computes its state, ``z``."""
    read, changes = OBJECTS[made]
    for change in changes:
        text = f"{_START}o = {made}\n{PATHS[path].replace('CHANGE', change)}z = {read}\n"
        try:
            ast.parse(text)
        except SyntaxError:
            continue  # a loop of one line stands in no block of one line
        yield change, text
