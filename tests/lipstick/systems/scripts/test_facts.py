"""The catalogue held against the libraries' own signatures, as far as they are installed."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import pytest

from lipstick.systems.scripts import text_provenance
from lipstick.systems.scripts.commands import ask_for_facts, missing_facts
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.facts import Fact, Parameter, catalogue
from tests.lipstick.workflow.test_bounded_yaml import HOSTILE_FILES

OPTIONAL = (
    "sklearn", "xarray", "joblib", "cv2", "imageio", "geopandas", "rasterio", "scipy", "skimage",
    "PIL", "toml",
)  # fmt: skip
"""Libraries that the lock does not have; where they are installed their facts are checked, too."""

_ESTIMATORS = ("cluster.KMeans", "linear_model.LogisticRegression", "linear_model.SGDClassifier",
               "preprocessing.StandardScaler")  # fmt: skip
"""Of scikit-learn; its base class does not have the methods that most of its classes have."""

_BUILTIN = ("raw_input",)
"""What Python no longer has, and old scripts call."""


def found(name: str) -> Any:
    """The object of a full name."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            held = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            held = getattr(held, part)
        return held
    held = importlib.import_module("builtins")
    for part in parts:
        held = getattr(held, part)
    return held


def of_estimators(name: str) -> Any:
    """A method of some of the classes of scikit-learn."""
    for each in _ESTIMATORS:
        held = found(f"sklearn.{each}")
        if hasattr(held, name):
            return getattr(held, name)
    raise AttributeError(name)


def facts_of(library: str) -> list[Fact]:
    return [fact for name, fact in catalogue().facts.items() if name.split(".")[0] == library]


LIBRARIES = sorted({name.split(".")[0] for name in catalogue().facts} - set(_BUILTIN))


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_call_of_an_installed_library_is_there(library: str) -> None:
    if library in OPTIONAL:
        pytest.importorskip(library)
    for fact in facts_of(library):
        of_any = fact.name.startswith("sklearn.base.BaseEstimator.")
        held = of_estimators(fact.name.split(".")[-1]) if of_any else found(fact.name)
        assert callable(held) or isinstance(held, property), fact.name
        files = (fact.reads, fact.writes, fact.opens, fact.mode, fact.looks, fact.touches)
        for parameter in (*files, *fact.mutates, fact.out, fact.copy):
            if isinstance(parameter, Parameter) and parameter.position is not None:
                check_parameter(fact, held, parameter)


_IMPORTED = ("typing", "collections.abc")
"""Modules of names that a module of functions imports."""

LEFT_OUT = {
    "DataFrame": {"backfill", "bool", "first", "last", "pad", "swapaxes", "to_clipboard", "to_gbq"},
    "Series": {"backfill", "bool", "first", "last", "pad", "swapaxes", "to_clipboard", "view"},
    "Index": {
        "asof", "asof_locs", "factorize", "format", "get_indexer_for", "get_indexer_non_unique",
        "get_slice_bound", "groupby", "holds_integer", "infer_objects", "is_", "is_boolean",
        "is_categorical", "is_floating", "is_integer", "is_interval", "is_numeric", "is_object",
        "putmask", "ravel", "slice_indexer", "slice_locs", "sort", "sortlevel", "transpose", "view",
    },
    "functions": {"arrow_udf", "arrow_udtf", "udtf"},
}  # fmt: skip
"""By class what the catalogue says nothing of: what pandas 3 no longer has, what writes where the
text does not say, and what scripts do not call."""


@pytest.mark.parametrize(
    "owner",
    [
        *("pandas.DataFrame", "pandas.Series", "pandas.Index", "pandas.Timestamp"),
        *("pandas.Series.str", "pandas.Series.dt", "pandas.Series.cat"),
        *("pandas.api.typing.DataFrameGroupBy", "pandas.api.typing.Rolling"),
        *("pyspark.sql.Column", "pyspark.sql.DataFrameReader", "pyspark.sql.functions"),
    ],
)
def test_no_public_call_of_what_scripts_use_most_is_unknown(owner: str) -> None:
    held = found(owner)
    library, last = owner.split(".", maxsplit=1)[0], owner.rsplit(".", maxsplit=1)[-1]
    public = {
        name
        for name in dir(held)
        if not name.startswith("_")
        and callable(getattr(held, name))
        and not inspect.isclass(getattr(held, name))
        and (getattr(getattr(held, name), "__module__", None) or library) not in _IMPORTED
    }
    known = {name for name in public if f"{owner}.{name}" in catalogue().facts}
    assert known
    assert public - known == LEFT_OUT.get(last, set()) & public


def check_parameter(fact: Fact, held: Any, parameter: Parameter) -> None:
    """A parameter has the name and the position that the fact gives it."""
    if parameter.name is None:
        return
    try:
        signature = inspect.signature(held)
    except ValueError:
        return
    names = list(signature.parameters)
    names = names[1:] if names and names[0] == "self" else names
    kinds = {each.kind for each in signature.parameters.values()}
    if parameter.name not in names and inspect.Parameter.VAR_KEYWORD in kinds:
        return
    assert names[parameter.position] == parameter.name, f"{fact.name}{signature}"


def test_kinds_that_facts_return_are_known() -> None:
    known = {"", "none", "number", "text", "bytes", "range", "iterator", *catalogue().classes}
    assert {fact.returns for fact in catalogue().facts.values()} <= known | {"plotter"}


def test_facts_of_a_user_go_before(tmp_path: Path) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text("calls:\n  soils.mix: {reads: path@0, returns: frame, ratio: 'n:1'}\n")
    provenance = text_provenance("import soils\na = soils.mix('s.map')\n", facts=[file])
    assert provenance.inputs == ("s.map",)
    assert provenance.opaque == ()
    [node] = provenance.nodes("a")
    assert (node.label[:2], node.ratio) == ("SP", "n:1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("calls: {f: {reeds: 1}}", "'reeds' is not a field of a fact"),
        ("calls: {f: {reads: path}}", "'path' is not a parameter"),
        ("calls: {f: {shares: 3}}", "shares is true or false"),
        ("calls: {f: {window: wide}}", "a window is a number of tuples"),
        ("calls: [f]", "is not a list of facts"),
        ("calls: {", "cannot be read as facts"),
    ],
)
def test_wrong_facts_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text(text)
    with pytest.raises(ScriptError) as caught:
        text_provenance("a = 1\n", facts=[file])
    assert message in str(caught.value)


def test_what_is_missing_is_asked_once(tmp_path: Path) -> None:
    text = "import soils\na = soils.load('m')\nsoils.save(a, 'n')\n"
    file = tmp_path / "facts.yaml"
    answers = {"soils.load": ["path@0", "", "n:n"], "soils.save": ["", "path@1", ""]}
    questions: list[str] = []

    def ask(question: str) -> str:
        name = question.partition(":")[0]
        questions.append(name)
        return answers[name].pop(0)

    missing = missing_facts(text_provenance(text))
    assert missing == ("soils.load", "soils.save")
    assert ask_for_facts(missing, ask, file) == 2
    assert ask_for_facts(missing, ask, file) == 2
    assert len(questions) == 6
    told = text_provenance(text, facts=[file])
    assert (told.inputs, told.outputs, missing_facts(told)) == (("m",), ("n",), ())


@pytest.mark.parametrize("text", HOSTILE_FILES.values(), ids=HOSTILE_FILES)
def test_hostile_files_of_facts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "given.yaml"
    path.write_text(text)
    with pytest.raises(ScriptError, match=r"given\.yaml"):
        catalogue([path])
