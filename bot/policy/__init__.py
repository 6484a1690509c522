"""The administrator's rules: who may ask, who must agree, up to how much."""
