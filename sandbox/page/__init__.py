"""The page at `/`: plain files, no build step, nothing from outside."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

FOLDER = Path(__file__).resolve().parent
FILES = {
    "/": ("index.html", "text/html"),
    "/page/style.css": ("style.css", "text/css"),
    "/page/app.js": ("app.js", "text/javascript"),
    "/page/blocks.js": ("blocks.js", "text/javascript"),
    "/page/mrkdwn.js": ("mrkdwn.js", "text/javascript"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def add_page(app: web.Application) -> None:
    """Register the page and its files."""
    for address, (name, kind) in FILES.items():
        app.router.add_get(address, _serving(FOLDER / name, kind))


def _serving(path: Path, kind: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:  # noqa: ARG001 - aiohttp's shape
        """The file, never from a cache."""
        headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
        text = await asyncio.to_thread(path.read_text, "utf-8")
        return web.Response(text=text, content_type=kind, charset="utf-8", headers=headers)

    return serve
