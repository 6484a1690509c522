import sys

import pytest

from tests.sandbox.living import living

NO_BOT = (sys.executable, "-c", "")


@pytest.fixture(scope="module")
def slack(tmp_path_factory):
    """A world whose bot has ended: for the Web API alone."""
    with living(tmp_path_factory.mktemp("slack"), command=NO_BOT) as world:
        world.world.workspace.scopes = None
        yield world


@pytest.fixture(scope="module", params=["socket", "http"])
def world(request, tmp_path_factory):
    """A world with the stand-in bot, over both transports."""
    with living(tmp_path_factory.mktemp(request.param), mode=request.param) as living_world:
        yield living_world
