"""The Python in the documentation runs, and prints what the documentation says it prints."""

import contextlib
import io
import re
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "PACKAGE.md", *sorted((ROOT / "docs").rglob("*.md"))]
CLASSIC = {"watching.md"}
"""Pages about what sessions of Spark Connect refuse."""
BLOCK = re.compile(
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```$(?:\n+^```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
"""Python, and commands of ours; commands are run where their answer follows them."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(PAGES[0], marks=pytest.mark.quick), *PAGES[1:]],
    ids=lambda page: page.name,
)
def test_documented_code_runs(
    page: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name in CLASSIC and not hasattr(spark, "_jsparkSession"):
        pytest.skip("about classic sessions")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    text = page.read_text()
    monkeypatch.setattr(lipstick, "session", _session_on(spark))
    namespace: dict[str, object] = {"__name__": "documentation"}
    for block in BLOCK.finditer(text):
        printed = io.StringIO()
        if block["language"] == "python":
            # Empty lines before the code give tracebacks the page's own line numbers.
            line = text.count("\n", 0, block.start("code"))
            code = compile("\n" * line + block["code"], str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, namespace)
        elif block["printed"] is not None:
            for command in re.findall(r"^lipstick (.*)$", block["code"], re.MULTILINE):
                printed.write(CliRunner().invoke(main, shlex.split(command)).output)
        if block["printed"] is not None:
            assert printed.getvalue().split() == block["printed"].split()


def _session_on(spark: SparkSession) -> Callable[..., lipstick.Session]:
    """Return `lipstick.session`, on a Spark that runs where it would start one."""
    session = lipstick.session
    return lambda given=None, **options: session(given or spark, **options)


def test_readme_starts_with_the_two_commands() -> None:
    [first] = re.findall(r"\A# .*?^```\w*\n(.*?)^```$", PAGES[0].read_text(), re.M | re.S)
    assert first.splitlines() == ["./dev demo", "./dev test"]


def test_the_first_pages_begin_in_one_order() -> None:
    """The same sentence, then a picture or a live one, commands, and Python or where to read on."""
    pages = [PAGES[0], ROOT / "docs" / "index.md"]
    texts = [page.read_text("utf-8").split("\n\n") for page in pages]
    assert len({text[1] for text in texts}) == 1
    for text in texts:
        places = [
            next(number for number, part in enumerate(text) if re.match(start, part))
            for start in (r"# ", r"\[?!\[|<iframe", r"```sh", r"```python|\| to \|")
        ]
        assert places == sorted(places)
        assert places[1] == 2


def test_changelog_fragments_are_named_by_subject_and_kind() -> None:
    names = {path.name for path in (ROOT / "changelog.d").iterdir()} - {
        "README.md",
        "template.md.jinja",
    }
    named = re.compile(r"[a-z0-9-]+\.(added|changed|fixed|removed)\.md")
    assert [name for name in sorted(names) if not named.fullmatch(name)] == []
