"""Every backend of Python envs, one after another."""

import importlib.util

import pytest

import fixfirst

LOCAL_PROCESSES = ["pipe", "queue", "shared", "async"]
PYTHON_BACKENDS = ["serial", *LOCAL_PROCESSES, "ray"]


@pytest.fixture(params=PYTHON_BACKENDS)
def backend(request):
    """The name of a backend that runs Python envs."""
    if request.param == "ray" and importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'fixfirst[ray]'")
    return request.param


@pytest.fixture
def make(backend):
    """`make_vec` with this backend; what it makes is closed after the test."""
    made = []

    def make(count, **options):
        made.append(fixfirst.make_vec(count, backend=backend, **options))
        return made[-1]

    yield make
    for env in made:
        env.close()
