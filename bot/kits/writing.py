"""Text in the syntax of its reader: shell, Python, HCL, YAML. Every value is quoted by rule."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pprint import pformat

Plain = str | int | bool
Tree = Plain | Sequence["Tree"] | Mapping[str, "Tree"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9./-]*(?::[A-Za-z0-9./-]+)*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"})
"""Words that YAML 1.1 reads as something else than text."""
_WIDTH = 88
_LAST_SHORT = 0xFFFF
"""JSON writes what lies beyond as two halves, which YAML and HCL do not put together again."""


def snake(name: str) -> str:
    """Return `MarketType` as `market_type`."""
    return _HUMP.sub("_", name).lower()


def command(service: str, operation: str, region: str, options: Mapping[str, Tree]) -> str:
    """Return an AWS CLI command; a structure becomes JSON in single quotes."""
    lines = [f"aws {service} {operation.replace('_', '-')}", f"--region {shlex.quote(region)}"]
    for name, value in options.items():
        said = value if isinstance(value, str) else json.dumps(value)
        lines.append(f"--{snake(name).replace('_', '-')} {shlex.quote(said)}")
    return " \\\n    ".join(lines)


def python_call(service: str, operation: str, region: str, options: Mapping[str, Tree]) -> str:
    """Return boto3 lines that send the request and print the answer."""
    name = service.replace("-", "_")
    lines = [
        "import boto3",
        "",
        f"{name} = boto3.client({service!r}, region_name={region!r})",
        f"answer = {name}.{operation}(",
    ]
    for key, value in options.items():
        text = pformat(value, width=_WIDTH - 8, sort_dicts=False)
        lines.append(f"    {key}={text.replace(chr(10), chr(10) + ' ' * 8)},")
    return "\n".join([*lines, ")", "print(answer)"])


def quoted(text: str) -> str:
    """Return the text in double quotes, in the escapes that YAML and HCL share."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if " " <= letter <= "~":
        return letter
    code = ord(letter)
    return f"\\u{code:04x}" if code <= _LAST_SHORT else f"\\U{code:08x}"


def hcl_text(text: str) -> str:
    """Return an HCL string: quotes escaped, and no template begins in it."""
    return quoted(text).replace("${", "$${").replace("%{", "%%{")


def hcl(body: Mapping[str, Tree], indent: int = 0) -> str:
    """Return attributes and nested blocks (a mapping is a block, `name =` an object)."""
    return "\n".join(_hcl_lines(body, "  " * indent))


def _hcl_lines(body: Mapping[str, Tree], space: str) -> Iterator[str]:
    for name, value in body.items():
        if isinstance(value, Mapping):
            yield f"{space}{name} {{"
            yield from _hcl_lines(value, space + "  ")
            yield f"{space}}}"
        else:
            yield f"{space}{name} = {_hcl_value(value)}"


def _hcl_value(value: Tree) -> str:
    if isinstance(value, str):
        return hcl_text(value)
    return json.dumps(value)


def yaml(tree: Tree) -> str:
    """Return block-style YAML; text that YAML could misread is quoted."""
    return "\n".join(_yaml_lines(tree, ""))


def _yaml_lines(tree: Tree, space: str) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _yaml_entry(f"{space}{_yaml_plain(name)}:", value, space + "  ")
    elif isinstance(tree, Sequence) and not isinstance(tree, str):
        for item in tree:
            lines = list(_yaml_lines(item, space + "  "))
            yield f"{space}- {lines[0].lstrip()}"
            yield from lines[1:]
    else:
        yield f"{space}{_yaml_plain(tree)}"


def _yaml_entry(opening: str, value: Tree, space: str) -> Iterator[str]:
    if isinstance(value, str | int):
        yield f"{opening} {_yaml_plain(value)}"
        return
    yield opening
    yield from _yaml_lines(value, space)


def _yaml_plain(value: Tree) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    plain = _SAFE.fullmatch(value) and value.lower() not in _WORDS
    return value if plain else quoted(value)
