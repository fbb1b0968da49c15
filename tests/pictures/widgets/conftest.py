"""What all tests of explorers share."""

import pytest

from helpers import device


@pytest.fixture(autouse=True)
def on_an_a100():
    """Whatever GPU is at hand, and whatever GPU a test models in the end."""
    device("A100")
    yield
    device.reset()
