"""Small programs in which Python calls a special method of a class, however it is used.

Each is a class with the methods, an operation on an object of it, and what stands around that.
"""

from __future__ import annotations

from collections.abc import Iterator

_START = """
import itertools, collections, functools, heapq, statistics, bisect, operator, math, json, io as _io
e = []
s = set()
def f(*a):
    return a
def f3(g):
    return g(3)
def ap(g, x):
    return g(x)
def g(x):
    yield from x
def h(x):
    for y in x:
        yield y
def a2(x):
    a, b = x
    return a, b
def b2(x):
    a, *b = x
    return b
def c2(x):
    [(a, b)] = [x]
    return a + b
def x2(x):
    r = 0
    for y in x:
        r += y
    return r
def w(x):
    while x:
        return 1
    return 2
def as_(x):
    try:
        assert x
        return 1
    except AssertionError:
        return 2
def io(x):
    b = _io.StringIO()
    print(x, file=b)
    return b.getvalue()
def so(l):
    l.sort()
    return l[0].n
def hp(l):
    r = []
    for x in l:
        heapq.heappush(r, x)
    return heapq.heappop(r).n
def re(l, x):
    try:
        l.remove(x)
    except ValueError:
        return -1
    return len(l)
def mt(a, b):
    match [a]:
        case [x] if x == b:
            return 1
    return 2
@functools.lru_cache
def cached(x):
    return x.n
def mem(x):
    cached(Q(5))
    return cached(x)
def au(x):
    x += 1
    return x
def iadd_(x):
    l = [x]
    l[0] += 1
    return x.n
def wi(x):
    with x as y:
        return y
def wx(x):
    with x:
        pass
    return x.n
def kw(a, b):
    return a, b
def m2(x):
    d = {}
    d.update(x)
    return d
def de(x):
    del x[5]
    return x.n
def se(x):
    x[1] = 5
    return x.n
def xs(x):
    x[1] += 5
    return x.n
class Q:
    def __init__(self, n):
        self.n = n
        self.seen = 0
"""

_ITERATION = [
    "tuple(q)",
    "list(q)",
    "set(q)",
    "[x for x in q]",
    "{x: 1 for x in q}",
    "sum(q)",
    "max(q)",
    "min(q)",
    "sorted(q)",
    "next(iter(q))",
    "dict(zip(q, q))",
    "list(enumerate(q))",
    "[*q]",
    "(*q,)",
    "{*q}",
    "f(*q)",
    "','.join(map(str, q))",
    "7 in q",
    "any(q)",
    "all(q)",
    "list(map(lambda x: x + 1, q))",
    "list(filter(None, q))",
    "frozenset(q)",
    "[].extend(q)",
    "e.extend(q) or e",
    "s.update(q) or s",
    "s.union(q)",
    "s | set(q)",
    "dict.fromkeys(q)",
    "list(g(q))",
    "list(h(q))",
    "len(list(q))",
    "list(itertools.chain(q, q))",
    "list(itertools.islice(q, 1))",
    "collections.Counter(q)",
    "collections.deque(q)",
    "functools.reduce(lambda a, b: a + b, q)",
    "bytes(q)",
    "max(*q)",
    "list(itertools.chain.from_iterable([q]))",
    "heapq.nlargest(1, q)",
    "statistics.mean(q)",
    "print(*q)",
    "str(list(q))",
    "'{} {}'.format(*q)",
    "'%s %s' % tuple(q)",
    "a2(q)",
    "b2(q)",
    "c2(q)",
    "[x for y in [q] for x in y]",
    "list(reversed(list(q)))",
    "x2(q)",
]

METHODS: dict[str, tuple[str, list[str]]] = {
    "__iter__ that yields": (
        """
    def __iter__(self):
        yield 7
        yield self.n + 1
""",
        _ITERATION,
    ),
    "__iter__ and __next__": (
        """
    def __iter__(self):
        self.seen = 0
        return self
    def __next__(self):
        self.seen += 1
        if self.seen > 2:
            raise StopIteration
        return self.n + self.seen
""",
        _ITERATION,
    ),
    "__getitem__": (
        """
    def __getitem__(self, i):
        if i > 1:
            raise IndexError
        return self.n + i
""",
        [*_ITERATION, "q[0]", "q[1] + q[0]"],
    ),
    "__len__": (
        """
    def __len__(self):
        return self.n + 1
""",
        [
            "len(q)",
            "bool(q)",
            "1 if q else 2",
            "not q",
            "q and 3",
            "q or 3",
            "len(q) + 1",
            "[len(x) for x in [q]]",
            "list(map(len, [q]))",
            "any([q])",
            "all([q])",
            "list(filter(None, [q]))",
            "w(q)",
            "bool([x for x in [q] if x])",
        ],
    ),
    "__bool__": (
        """
    def __bool__(self):
        return self.n > 100
""",
        [
            "bool(q)",
            "1 if q else 2",
            "not q",
            "q is None or not q",
            "any([q])",
            "all([q])",
            "len(list(filter(None, [q])))",
            "len([x for x in [q] if x])",
            "w(q)",
            "as_(q)",
            "min([0], key=lambda x: not q)",
        ],
    ),
    "__str__": (
        """
    def __str__(self):
        return 'q' + str(self.n)
""",
        [
            "str(q)",
            "f'{q}'",
            "'%s' % q",
            "'{}'.format(q)",
            "print(q)",
            "'-'.join(map(str, [q]))",
            "list(map(str, [q]))",
            "' '.join([str(x) for x in [q]])",
            "format(q)",
            "f'{q!s}'",
            "'{0} {a}'.format(1, a=q)",
            "'a' + str(q)",
            "io(q)",
            "len(str(q))",
            "'%(a)s' % {'a': q}",
        ],
    ),
    "__repr__": (
        """
    def __repr__(self):
        return 'q' + str(self.n)
""",
        [
            "str(q)",
            "f'{q}'",
            "'%s' % q",
            "'{}'.format(q)",
            "print(q)",
            "'-'.join(map(str, [q]))",
            "list(map(str, [q]))",
            "' '.join([str(x) for x in [q]])",
            "format(q)",
            "f'{q!s}'",
            "'{0} {a}'.format(1, a=q)",
            "'a' + str(q)",
            "io(q)",
            "len(str(q))",
            "'%(a)s' % {'a': q}",
            "repr(q)",
            "str([q])",
            "f'{[q]}'",
            "print([q])",
            "f'{q!r}'",
            "'%r' % q",
            "str({'a': q})",
            "repr((q,))",
            "json.dumps(str(q))",
        ],
    ),
    "__format__": (
        """
    def __format__(self, spec):
        return 'q' + str(self.n)
""",
        [
            "f'{q}'",
            "format(q, 'x')",
            "'{}'.format(q)",
            "f'{q:>5}'",
            "'{:>3}'.format(q)",
        ],
    ),
    "__lt__": (
        """
    def __lt__(self, other):
        return self.n > other.n
""",
        [
            "q < p",
            "p > q",
            "max(q, p).n",
            "min([q, p]).n",
            "sorted([q, p])[0].n",
            "sorted([p, q], reverse=True)[0].n",
            "[q, p].sort() or 1",
            "so([q, p])",
            "max([q, p]).n",
            "heapq.nsmallest(1, [q, p])[0].n",
            "hp([q, p])",
            "bisect.bisect_left([q], p)",
            "q < p and 3",
            "(q, 1) < (p, 2)",
            "[q] < [p]",
            "sorted({1: q, 2: p}.items(), key=lambda t: t[1])[0][0]",
            "functools.reduce(lambda a, b: a if a < b else b, [q, p]).n",
        ],
    ),
    "__eq__": (
        """
    def __eq__(self, other):
        return isinstance(other, Q) and self.n % 2 == other.n % 2
    def __hash__(self):
        return self.n % 2
""",
        [
            "q == p",
            "q != p",
            "q in [p]",
            "[p].index(q) if q in [p] else 0",
            "[p].count(q)",
            "len({q, p})",
            "len({q: 1, p: 2})",
            "{p: 5}.get(q)",
            "{p: 5}[q] if q in {p: 5} else 0",
            "q in {p}",
            "set([p]) == {q}",
            "[q] == [p]",
            "(q,) == (p,)",
            "{'a': q} == {'a': p}",
            "len(set([q, p]))",
            "dict([(q, 1), (p, 2)]) and len(dict([(q, 1), (p, 2)]))",
            "len(frozenset([q, p]))",
            "hash(q)",
            "collections.Counter([q, p])[p]",
            "re([q], p)",
            "len({q} | {p})",
            "len({q} - {p})",
            "mt(q, p)",
            "mem(q)",
            "isinstance(q, Q) and q == p",
        ],
    ),
    "__contains__": (
        """
    def __contains__(self, x):
        return x == self.n
""",
        [
            "3 in q",
            "q.__contains__(3)",
            "[x for x in [3, 4] if x in q]",
            "list(filter(lambda x: x in q, [3, 4]))",
            "3 not in q",
        ],
    ),
    "__call__": (
        """
    def __call__(self, x):
        return x + self.n
""",
        [
            "q(1)",
            "list(map(q, [1, 2]))",
            "sorted([3, 1], key=q)",
            "[q(x) for x in [1]]",
            "max([1, 2], key=q)",
            "f3(q)",
            "functools.partial(q, 1)()",
            "functools.reduce(lambda a, b: a + q(b), [1, 2])",
            "{1: q}[1](2)",
            "list(filter(q, [1]))",
            "(lambda g: g(2))(q)",
            "ap(q, 3)",
            "collections.defaultdict(lambda: q(1))['a']",
            "list(itertools.starmap(q, [(1,), (2,)]))",
        ],
    ),
    "__add__": (
        """
    def __add__(self, o):
        return Q(self.n + 5)
    def __radd__(self, o):
        return Q(self.n + 7)
""",
        [
            "(q + 1).n",
            "(1 + q).n",
            "sum([q, q], 0).n",
            "functools.reduce(lambda a, b: a + b, [q, q]).n",
            "au(q).n",
            "operator.add(q, 1).n",
            "sum([q]).n",
            "(q + p).n",
        ],
    ),
    "__iadd__": (
        """
    def __iadd__(self, o):
        self.n += 11
        return self
""",
        [
            "au(q).n",
            "iadd_(q)",
        ],
    ),
    "__int__": (
        """
    def __int__(self):
        return self.n
    def __index__(self):
        return self.n
    def __float__(self):
        return float(self.n)
""",
        [
            "int(q)",
            "float(q)",
            "[1, 2, 3, 4, 5][q]",
            "'x' * q",
            "range(q)[0]",
            "list(range(q))",
            "hex(q)",
            "bin(q)",
            "round(float(q))",
            "math.sqrt(q)",
            "'%d' % q",
            "[0] * q",
            "operator.index(q)",
            "chr(q)",
            "'abcdef'[q]",
            "'abcdef'[:q]",
            "max(int(q), 1)",
            "complex(q)",
            "str(int(q))",
        ],
    ),
    "__neg__": (
        """
    def __neg__(self):
        return self.n - 9
    def __abs__(self):
        return self.n * 3
    def __invert__(self):
        return self.n
    def __round__(self, d=0):
        return self.n + d
""",
        [
            "-q",
            "abs(q)",
            "~q",
            "round(q)",
            "round(q, 2)",
            "[abs(x) for x in [q]]",
            "list(map(abs, [q]))",
            "max([1], key=lambda x: -q)",
        ],
    ),
    "__enter__": (
        """
    def __enter__(self):
        return self.n
    def __exit__(self, *a):
        self.n += 1
""",
        [
            "wi(q)",
            "wx(q)",
        ],
    ),
    "__reversed__": (
        """
    def __reversed__(self):
        return iter([self.n])
    def __len__(self):
        return 0
""",
        [
            "list(reversed(q))",
            "[x for x in reversed(q)]",
            "next(reversed(q))",
            "tuple(reversed(q))",
        ],
    ),
    "keys and __getitem__": (
        """
    def keys(self):
        return ['a', 'b']
    def __getitem__(self, k):
        return self.n
""",
        [
            "dict(q)",
            "{**q}",
            "kw(**q)",
            "dict(**q)",
            "list({**q, 'c': 1})",
            "m2(q)",
        ],
    ),
    "__mul__": (
        """
    def __mul__(self, o):
        return self.n * 10
    __rmul__ = __mul__
""",
        [
            "q * 2",
            "2 * q",
            "functools.reduce(lambda a, b: a * b, [2, q])",
            "math.prod([q, 2]) if 0 else q * 2",
        ],
    ),
    "__mod__": (
        """
    def __mod__(self, o):
        return self.n * 10
    def __rmod__(self, o):
        return self.n * 20
""",
        [
            "q % 2",
            "2 % q",
        ],
    ),
    "__divmod__": (
        """
    def __divmod__(self, o):
        return self.n, o
    def __pow__(self, o):
        return self.n
""",
        [
            "divmod(q, 2)",
            "q ** 2",
            "pow(q, 2)",
        ],
    ),
    "__delitem__ and __setitem__": (
        """
    def __delitem__(self, k):
        self.n += k
    def __setitem__(self, k, v):
        self.n += v
    def __getitem__(self, k):
        return self.n
""",
        [
            "de(q)",
            "se(q)",
            "q[4]",
            "xs(q)",
        ],
    ),
}
"""By the methods that a class has their text, and operations that call them."""

AROUND = {
    "nothing": "z = {}\n",
    "a function": "def wrapped(q, p):\n    return {}\nz = wrapped(q, p)\n",
    "a special method": """
class W:
    def __init__(self, q, p):
        self.q = q
        self.p = p
    def __len__(self):
        q = self.q
        p = self.p
        r.append({})
        return 1
r = []
len(W(q, p))
z = r
""",
    "a function that is given away": "z = list(map(lambda q: {}, [q]))\n",
    "a loop": "z = []\nfor q in [q, q]:\n    z.append({})\n",
}
"""What may stand around an operation, by its name."""


def programs(methods: str, around: str) -> Iterator[tuple[str, str]]:
    """Yield operations on an object with some methods, each with a program that computes ``z``."""
    text, operations = METHODS[methods]
    for operation in operations:
        made = "q = Q(3)\np = Q(5)\n" + AROUND[around].replace("{}", operation)
        yield operation, _START + text.removeprefix("\n") + made
