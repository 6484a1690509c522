import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.ports import Store
from storage import open_store

Open = Callable[..., Store]


@pytest.fixture(params=["memory", "sqlite"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gpubot.db"


@pytest.fixture
def open_again(file: Path) -> Iterator[Open]:
    """Open stores on one SQLite file, closed after the test."""
    opened: list[Store] = []

    def opening(*, holder: str | None = None) -> Store:
        store = open_store(f"sqlite:///{file}", holder=holder)
        opened.append(store)
        return store

    yield opening
    for store in opened:
        store.close()


@pytest.fixture
def store(backend: str, file: Path) -> Iterator[Store]:
    opened = open_store("memory://" if backend == "memory" else f"sqlite:///{file}")
    yield opened
    opened.close()


@pytest.fixture
def beside(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection that goes around the store, as another program would."""
    connection = sqlite3.connect(file, isolation_level=None, timeout=0)
    yield connection
    connection.close()
