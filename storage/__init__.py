"""Durable records behind bot.ports.Store."""

from pathlib import Path

from bot.domain.errors import SettingsError
from bot.ports import Store
from storage.holders import this_process
from storage.memory import MemoryStore
from storage.sqlite import SqliteStore

_SQLITE = "sqlite:///"


def open_store(url: str, *, holder: str | None = None) -> Store:
    """Return the store at `sqlite:///relative.db`, `sqlite:////absolute.db` or `memory://`.

    `holder` names who claims rows; the default is this process. Raises SettingsError.
    """
    name = holder or this_process()
    if url == "memory://":
        return MemoryStore(holder=name)
    path = url.removeprefix(_SQLITE)
    if path == url or not path or path.startswith(":") or "?" in path:
        # The address is not repeated: one for another database may hold a password.
        raise SettingsError(
            "database address: not understood; write sqlite:///gpubot.db for a file in the"
            " working folder, or sqlite:////var/lib/gpubot/gpubot.db for a full path"
        )
    return SqliteStore(Path(path), holder=name)
