"""The page: one HTML file of its own, the same for server, notebook, saved file and documentation.

Its scripts are ES modules and are put together here, when it is served: no tool has to build it.
Imports between them become one scope, in which every name at the top is defined once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

from lipstick.explorer.errors import ExploreError

MODULES = (
    "dom.js",
    "asking.js",
    "conditions.js",
    "scalars.js",
    "windows.js",
    "changes.js",
    "evaluator.js",
    "state.js",
    "table.js",
    "charts.js",
    "terms.js",
    "exporting.js",
    "loading.js",
    "picture.js",
    "measures.js",
    "why.js",
    "value.js",
    "comparison.js",
    "view.js",
    "whatif.js",
    "query.js",
    "missing.js",
    "capture.js",
    "graph.js",
    "script.js",
    "federation.js",
    "live.js",
    "stream.js",
    "reduction.js",
    "search.js",
    "start.js",
    "app.js",
)
"""The scripts in the order in which they are evaluated: each after its imports."""

_SAVED = ("conditions.js", "scalars.js", "windows.js", "changes.js", "evaluator.js")
"""The scripts that only saved pages have."""

SERVED: tuple[str, ...] = tuple(name for name in MODULES if name not in _SAVED)
"""The scripts of a page that asks a server or a kernel."""

_IMPORT = re.compile(r"^import\s*\{(?P<names>[^}]*)\}\s*from\s*\"\./(?P<module>[\w.]+)\";\n", re.M)
_EXPORT = re.compile(r"^export (?=(async )?function|const|let|class)", re.M)
_SCRIPT = re.compile(r"<script type=\"module\">(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


@cache
def script(modules: tuple[str, ...] = SERVED) -> str:
    """Return modules, by default the ones of a served page, as the text of one."""
    parts = []
    for name in modules:
        text = _text(name)
        for match in _IMPORT.finditer(text):
            if match["module"] not in MODULES[: MODULES.index(name)]:
                raise ExploreError(f"{name} imports {match['module']}, which is not before it.")
        parts.append(f"// {name}\n" + _EXPORT.sub("", _IMPORT.sub("", text)))
    return "\n".join(parts)


@cache
def style() -> str:
    """The style sheets."""
    return _text("style.css") + _text("graphs.css")


def assembled(given: dict[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    given
        The data that it starts with: ``mode`` is ``server`` or ``saved``, then with ``answers`` and
        ``circuits``.
    """
    # Nothing in a string can end the element that it is in.
    data = json.dumps(given, ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    html = _text("index.html")
    saved = given.get("mode") == "saved"
    for mark, text in (
        ("/*style*/", style()),
        (
            "/*script*/",
            script(MODULES if saved else SERVED)
            + '\nstart(document.getElementById("explorer"));\n',
        ),
        ("/*data*/", data),
    ):
        html = html.replace(mark, text, 1)
    if saved:
        rule = policy(html, served=False)
        html = html.replace(
            '<meta charset="utf-8">',
            f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{rule}">',
            1,
        )
    return html


def policy(page: str, *, served: bool) -> str:
    """The content security policy of a page: its own script and style, and nothing else.

    Parameters
    ----------
    served
        It may ask the server that it came from.
    """
    scripts = " ".join(f"'{_hash(text)}'" for text in _SCRIPT.findall(page))
    styles = " ".join(f"'{_hash(text)}'" for text in _STYLE.findall(page))
    rules = [
        "default-src 'none'",
        f"script-src {scripts}",
        f"style-src {styles}",
        f"connect-src {chr(39) + 'self' + chr(39) if served else chr(39) + 'none' + chr(39)}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    if served:
        rules.append("frame-ancestors 'none'")
    return "; ".join(rules)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
