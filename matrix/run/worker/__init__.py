"""Runs reproducers in the interpreter under test; imports only torch and the standard library.

    python worker/__main__.py fork|fresh    (runner.py starts it; JSON lines over stdin and stdout)

It imports torch once and forks a child per run, which takes 10 to 40 ms; a fresh interpreter takes
3 to 6 s. Where a fork is unsafe or would lose the device, it starts fresh interpreters. It starts
every job at once and keeps no queue: the runner schedules.

A child has a time limit, a memory limit, a limit on the size of a file, one thread, and a session
and a folder of its own; the folder is its temporary folder too. What it starts ends with it: its
process group is killed, after a moment to end by itself, and on Linux daemons as well, because the
worker adopts them. If the worker dies, Linux kills its children (though not theirs).

A child holds no descriptor of the protocol and no token, without which a message does not count,
and it may not open the worker's descriptors or memory through /proc. Not prevented: what root may
do, and what processes of one user may do to each other (kill the worker, write into the folder of
another run). This guards against accidents, not attacks.
"""
