"""From HTTP to parameters and back, with moto's parsers and serialisers.

A reply is checked against botocore's output shape before it is sent: moto's serialisers
drop what they do not know in silence, and a double that drops fields proves nothing.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

from botocore.utils import parse_timestamp
from moto.core.model import OperationModel
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.serialize import SerializationContext, get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.datastructures import Headers, MultiDict

from sandbox.aws.errors import AwsError

SIGNING_NAMES = {
    "ec2": "ec2",
    "sagemaker": "sagemaker",
    "pricing": "pricing",
    "servicequotas": "service-quotas",
    "sts": "sts",
    "iam": "iam",
    "ram": "ram",
    "monitoring": "cloudwatch",
    "sqs": "sqs",
}
"""botocore's service name by the name in the signature's scope."""

REST = frozenset({"ram"})
"""Services whose operations have paths of their own."""

SCOPE = re.compile(r"Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/")


@dataclass(frozen=True, slots=True)
class Address:
    """Who signed a request, and for which service and Region."""

    access_key: str
    region: str
    service: str


class ShapeError(Exception):
    """A reply of ours does not have the shape that botocore expects."""


def address_of(authorization: str) -> Address | None:
    """The address in a SigV4 header, or nothing when the request is not signed."""
    match = SCOPE.search(authorization)
    if match is None:
        return None
    name = match["service"]
    return Address(match["key"], match["region"], SIGNING_NAMES.get(name, name))


def spoken(service: str) -> str:
    """The protocol in which botocore calls a service: JSON where a service speaks several."""
    model = get_service_model(service)
    return "json" if "json" in model.metadata.get("protocols", ()) else str(model.protocol)


def operation_at(service: str, method: str, path: str) -> str | None:
    """The operation that a method and path name, where the service's protocol is REST."""
    if service not in REST:
        return None
    model = get_service_model(service)
    return next(
        (
            name
            for name in model.operation_names
            if model.operation_model(name).http["method"] == method
            and model.operation_model(name).http["requestUri"] == path
        ),
        "",
    )


def operation_of(target: str | None, body: bytes) -> str:
    """The operation that a request names, in its header or its form."""
    if target:
        return target.rsplit(".", maxsplit=1)[-1]
    return dict(parse_qsl(body.decode())).get("Action", "")


def operation_model(service: str, operation: str) -> OperationModel | None:
    """The model of an operation, or nothing if there is no such operation."""
    if service not in SIGNING_NAMES.values():
        return None
    model = get_service_model(service)
    return model.operation_model(operation) if operation in model.operation_names else None


def parse(service: str, model: OperationModel, body: bytes, query: str = "") -> dict[str, Any]:
    """The parameters as botocore names and types them; times are aware UTC."""
    protocol = spoken(service)
    parser = PROTOCOL_PARSERS[protocol](model, timestamp_parser=_aware)
    words = query if service in REST else body.decode()
    form = MultiDict(parse_qsl(words, keep_blank_values=True))
    parsed: dict[str, Any] = parser.parse(
        {
            "method": "POST",
            "values": form,
            "headers": Headers(),
            "body": body,
            "url_path": "/",
            "url_params": {},
        }
    )
    return parsed


def _aware(value: Any) -> datetime:
    moment: datetime = parse_timestamp(value)
    return moment.astimezone(UTC)


def render(
    service: str, model: OperationModel, answer: dict[str, Any], request_id: str
) -> tuple[str, bytes]:
    """The content type and body of a reply.

    Raises:
        ShapeError: the answer does not fit the operation's output shape.
    """
    complaints = list(misfits(model.output_shape, answer, model.name))
    if complaints:
        raise ShapeError("; ".join(complaints))
    protocol = spoken(service)
    serializer = get_serializer_class(service, protocol)(
        operation_model=model, context=SerializationContext(request_id)
    )
    reply = serializer.serialize(answer)
    body = reply["body"]
    content_type = reply["headers"].get("Content-Type", "text/xml")
    return content_type, body.encode() if isinstance(body, str) else body


def render_error(service: str, error: AwsError, request_id: str) -> tuple[str, bytes]:
    """The content type and body of a refusal, in the service's protocol."""
    protocol = "json" if service not in SIGNING_NAMES.values() else spoken(service)
    if protocol in {"json", "rest-json"}:
        body = json.dumps(
            {"__type": error.code, "message": error.message, "Message": error.message}
        )
        return "application/x-amz-json-1.1", body.encode()
    code, message = escape(error.code), escape(error.message)
    detail = f"<Code>{code}</Code><Message>{message}</Message>"
    if protocol == "ec2":
        text = (
            f"<Response><Errors><Error>{detail}</Error></Errors>"
            f"<RequestID>{request_id}</RequestID></Response>"
        )
    else:
        kind = "Sender" if error.status < 500 else "Receiver"
        text = (
            f"<ErrorResponse><Error><Type>{kind}</Type>{detail}</Error>"
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
    return "text/xml;charset=UTF-8", text.encode()


PLAIN_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "character": str,
    "integer": int,
    "long": int,
    "boolean": bool,
    "float": (float, int),
    "double": (float, int),
    "timestamp": datetime,
    "blob": bytes,
}


def misfits(shape: Any, value: Any, path: str) -> list[str]:
    """What is wrong with a value, measured against a botocore shape; empty when it fits."""
    if shape is None:
        return [f"{path} has no output, yet got {value!r}"] if value else []
    if shape.type_name == "structure":
        return _structure_misfits(shape, value, path)
    if shape.type_name == "list":
        return _list_misfits(shape, value, path)
    if shape.type_name == "map":
        return _map_misfits(shape, value, path)
    return _plain_misfits(shape, value, path)


def _structure_misfits(shape: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path} is not a structure"]
    complaints = [f"{path}.{key} is unknown" for key in value if key not in shape.members]
    complaints += [f"{path}.{key} is missing" for key in shape.required_members if key not in value]
    for key, item in value.items():
        if key in shape.members:
            complaints += misfits(shape.members[key], item, f"{path}.{key}")
    return complaints


def _list_misfits(shape: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, list | tuple):
        return [f"{path} is not a list"]
    return [
        complaint
        for index, item in enumerate(value)
        for complaint in misfits(shape.member, item, f"{path}[{index}]")
    ]


def _map_misfits(shape: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path} is not a map"]
    return [
        complaint
        for key, item in value.items()
        for complaint in misfits(shape.value, item, f"{path}.{key}")
    ]


def _plain_misfits(shape: Any, value: Any, path: str) -> list[str]:
    wanted = PLAIN_TYPES[shape.type_name]
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        return [f"{path} is {type(value).__name__}, not {shape.type_name}"]
    if isinstance(value, datetime) and value.tzinfo is None:
        return [f"{path} is a naive time"]
    allowed = getattr(shape, "enum", [])
    if allowed and value not in allowed:
        return [f"{path} is {value!r}, not one of its values"]
    return []
