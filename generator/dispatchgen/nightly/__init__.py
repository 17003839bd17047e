"""A preset measured as a whole: locks checked, built, measured within a budget, compared with a baseline, reported."""
