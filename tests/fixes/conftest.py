"""Configures the tests of the fixes: one thread, exact arithmetic, and a Hypothesis profile."""

import os

import hypothesis
import torch

settings = hypothesis.settings
settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

torch.set_num_threads(1)  # xdist runs one process per core
torch.backends.cudnn.allow_tf32 = False  # cuDNN's RNNs are compared with exact results
