"""Zone names as each account sees them: AWS maps the same zone to other names elsewhere.

EC2 User Guide, "Availability Zone IDs": names are an account's own, ids are the same for all.
Inside, zones have the names of the catalog; an account with names of its own has them turned at
the edge, in what it asks and in what it is told.
"""

import re
from functools import cache
from typing import Any

from sandbox.aws.zones import zones_of


@cache
def _names(region: str) -> dict[str, str]:
    """The account's own name by the catalog's: the Region's zones, moved on by one."""
    plain = [zone.name for zone in zones_of(region) if not zone.is_local]
    return dict(zip(plain, [*plain[1:], *plain[:1]], strict=True))


def asked(region: str, value: Any) -> Any:
    """Parameters of an account with names of its own, in the catalog's names."""
    return _turned({own: name for name, own in _names(region).items()}, value)


def told(region: str, value: Any) -> Any:
    """An answer in the names of such an account."""
    return _turned(_names(region), value)


def asked_body(region: str, body: bytes) -> bytes:
    """A request's body in the catalog's names."""
    return _turned_text({own: name for name, own in _names(region).items()}, body)


def told_body(region: str, body: bytes) -> bytes:
    """A reply's body in the names of such an account."""
    return _turned_text(_names(region), body)


def _turned(names: dict[str, str], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _turned(names, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_turned(names, item) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def _turned_text(names: dict[str, str], body: bytes) -> bytes:
    found = "|".join(map(re.escape, names)).encode()
    return re.sub(
        rb"(?<![\w-])(" + found + rb")(?![\w-])",
        lambda match: names[match[1].decode()].encode(),
        body,
    )
