"""Names silent failures of a training program while it runs.

This package runs inside the program: it needs torch and the standard library only, on Python 3.8
and later. `torch_repros.watch()` and `torch-repros exec --watch` start it. Only findings.py can be
imported without torch.
"""
