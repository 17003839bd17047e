"""Curves of dispatches: one compiled executable at many sizes, through iree-benchmark-executable."""
