"""Which silent failures the watch names, and what it says about healthy code."""
