"""What each construct of Python makes of lines that depend on one another."""

from __future__ import annotations

import pytest

from lipstick.systems.scripts import ScriptError, text_provenance

CASES = {
    "a value that is assigned again": ("a = 1\na = 2\nb = a\n", "b", {2, 3}),
    "augmented assignment": ("a = 1\na += 2\nc = 3\nb = a\n", "b", {1, 2, 4}),
    "a generator that goes over itself": (
        "def f():\n    for x in made:\n        yield x\nmade = f()\na = sum(made)\n",
        "a", {1, 2, 3, 4, 5},
    ),
    "names that are swapped": ("a = 1\nb = 2\na, b = b, a\n", "a", {2, 3}),
    "an alias that is changed": ("a = [1]\nb = a\nb.append(2)\nc = a\n", "c", {1, 2, 3, 4}),
    "a copy that is changed": ("a = [1]\nb = list(a)\nb.append(2)\nc = a\n", "c", {1, 4}),
    "an element of an element": (
        "a = [1]\nb = [a]\nb[0].append(2)\nc = len(a)\n", "c", {1, 2, 3, 4},
    ),
    "an attribute": (
        "class A:\n    pass\na = A()\na.x = 1\nb = a\nb.x = 2\nc = a.x\n",
        "c", {1, 3, 4, 5, 6, 7},
    ),
    "a subscript": ("d = {}\nd['k'] = 1\nk = 'k'\nx = d[k]\n", "x", {1, 2, 3, 4}),
    "a deleted key": ("d = {1: 2}\ndel d[1]\nx = len(d)\n", "x", {1, 2, 3}),
    "both branches": (
        "a = input()\nif a:\n    b = 1\nelse:\n    b = 2\nc = b\n", "c", {1, 2, 3, 5, 6},
    ),
    "a branch without else": ("a = 1\nb = 0\nif a:\n    b = 1\nc = b\n", "c", {1, 2, 3, 4, 5}),
    "a branch that ends the script": (
        "import sys\na = 1\nif a > 2:\n    sys.exit()\nb = a\n", "b", {2, 5},
    ),
    "while": (
        "n = 3\ns = 0\nt = 0\nwhile n > 0:\n    s += n\n    t += 1\n    n -= 1\n",
        "s", {1, 2, 4, 5, 7},
    ),
    "break": (
        "f = None\nfor i in [1, 2]:\n    if i > 1:\n        f = i\n        break\n",
        "f", {1, 2, 3, 4, 5},
    ),
    "nested loops": (
        "t = 0\nu = 0\nfor i in range(3):\n    for j in range(i):\n        t += j\n    u += 1\n",
        "t", {1, 3, 4, 5},
    ),
    "for and else": (
        "r = 0\nfor i in [1]:\n    if i > 1:\n        break\nelse:\n    r = 1\n",
        "r", {1, 2, 3, 4, 6},
    ),
    "a comprehension": ("k = 2\nx = [1]\ny = [k * v for v in x if v]\nz = 1\n", "y", {1, 2, 3}),
    "an assignment in an expression": (
        "a = 3\nif (b := a) > 1:\n    pass\nc = b\n", "c", {1, 2, 4},
    ),
    "a lambda": ("k = 2\nf = lambda x: x * k\nk = 3\ny = f(1)\n", "y", {2, 3, 4}),
    "a default": ("k = 2\ndef f(x=k):\n    return x\nk = 3\ny = f()\n", "y", {1, 2, 3, 5}),
    "a global variable": (
        "n = 0\ndef f():\n    global n\n    n += 1\nf()\nm = n\n", "m", {1, 2, 3, 4, 5, 6},
    ),
    "a method": (
        "class A:\n    def __init__(self, v):\n        self.v = v\n    def get(self):\n"
        "        return self.v\na = A(1)\nb = A(2)\nx = a.get()\n",
        "x", {1, 2, 3, 4, 5, 6, 8},
    ),
    "an inherited method": (
        "class A:\n    def f(self):\n        return 1\nclass B(A):\n    pass\nx = B().f()\n",
        "x", {1, 2, 3, 4, 6},
    ),
    "try": (
        "a = '1'\ntry:\n    b = int(a)\nexcept ValueError:\n    b = 0\nc = b\n",
        "c", {1, 2, 3, 4, 5, 6},
    ),
    "finally": ("b = 0\ntry:\n    a = 1\nfinally:\n    b = 2\nc = b\n", "c", {2, 5, 6}),
    "with": ("with open('f') as g:\n    t = g.read()\nu = 1\n", "t", {1, 2}),
    "match": (
        "a = (1, 2)\nmatch a:\n    case (x, 2):\n        b = x\n    case _:\n        b = 0\n",
        "b", {1, 2, 3, 4, 5, 6},
    ),
    "a file that is written and read": (
        "import pandas as pd\na = pd.DataFrame([1])\na.to_csv('f')\nb = pd.read_csv('f')\n",
        "b", {1, 2, 3, 4},
    ),
    "what is printed under a condition": (
        "a = 1\nb = 2\nif a:\n    print(b)\n", "<stdout>", {1, 2, 3, 4},
    ),
    "random numbers": (
        "import random\nrandom.seed(1)\na = random.random()\nb = random.random()\n",
        "b", {1, 2, 3, 4},
    ),
    "functions that are passed": (
        "k = 2\ndef f(x):\n    return x + k\ny = list(map(f, [1]))\n", "y", {1, 2, 3, 4},
    ),
    "a recursion": (
        "k = 1\ndef f(n):\n    if n < 1:\n        return k\n    return f(n - 1)\ny = f(3)\n",
        "y", {1, 2, 3, 4, 5, 6},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_lines_that_a_construct_depends_on(name: str) -> None:
    text, criterion, lines = CASES[name]
    numbers = {line.number for line in text_provenance(text).depends(criterion).lines}
    assert numbers == lines


@pytest.mark.parametrize(
    "form", ["[{}, k]", "(k, {})", "{{len(k), {}}}", "{{'k': k, **dict(enumerate([{}]))}}"]
)
def test_the_constants_of_a_long_collection_are_one_value(form: str) -> None:
    """What is computed among them, and what the collection holds, is as of a short one."""
    answers = []
    for count in (1, 500):
        constants = ", ".join(f"-{n}, 'a{n}', ({n}, None)" for n in range(count))
        text = f"k = [1]\nx = {form.format(constants)}\nk.append(2)\nz = 1\ny = len(x)\n"
        script = text_provenance(text)
        lines = [line.number for line in script.depends("y").lines]
        answers.append((lines, script.depends("y").certain))
        assert script.initial_size < 60
    assert answers[0] == answers[1]
    assert {1, 2, 5} <= set(answers[0][0]) <= {1, 2, 3, 5}


def test_text_that_is_not_python_is_refused_with_its_place() -> None:
    with pytest.raises(ScriptError, match=r"s\.py:2:5: .*\n  b = \(\n") as caught:
        text_provenance("a = 1\nb = (\n", name="s.py")
    assert "^" in str(caught.value)


def test_what_is_concerned_is_told_forwards() -> None:
    text = "import pandas as pd\na = pd.read_csv('in.csv')\nb = 1\na.to_csv('out.csv')\nc = b\n"
    provenance = text_provenance(text)
    assert provenance.concerns("in.csv").files == ("out.csv",)
    assert provenance.concerns(3).variables == ("b", "c")
    assert provenance.concerns(3).files == ()
    assert (provenance.inputs, provenance.outputs) == (("in.csv",), ("out.csv",))


def test_what_a_script_has_written_is_no_input_of_it() -> None:
    start = "import pandas as pd\na = pd.DataFrame([1])\n"
    written = text_provenance(start + "a.to_csv('f')\nb = pd.read_csv('f')\n")
    assert (written.inputs, written.outputs) == ((), ("f",))
    perhaps = text_provenance(start + "if len(a):\n    a.to_csv('f')\nb = pd.read_csv('f')\n")
    assert perhaps.inputs == ("f",)


def test_unknown_calls_are_marked_and_their_edges_assumed() -> None:
    provenance = text_provenance("import soils\na = [1]\nb = soils.mix(a)\nc = a\nd = 2\n")
    assert [item.why for item in provenance.opaque] == ["nothing is known of soils.mix"]
    answer = provenance.depends("c")
    assert {line.number for line in answer.lines} == {1, 2, 3, 4}
    assert not answer.certain
    assert {item.why for item in answer.assumptions} == {"nothing is known of soils.mix"}
    assert provenance.depends("d").certain


def test_functions_are_modules_that_zoom_out() -> None:
    text = "def f(x):\n    y = x + 1\n    return y * 2\na = 1\nb = f(a)\nc = f(b)\n"
    graph = text_provenance(text).graph()
    assert graph.modules == ("f",)
    out = graph.zoom_out("f")
    assert out.node_count < graph.node_count
    assert not any("/+:" in name for name in out.names(out.ids))
    assert out.zoom_in("f").equals(graph)
    source, target = graph.node("=:a@4"), graph.node("return:c@6")
    assert source in graph.ancestors(target).ids
    assert out.node("=:a@4") in out.ancestors(out.node("return:c@6")).ids
    assert graph.paths(source, target)


def test_graphs_go_out_in_the_formats_of_others(tmp_path) -> None:  # type: ignore[no-untyped-def]
    import networkx

    from graphquery.exchange import to_dot, to_prov, write_graphml

    graph = text_provenance("a = open('f').read()\nb = a + a\nprint(b)\n").graph()
    write_graphml(graph, tmp_path / "g.graphml")
    assert networkx.read_graphml(tmp_path / "g.graphml").number_of_nodes() == graph.node_count
    assert "read" in to_dot(graph)
    assert "print" in to_prov(graph).get_provn()
