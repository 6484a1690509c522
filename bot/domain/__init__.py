"""Values and rules of the field; imports pydantic and itself."""
