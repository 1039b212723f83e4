"""One measurement: the worker in the interpreter under test, the runner that drives it, environments, and what is kept."""
