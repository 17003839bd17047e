"""Comparing two results: which benchmarks are faster or slower, and how far that can be told."""
