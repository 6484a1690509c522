import pytest

from storage import open_store
from tests.services.sharing.share_world import ShareWorld


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'share.sqlite'}"
    world = ShareWorld(store=open_store(url))
    yield world
    world.store.close()
