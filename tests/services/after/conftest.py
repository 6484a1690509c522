import pytest

from tests.services.after.after_world import stores, world_on


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    world = world_on(stores(tmp_path)[request.param])
    yield world
    world.store.close()
