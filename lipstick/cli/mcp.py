"""``lipstick mcp``: saved captures as tools of agents, over the Model Context Protocol."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from lipstick.agent_tools import CaptureTools, Reply

_INSTRUCTIONS = (
    "Exact provenance of saved query answers: which input rows a number is made of, and what it "
    "would be without them. Call captures first. Every effect that is returned was computed by "
    "leaving the rows out; report its evidence with it."
)


@click.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--tools", is_flag=True, help="List the tools, with what they are for, and end.")
def mcp(paths: tuple[Path, ...], tools: bool) -> None:
    """Serve saved captures to an agent, on standard input and output.

    PATHs are folders that save() wrote, or folders of these. The tools are captures, rows, why,
    why_not, diff, where and what_if. Nothing is changed; why_not alone starts a local Spark.
    """
    with reported():
        from lipstick.agent_tools import CaptureTools

        asked = CaptureTools(paths)
        if tools:
            for name, tool in asked.tools.items():
                first = (inspect.getdoc(tool) or "").partition("\n")[0]
                names = ", ".join(inspect.signature(tool).parameters)
                click.echo(f"{name}({names})  {first}")
            return
        server_of(asked).run("stdio")


def server_of(tools: CaptureTools) -> MCPServer:
    """Return a server of the tools.

    Raises
    ------
    Failure
        The SDK is not installed.
    """
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp_types import ToolAnnotations
    except ImportError:
        raise Failure(
            "lipstick mcp needs the SDK of the Model Context Protocol: pip install "
            "'lipstick-spark[mcp]'."
        ) from None
    server = MCPServer("lipstick", instructions=_INSTRUCTIONS, log_level="ERROR")
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

    def reporting(tool: Callable[..., Reply]) -> Callable[..., Reply]:
        @wraps(tool)
        def reported_tool(*arguments: Any, **options: Any) -> Reply:
            try:
                return tool(*arguments, **options)
            except LipstickError as error:
                raise ToolError(str(error)) from error

        return reported_tool

    for name, tool in tools.tools.items():
        server.add_tool(reporting(tool), name, annotations=reads, structured_output=True)
    return server
