import sys

import pytest

from tests.sandbox.living import living

IDLE = (sys.executable, "-c", "import threading; threading.Event().wait()")


@pytest.fixture(scope="module")
def slack(tmp_path_factory):
    """A world whose bot does nothing: for the Web API alone."""
    with living(tmp_path_factory.mktemp("slack"), command=IDLE) as world:
        yield world


@pytest.fixture(scope="module", params=["socket", "http"])
def world(request, tmp_path_factory):
    """A world with the stand-in bot, over both transports."""
    with living(tmp_path_factory.mktemp(request.param), mode=request.param) as living_world:
        yield living_world
