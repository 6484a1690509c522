from collections.abc import Iterator

import pytest

from tests.services.watching.watch_world import WatchWorld


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path) -> Iterator[WatchWorld]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'watch.sqlite'}"
    world = WatchWorld(url=url)
    yield world
    world.store.close()
