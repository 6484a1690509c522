import pytest

from tests.sandbox.living import living


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A world with the stand-in bot over Socket Mode."""
    with living(tmp_path_factory.mktemp("control")) as living_world:
        yield living_world
