"""Class numbers of a training, and of others with their own hashes that see some of the names.

A checkpoint without numbers is refused.
"""

import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
import textwrap

SETTINGS = ("plain",)
NAMES = [f"class {i % 20}" for i in range(60)]


def number(names, training, load=None, path=None):
    paste
    return checkpoint, [classes[name] for name in names]


def place(t):
    checkpoint, numbers = number(NAMES, training=True)
    found = [numbers]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/checkpoint"
        with open(path, "w") as file:
            json.dump(checkpoint, file)
        for salt, names in zip("12", (NAMES, NAMES[5:8])):
            call = f"number({names}, False, lambda path: json.load(open(path)), {path!r})"
            code = (
                "import json\n" + textwrap.dedent(inspect.getsource(number)) + f"print({call}[1])"
            )
            environment = {**os.environ, "PYTHONHASHSEED": salt}
            command = [sys.executable, "-S", "-c", code]
            done = subprocess.run(command, env=environment, capture_output=True, check=True)
            found.append(ast.literal_eval(done.stdout.decode()))
    try:
        number(NAMES[:3], False, lambda path: {})
    except KeyError:
        return [*found, "refused"]
    return [*found, "taken"]


def reference(t):
    order = []
    for name in sorted(NAMES):
        if name not in order:
            order.append(name)
    numbers = [order.index(name) for name in NAMES]
    return [numbers, numbers, numbers[5:8], "refused"]
