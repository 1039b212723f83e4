"""Runs reproducers in the interpreter under test; imports only torch and the standard library.

    python worker/__main__.py fork|fresh    (runner.py starts it; JSON lines over stdin and stdout)

It imports torch once and forks a child per run, which takes 10 to 40 ms; a fresh interpreter takes
3 to 6 s. If a fork is unsafe or would lose the device, it starts fresh interpreters. It starts
every job at once and has no queue, because the runner schedules.

A child has a time limit, a memory limit, a limit on the size of a file, one thread, and a session
and a folder of its own, which is its temporary folder too. Processes that it starts end with it.
Its process group gets a moment to end by itself and is then killed. On Linux daemons are killed
too, because the worker adopts them. If the worker dies, Linux kills its children, but not theirs.

A child has no descriptor of the protocol and no token, and messages without the token do not count.
It cannot open the worker's descriptors or memory through /proc. Nothing prevents what root may do,
and what processes of one user may do to each other: kill the worker, or write into the folder of
another run. This guards against accidents, not attacks.
"""
