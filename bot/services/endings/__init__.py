"""Extend, release, hand over, clean up."""
