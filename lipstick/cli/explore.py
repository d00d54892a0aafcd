"""``lipstick explore``: captures, stores, streams and scripts looked at in a browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import printable, working

if TYPE_CHECKING:
    from lipstick.explorer import Explorer


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="Explore captures that come with lipstick.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port to listen on; by default a free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Unless it is loopback, other machines with the token can ask.",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening it.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a self-contained page to this file instead of starting a server.",
)
@click.option("--rows", default=20, show_default=True, help="Rows that --output explains.")
def explore(
    paths: tuple[Path, ...],
    example: bool,
    port: int,
    host: str,
    no_browser: bool,
    output: Path | None,
    rows: int,
) -> None:
    """Explore captures, stores, streams and scripts in a browser.

    PATHs are folders that save() wrote; stores of workflow runs, recorded streams and reduced
    events; folders of these; files of federations; Python scripts and notebooks. Stores that are
    still written are shown as they grow. Nothing is changed, and no Spark is started.
    """
    with reported():
        if example:
            from lipstick.demo.example import example as made

            paths = (*paths, made())
        if not paths:
            raise Failure("There is nothing to explore: give a PATH, or --example.")
        missing = next((path for path in paths if not path.exists()), None)
        if missing is not None:
            raise Failure(f"There is nothing at {missing}.\nGive a capture, a store or a script.")
        if output is not None:
            from lipstick.explorer.saved import save

            with working("opening"):
                explorer = _opened(paths)
            with working(f"writing {output}"):
                page = save(explorer, output, rows)
            click.echo(
                f"{output}: {len(page.data):,} bytes, to be opened in any browser. It has of"
            )
            for line in page.says:
                click.echo(f"  {printable(line)}")
            return
        from lipstick.explorer.server import Serving

        # The browser starts, and shows the page, while the captures are still being opened.
        opening = _aside(lambda: _opened(paths))
        serving = Serving(opening, host, port)

        def end_if_failed(done: Future[Explorer]) -> None:
            if done.exception() is not None:
                serving.stop()

        opening.add_done_callback(end_if_failed)
        with suppress(KeyboardInterrupt):
            if example:
                click.echo(
                    f"The example is in {paths[-1]}; `lipstick diff` and `rows` read it too."
                )
            click.echo(f"Explore at {serving.url}\nControl-C ends it.")
            if not no_browser:
                click.launch(serving.url)
            serving.run()
        if opening.done():
            opening.result()


def _aside(opened: Callable[[], Explorer]) -> Future[Explorer]:
    """Open captures in a thread that the end of the process does not wait for.

    Control-C in the middle of an import may leave a lock for which that thread waits for ever.
    """
    found: Future[Explorer] = Future()

    def run() -> None:
        try:
            found.set_result(opened())
        except BaseException as error:
            found.set_exception(error)

    Thread(target=run, daemon=True).start()
    return found


def _opened(paths: Sequence[Path]) -> Explorer:
    from lipstick.explorer.explorer import Explorer, open_sources

    return Explorer([entry for path in paths for entry in open_sources(path)], folders=paths)
