"""Results as a page, and as Markdown."""
