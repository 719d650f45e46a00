"""Laws are tried on the same examples everywhere and always, and no test depends on how fast the machine is today."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("laws", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """One thread of BLAS: a second one would count as processor time, and be told of the machine."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
