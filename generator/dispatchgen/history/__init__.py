"""Results over time, in an SQLite file."""
