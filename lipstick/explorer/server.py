"""The explorer as a server: one page, one way to ask, for whoever has the token.

It listens on the loopback interface by default, answers only requests that name it as
their host and carry the token, and only a page of its own may ask from a browser. Nothing can be
written through it.
"""

from __future__ import annotations

import asyncio
import hmac
import io
import json
import secrets
import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet

from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import csv_bytes
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.page import assembled, policy
from lipstick.explorer.params import Params
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


FORMATS = ("csv", "parquet")


def export(explorer: Explorer, question: Any) -> bytes:
    """Return the rows of an answer to a question as a file, or a page that answers questions.

    Parameters
    ----------
    question
        As :meth:`Explorer.ask` takes it, with ``format``, ``csv`` or ``parquet``. The rows of a
        capture are all that its filters leave, in their order and of their types; of other views
        they are the answer's rows, as text. With the format ``page`` there are ``questions``, and
        the ``place`` that the page opens at.

    Raises
    ------
    ExploreError
        For views without rows, and other formats.
    """
    try:
        question_params = Params(question)
        format = question_params.text("format")
        if format == "page":
            questions, place = question_params.items("questions"), question_params.text("place")
            from lipstick.explorer.saved import saved_page

            return saved_page(explorer, questions=questions, place=place).data
        if format not in FORMATS:
            raise ExploreError(f"Tables are exported as {' or '.join(FORMATS)}, not {format!r}.")
        return _written(_rows(explorer, question_params, question), format)
    except LipstickError as error:
        raise ExploreError(str(error)) from error


def _rows(explorer: Explorer, question_params: Params, question: Any) -> pa.Table:
    number = question_params.integer("source", 0)
    if question_params.text("view") == "rows" and 0 <= number < len(explorer.sources):
        # Captures are imported where there are any: they take longer than all else here.
        from lipstick.explorer.captures.source import CaptureSource

        source = explorer.sources[number]
        if isinstance(source, CaptureSource):
            return source.windows.chosen(Params(question_params.mapping("params")))
    reply = explorer.ask(question)
    if "error" in reply:
        raise ExploreError(reply["error"]["message"])
    answer = reply["answer"]
    if not isinstance(answer.get("rows"), list) or not isinstance(answer.get("columns"), list):
        raise ExploreError("This view has no rows to export.")
    names = [column["name"] for column in answer["columns"]]
    columns = list(zip(*answer["rows"], strict=True)) or [()] * len(names)
    return pa.Table.from_arrays([pa.array(c, pa.string()) for c in columns], names=names)


def _written(table: pa.Table, format: str) -> bytes:
    if format == "parquet":
        out = io.BytesIO()
        pyarrow.parquet.write_table(table, out)
        return out.getvalue()
    return csv_bytes(table)


TOKEN = "x-lipstick-token"
"""The header that a page sends the token in."""

QUESTION = 4_000_000
"""Bytes of a question at most."""

WORKERS = 4
"""Questions that are answered at once."""


def missing(error: ImportError) -> ExploreError:
    """Return the error that names the libraries that a server needs."""
    return ExploreError(
        f"The explorer needs {error.name}, which is not installed.\n"
        "Install it: pip install 'lipstick-spark[explore]'"
    )


def application(
    explorer: Explorer | Future[Explorer], token: str, hosts: frozenset[str]
) -> Starlette:
    """The application that serves an explorer.

    Parameters
    ----------
    explorer
        May still be opened: the page is there before, and questions wait.
    token
        Who has it may ask.
    hosts
        Values of the Host header that are answered, such as ``127.0.0.1:8700``.

    Raises
    ------
    ExploreError
        Without Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError as error:
        raise missing(error) from error

    door = _Door(explorer, token, hosts)
    return Starlette(
        routes=[
            Route("/", door.show, methods=["GET"]),
            Route("/ask", door.ask, methods=["POST"]),
            Route("/export", door.download, methods=["POST"]),
        ]
    )


class _Door:
    """Answers requests that have the token, and name a host that the server goes by."""

    def __init__(
        self, explorer: Explorer | Future[Explorer], token: str, hosts: frozenset[str]
    ) -> None:
        self._explorer, self._token, self._hosts = explorer, token, hosts
        self._page = assembled({"mode": "server"})
        self._headers = {
            "Content-Security-Policy": policy(self._page, served=True),
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        self._pool = ThreadPoolExecutor(WORKERS, "explore")

    async def show(self, request: Request) -> Response:
        """Answer with the page."""
        from starlette.responses import HTMLResponse

        no = self._refused(request, request.query_params.get("token", ""))
        return no or HTMLResponse(self._page, headers=self._headers)

    async def ask(self, request: Request) -> Response:
        """Answer a question."""
        from starlette.responses import Response

        question = await self._question_of(request)
        if isinstance(question, Response):
            return question
        explorer = await self._opened()
        reply = await _answered(
            self._pool,
            request,
            explorer.budget(question),
            lambda budget: explorer.ask_json(question, budget),
        )
        self._pool.submit(explorer.warm, question)
        return Response(reply, media_type="application/json", headers=self._headers)

    async def download(self, request: Request) -> Response:
        """Answer a question with a file."""
        from starlette.responses import Response

        question = await self._question_of(request)
        if isinstance(question, Response):
            return question
        loop = asyncio.get_running_loop()
        try:
            data = await loop.run_in_executor(self._pool, export, await self._opened(), question)
        except ExploreError as error:
            return self._refusal(str(error), 400)
        return Response(data, media_type="application/octet-stream", headers=self._headers)

    async def _opened(self) -> Explorer:
        explorer = self._explorer
        return explorer if isinstance(explorer, Explorer) else await asyncio.wrap_future(explorer)

    async def _question_of(self, request: Request) -> Any:
        """Return the question of a request, or the response that refuses it."""
        no = self._refused(request, request.headers.get(TOKEN, ""))
        if no is not None:
            return no
        question, problem = await _question(request)
        return question if problem is None else self._refusal(problem, 400)

    def _refused(self, request: Request, given: str) -> Response | None:
        host = request.headers.get("host", "")
        origin = request.headers.get("origin")
        if host not in self._hosts or (origin is not None and origin != f"http://{host}"):
            return self._refusal("This host or origin may not ask.", 403)
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            told = "The token is missing or another: open the address that was printed."
            return self._refusal(told, 401)
        return None

    def _refusal(self, message: str, status: int) -> Response:
        from starlette.responses import JSONResponse

        document = {"error": {"kind": "refused", "message": message}}
        return JSONResponse(document, status, self._headers)


async def _question(request: Request) -> tuple[Any, str | None]:
    """The question of a request; or what is wrong with it."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > QUESTION:
            return None, f"A question has at most {QUESTION:,} bytes."
    try:
        return json.loads(bytes(body)), None
    except (ValueError, RecursionError):
        return None, "A question is JSON."


async def _answered(
    pool: ThreadPoolExecutor,
    request: Request,
    budget: Budget,
    work: Callable[[Budget], str],
) -> str:
    """Return the result of some work, which is stopped when nobody waits for it any more."""
    task = asyncio.get_running_loop().run_in_executor(pool, work, budget)
    while True:
        done, _ = await asyncio.wait([task], timeout=0.25)
        if done:
            return task.result()
        if await request.is_disconnected():
            budget.cancel()


def hosts_of(host: str, port: int) -> frozenset[str]:
    """The Host headers by which a server on an address is asked."""
    names = {host}
    if host in ("127.0.0.1", "::1", "localhost"):
        names |= {"127.0.0.1", "localhost", "[::1]"}
    return frozenset(f"[{n}]:{port}" if ":" in n and n[0] != "[" else f"{n}:{port}" for n in names)


class Serving:
    """A running server.

    Attributes
    ----------
    url
        Where a browser opens it, with the token.
    """

    def __init__(
        self, explorer: Explorer | Future[Explorer], host: str = "127.0.0.1", port: int = 0
    ) -> None:
        """Bind the address; port 0 is any that is free.

        Raises
        ------
        ExploreError
            Without the libraries; where the address is taken.
        """
        try:
            import uvicorn
        except ImportError as error:
            raise missing(error) from error
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            # From here on connections wait until the server runs.
            self._socket.listen(128)
        except OSError as error:
            self._socket.close()
            raise ExploreError(
                f"{host}:{port} cannot be listened on: {error.strerror or error}.\n"
                "Give another --port, or none for one that is free."
            ) from error
        port = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{port}/?token={self.token}"
        app = application(explorer, self.token, hosts_of(host, port))
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, lifespan="off"
        )
        self.server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until it is stopped."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self._socket])
        self._socket.close()

    def stop(self) -> None:
        """Stop serving, from another thread."""
        self.server.should_exit = True
