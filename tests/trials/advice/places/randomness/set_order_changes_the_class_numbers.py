"""Class numbers of labels that repeat, in this process and in others with their own hashes."""

import ast
import inspect
import os
import subprocess
import sys
import textwrap

SETTINGS = ("plain",)
NAMES = [f"class {i % 20}" for i in range(60)]


def number(names):
    paste
    return [classes[name] for name in names]


def place(t):
    code = textwrap.dedent(inspect.getsource(number)) + f"print(number({NAMES}))"
    found = [number(NAMES)]
    for salt in "12":
        environment = {**os.environ, "PYTHONHASHSEED": salt}
        command = [sys.executable, "-S", "-c", code]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        found.append(ast.literal_eval(done.stdout.decode()))
    return found


def reference(t):
    order = []
    for name in sorted(NAMES):
        if name not in order:
            order.append(name)
    return [[order.index(name) for name in NAMES]] * 3
