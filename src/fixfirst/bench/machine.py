"""What a figure was measured on."""

import os
import platform
from pathlib import Path
from typing import Any


def describe() -> dict[str, Any]:
    """The machine and the versions, to stand beside every figure."""
    import gymnasium  # noqa: PLC0415 - only where it is asked for
    import numba  # noqa: PLC0415
    import numpy  # noqa: PLC0415

    from fixfirst.version import VERSION  # noqa: PLC0415

    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "gymnasium": gymnasium.__version__,
        "fixfirst": VERSION,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform module knows a name
    return platform.processor() or platform.machine()


def free_memory() -> int:
    """Bytes that can still be had without swapping, as far as the system tells."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux: count all there is
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
