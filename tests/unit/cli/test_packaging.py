"""What is installed from the project has all that runs."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from setuptools import find_packages

ROOT = Path(__file__).resolve().parents[3]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
ROOMS = ("bot", "handlers", "storage", "sandbox")


def packed(file: Path) -> bool:
    """Whether a pattern of some package-data covers the file."""
    return any(
        fnmatch(str(file), f"{package.replace('.', '/')}/{pattern}")
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
    )


@pytest.mark.parametrize("room", ROOMS)
def test_an_installed_room_has_every_file_that_it_reads(room) -> None:
    files = {
        file.relative_to(ROOT)
        for file in (ROOT / room).rglob("*")
        if file.is_file()
        and file.suffix not in {".py", ".pyc", ".md"}
        and "__pycache__" not in file.parts
    }
    assert [str(file) for file in sorted(files) if not packed(file)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_an_installed_room_has_every_module(room) -> None:
    packages = set(find_packages(ROOT, include=SETUPTOOLS["packages"]["find"]["include"]))
    holding = {
        ".".join(file.relative_to(ROOT).parent.parts) for file in (ROOT / room).rglob("*.py")
    }
    assert holding - packages == set()
