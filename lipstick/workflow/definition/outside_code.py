"""Code that the SQL of a workflow file would run: Java methods, programs, statements that write.

A query of a file is a stranger's text, and Spark has three ways from a query to other code:
functions that call a Java method by its name, ``TRANSFORM ... USING 'program'``, and ``FROM t
INSERT ...``.
Whether a text has one is decided by its words wherever they stand, in comments too: a lexer that
differs from Spark's in one escape could be led past a call.
"""

from __future__ import annotations

import re

from lipstick.workflow.definition.functions import Imports, is_allowed
from lipstick.workflow.errors import ImportNotAllowedError

_HIDDEN = r"\s*(?:/\*|--)"
"""A comment, behind which anything may follow."""

_JAVA = re.compile(r"\b(?:try_reflect|reflect|java_method)\b", re.IGNORECASE)
_JAVA_CALL = re.compile(
    r"\b(?:try_reflect|reflect|java_method)\s*\(\s*'([\w.$]+)'\s*,\s*'(\w+)'", re.IGNORECASE
)
_OTHERS = {
    "runs a program (USING '...')": rf"\busing\b(?:\s*r?['\"]|{_HIDDEN})",
    "writes (INSERT)": rf"\binsert\b(?:\s+(?:into|overwrite)\b|{_HIDDEN})",
    "writes (MERGE, DELETE)": rf"\b(?:merge\s+into|delete\s+from)\b|\b(?:merge|delete)\b{_HIDDEN}",
    "calls a function whose name is computed (IDENTIFIER)": rf"\bidentifier\b(?:\s*\(|{_HIDDEN})",
    "has settings put into its text (${...})": r"\$\{",
}
_OTHER = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in _OTHERS.items()}


def check_runs_no_code(owner: str, name: str, sql: str, imports: Imports) -> None:
    """Refuse SQL of a file that does more than a query may.

    Parameters
    ----------
    owner, name
        The specification and the relation that the SQL defines or changes, for messages.
    imports
        What may be imported: the classes among it may be called by ``reflect`` and its like; True
        allows everything.

    Raises
    ------
    ImportNotAllowedError
        For the first thing that is not allowed.
    """
    if imports is True:
        return
    calls = _JAVA_CALL.findall(sql)
    refused = [(kind, method) for kind, method in calls if not is_allowed(kind, imports)]
    if refused:
        kind, method = refused[0]
        raise _refused(owner, name, f"calls the Java method {kind}.{method}", kind)
    if len(calls) != len(_JAVA.findall(sql)):
        raise _refused(owner, name, "calls a Java method by a name that it does not spell out")
    for what, pattern in _OTHER.items():
        if pattern.search(sql):
            raise _refused(owner, name, what)


def _refused(owner: str, name: str, what: str, kind: str | None = None) -> ImportNotAllowedError:
    allow = "imports=True" if kind is None else f"imports=[{kind!r}]"
    command = "" if kind is None else f", or --import {kind} on the command line"
    return ImportNotAllowedError(
        f"{owner}: the SQL of {name} {what}, which the file says and nobody has allowed.\n"
        f"If you trust the file, allow it: Workflow.read(path, {allow}){command}. Else write the "
        "query without it.",
        ("specifications", owner),
    )
