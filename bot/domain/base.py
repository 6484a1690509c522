"""The one base of every value: frozen, closed, strict."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value that refuses unknown fields and silent conversions.

    Change one with `model_copy(update=…)`; read one from JSON with `model_validate_json`
    (strict mode then still takes decimal strings, ISO times and lists for tuples).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)
