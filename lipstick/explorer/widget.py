"""The explorer in a notebook: Jupyter, JupyterLab, VS Code, marimo, Colab."""

from __future__ import annotations

from typing import Any

from lipstick.explorer.explorer import Explorer
from lipstick.explorer.page import script, style
from lipstick.explorer.server import missing

_RENDER = "\nexport default { render: renderWidget };\n"


def widget(explorer: Explorer, still: str = "") -> Any:
    """An anywidget that shows an explorer; questions go through the notebook's kernel.

    Parameters
    ----------
    still
        HTML for places that show notebooks without a kernel, such as GitHub and nbconvert.

    Raises
    ------
    ExploreError
        Without anywidget.
    """
    try:
        from anywidget import AnyWidget
    except ImportError as error:
        raise missing(error) from error

    class ExplorerWidget(AnyWidget):  # type: ignore[misc, unused-ignore]
        """See :func:`widget`."""

        _esm = script() + _RENDER
        _css = style()

        def __init__(self) -> None:
            super().__init__()
            self.on_msg(self._answer)

        def __repr__(self) -> str:
            return f"<Explorer of {', '.join(source.name for source in explorer.sources)}>"

        def _repr_mimebundle_(self, **options: Any) -> Any:
            given = super()._repr_mimebundle_(**options)
            data, *metadata = given if isinstance(given, tuple) else (given,)
            if still and data is not None:
                data = {**data, "text/html": still}
            return (data, *metadata) if metadata else data

        def _answer(self, _: Any, message: Any, __: Any) -> None:
            if isinstance(message, dict) and isinstance(message.get("id"), int):
                text = explorer.ask_json(message.get("question"))
                self.send({"id": message["id"], "text": text})

    return ExplorerWidget()


def in_notebook() -> bool:
    """Return True if this is the kernel of a notebook: of Jupyter's kind, or of marimo."""
    import sys

    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return True
    running = getattr(sys.modules.get("marimo"), "running_in_notebook", None)
    return running is not None and bool(running())
