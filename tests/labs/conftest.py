"""What tests of labs share that train networks."""

import pytest
import torch


@pytest.fixture
def one_thread():
    """Train with one thread, as the labs do."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
