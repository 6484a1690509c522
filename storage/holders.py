"""Who holds a claimed row, and whether that process can still be at work."""

import os
import secrets
import socket

_BOOT = secrets.token_hex(4)
"""Tells this process from an earlier one with the same number, as in a restarted container."""


def this_process() -> str:
    """Return this process's name: host, process id and a token drawn when it started."""
    return f"{socket.gethostname()}:{os.getpid()}:{_BOOT}"


def is_dead(holder: str, *, seen_by: str) -> bool:
    """Return whether the holder's process is known to have ended, as `seen_by` can tell.

    Only a process of the same host can be judged; any other keeps its rows until its lease ends.
    Names that are not `host:pid:token` are never judged.
    """
    host, _, rest = holder.rpartition(":")[0].rpartition(":")
    own_host, _, own_rest = seen_by.rpartition(":")[0].rpartition(":")
    if holder == seen_by or not host or host != own_host or not rest.isdecimal():
        return False
    return rest == own_rest or not _runs(int(rest))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
