"""Reads kits as their tools do: the shell and botocore, Python, HCL, YAML against schemas."""

import ast
import json
import shlex
from typing import Any

import botocore.session
import hcl2
import yaml
from botocore import xform_name
from botocore.validate import ParamValidator

SESSION = botocore.session.get_session()


def _checked(service: str, operation: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters, once botocore's model takes them and knows every name in them."""
    model = SESSION.get_service_model(service).operation_model(operation)
    report = ParamValidator().validate(parameters, model.input_shape)
    assert not report.has_errors(), report.generate_report()
    _enums(parameters, model.input_shape)
    return parameters


def _enums(value: Any, shape: Any) -> None:
    """botocore lets unknown enum values leave; AWS does not."""
    if shape.type_name == "structure":
        for name, part in value.items():
            _enums(part, shape.members[name])
    elif shape.type_name == "list":
        for part in value:
            _enums(part, shape.member)
    elif getattr(shape, "enum", None) and shape.name != "InstanceType":
        assert value in shape.enum, f"{value!r} is no {shape.name}"


def commands(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Each AWS CLI command as its operation and checked parameters."""
    return [_command(part) for part in text.split("\n\n")]


def _command(text: str) -> tuple[str, dict[str, Any]]:
    words = shlex.split(text.replace("\\\n", " "))
    assert words[0] == "aws"
    service, name, options = words[1], words[2], words[3:]
    by_name = {
        xform_name(one, "-"): one for one in SESSION.get_service_model(service).operation_names
    }
    operation = by_name[name]
    shape = SESSION.get_service_model(service).operation_model(operation).input_shape
    members = {xform_name(one, "-"): one for one in shape.members}
    parameters: dict[str, Any] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        assert option.startswith("--")
        key = option.removeprefix("--")
        if key == "region":
            continue
        if key == "count":
            parameters |= {"MinCount": int(value), "MaxCount": int(value)}
            continue
        member = members[key]
        nested = shape.members[member].type_name in {"structure", "list"}
        parameters[member] = json.loads(value) if nested else value
    return operation, _checked(service, operation, parameters)


def calls(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Each boto3 call as its operation and checked parameters, from Python's own parser."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        if not isinstance(owner, ast.Name) or owner.id == "boto3":
            continue
        names = {
            xform_name(one): one for one in SESSION.get_service_model(owner.id).operation_names
        }
        operation = names[node.func.attr]
        parameters = {word.arg: ast.literal_eval(word.value) for word in node.keywords}
        found.append((operation, _checked(owner.id, operation, parameters)))
    return found


def hcl(text: str) -> Any:
    return hcl2.loads(text)


def documents(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text))


def complaints(document: Any, schema: Any, where: str = "") -> list[str]:
    """What a schema of nested dicts says: `name!` is required, any other name is refused."""
    if isinstance(schema, list):
        return [
            c
            for i, part in enumerate(document)
            for c in complaints(part, schema[0], f"{where}[{i}]")
        ]
    if not isinstance(schema, dict):
        kind = {"text": str, "number": int, "yes-no": bool}.get(schema)
        if kind is not None:
            fits = type(document) is kind
        else:
            fits = document in schema if isinstance(schema, tuple) else isinstance(document, dict)
        return [] if fits else [f"{where}: {document!r}"]
    known = {name.rstrip("!"): part for name, part in schema.items()}
    missing = [n[:-1] for n in schema if n.endswith("!") and n[:-1] not in document]
    unknown = [name for name in document if name not in known]
    return [
        *(f"{where} lacks {name}" for name in missing),
        *(f"{where} has an unknown {name}" for name in unknown),
        *(
            c
            for n, part in document.items()
            if n in known
            for c in complaints(part, known[n], f"{where}.{n}")
        ),
    ]
