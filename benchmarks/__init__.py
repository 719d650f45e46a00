"""Benchmarks: each row measures this package against a rival, or against a ceiling, in one and the same run.

To add a row, add a file to :mod:`benchmarks.rows` with a function ``measure()`` that yields :class:`Row`.
"""
