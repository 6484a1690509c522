"""`python -m sandbox`: a simulated world with the real bot in it, on one port."""

import argparse
import asyncio
import errno
import importlib
import logging
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, cast

from typing_extensions import override

from sandbox.identity import sign_in
from sandbox.scenario import Scenario, ScenarioError, read_scenario
from sandbox.world import MakeAws, Settings, World, running

OWN_CONFIG = Path(__file__).resolve().parent / "config.yaml"
WRONG_USE = 64
WRONG_SETTINGS = 78


class _Parser(argparse.ArgumentParser):
    """A parser that leaves with the contract's exit status for wrong use."""

    @override
    def error(self, message: str) -> NoReturn:
        """See argparse.ArgumentParser."""
        self.print_usage(sys.stderr)
        self.exit(WRONG_USE, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = _Parser(prog="python -m sandbox", description=__doc__)
    made.add_argument("--port", type=int, default=8700, help="of the page and all else (0: any)")
    made.add_argument("--seed", type=int, default=1, help="the same seed gives the same world")
    made.add_argument("--scenario", type=Path, help="a scenario file; see sandbox/README.md")
    made.add_argument("--mode", choices=("socket", "http"), default="socket")
    made.add_argument("--config", type=Path, default=OWN_CONFIG, help="the bot's own file")
    made.add_argument("--data", type=Path, help="where database and log go (default: fresh)")
    return made


def read_settings(arguments: Sequence[str]) -> Settings:
    """What the command line asks for.

    Raises:
        ScenarioError: a file is missing or wrong.
    """
    given = parser().parse_args(arguments)
    scenario = Scenario() if given.scenario is None else read_scenario(given.scenario)
    if not given.config.is_file():
        raise ScenarioError(f"{given.config}: there is no such configuration file")
    data = given.data or Path(tempfile.mkdtemp(prefix="gpubot-sandbox-"))
    data.mkdir(parents=True, exist_ok=True)
    return Settings(
        data=data.resolve(),
        port=given.port,
        seed=given.seed,
        mode=given.mode,
        config=given.config.resolve(),
        scenario=scenario,
        sign_in=sign_in,
    )


def simulated_aws() -> MakeAws:
    """The AWS of the sandbox; loaded late, since moto takes a second."""
    return cast("MakeAws", importlib.import_module("sandbox.aws").SimulatedAws)


async def serve(settings: Settings) -> None:
    """Run the world until SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(settings, simulated_aws()) as world:
        announce(world)
        await stop.wait()
    sys.stderr.write("stopped\n")


def announce(world: World) -> None:
    """Say where everything is."""
    data = world.settings.data
    sys.stderr.write(
        f"the sandbox is at {world.address}/  (mode {world.settings.mode}, "
        f"seed {world.settings.seed})\nthe bot's log and database are in {data}\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 after a stop, 78 for wrong files."""
    logging.basicConfig(level=logging.WARNING)
    try:
        asyncio.run(serve(read_settings(sys.argv[1:] if arguments is None else arguments)))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        hint = "this port is taken; stop what listens there, or use --port 0" if taken else error
        sys.stderr.write(f"{hint}\n")
        return WRONG_SETTINGS
    except ScenarioError as error:
        sys.stderr.write(f"{error}\n")
        return WRONG_SETTINGS
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
