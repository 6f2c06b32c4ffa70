"""Every backend of Python envs, one after another."""

import pytest

import fixfirst

LOCAL_PROCESSES = ["pipe", "queue", "shared", "async"]
PYTHON_BACKENDS = ["serial", *LOCAL_PROCESSES, "ray"]


@pytest.fixture(scope="module")
def ray_running():
    """A Ray for all tests of a module: to start one takes seconds."""
    ray_start = pytest.importorskip("fixfirst.envs.ray_start", reason="Ray is not installed")
    ray_start.start()
    yield
    ray_start.stop()


@pytest.fixture(params=PYTHON_BACKENDS)
def backend(request):
    """The name of a backend that runs Python envs."""
    if request.param == "ray":
        request.getfixturevalue("ray_running")
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
