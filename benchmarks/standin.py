"""The least of Slack that lets an App connect by Socket Mode, in a thread of its own."""

import asyncio
import threading
from types import TracebackType
from typing import Self

from aiohttp import WSMsgType, web


class FakeSlack:
    """auth.test, apps.connections.open and a WebSocket that says hello."""

    def __enter__(self) -> Self:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        app = web.Application()
        app.router.add_post("/api/auth.test", self._auth)
        app.router.add_post("/api/apps.connections.open", self._open)
        app.router.add_get("/socket", self._socket)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert runner.addresses
        self.port = runner.addresses[0][1]
        self.base_url = f"http://127.0.0.1:{self.port}/api/"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _auth(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "team_id": "T0BENCH", "user_id": "U0BOT"})

    async def _open(self, _request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{self.port}/socket"})

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        connection = web.WebSocketResponse()
        await connection.prepare(request)
        await connection.send_json({"type": "hello", "num_connections": 1})
        async for message in connection:
            if message.type == WSMsgType.ERROR:
                break
        return connection
