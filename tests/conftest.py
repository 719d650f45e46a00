"""Laws are tried on the same examples everywhere and always, and no test depends on how fast the machine is today."""

from hypothesis import HealthCheck, settings

settings.register_profile("laws", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("laws")
