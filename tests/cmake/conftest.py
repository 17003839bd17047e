"""Fixtures for tests of the CMake rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from cmake_project import GENERATORS, Generator
from suite_folder import copy_checkout


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and the rules, which nobody edits while a build depends on it."""
    return copy_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module", params=GENERATORS)
def generator(request: pytest.FixtureRequest) -> Generator:
    """Each generator of build systems that the rules promise to work with."""
    value: Generator = request.param
    return value
