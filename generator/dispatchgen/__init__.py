"""Benchmarks of every dispatch of a machine-learning model, as IREE compiles it."""

__version__ = "0.1.0"
