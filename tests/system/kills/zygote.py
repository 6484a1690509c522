"""Imports the bot once and forks a fresh process for each life, with no thread running.

Reads one line of orders for each life, and writes one line with its exit status after its end.
"""

import importlib
import os
import pkgutil
import sys
import traceback
import warnings

import botocore.session
from botocore.loaders import create_loader

import bot
import handlers
import storage
from bot.catalog import packaged
from tests.system.kills.life import Orders, live


def main() -> None:
    # A life need not parse AWS's service models again: they are the same for all.
    loader = create_loader()
    botocore.session.create_loader = lambda _path=None: loader
    for service in ("ec2", "sagemaker", "pricing", "service-quotas"):
        botocore.session.Session().create_client(
            service, region_name="us-east-1", aws_access_key_id="-", aws_secret_access_key="-"
        )
    for package in (bot, handlers, storage):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    catalog = packaged()
    warnings.simplefilter("ignore")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                live(Orders.read(line), catalog)
                status = 0
            except BaseException:  # noqa: BLE001 - told, then the process ends
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
