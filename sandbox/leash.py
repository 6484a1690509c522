"""`python -m sandbox.leash MODULE`: runs a module that ends when the sandbox does, however it ends.

A sandbox that is killed can stop nothing; but its end of the pipe closes, and that is seen here.
"""

import os
import runpy
import signal
import sys
import threading


def watch() -> None:
    """End this process at once when nobody holds the other end of standard input any more."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run the module that the command line names, as `python -m` would."""
    module = sys.argv.pop(1)
    threading.Thread(target=watch, name="leash", daemon=True).start()
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
