"""One measurement: the worker under test, the runner that drives it, environments, what is kept."""
