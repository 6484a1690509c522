"""`python -m bot` starts the bot."""

import sys

from bot.cli import status_of

if __name__ == "__main__":
    sys.exit(status_of(["run", *sys.argv[1:]]))
