"""PyTorch with one thread: the tests share two cores with other tests."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `learn` is not installed")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
