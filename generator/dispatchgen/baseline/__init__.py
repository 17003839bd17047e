"""Results that are kept in the repository to be compared with."""
