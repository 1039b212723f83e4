"""Runs reproducers in the tested interpreter. Imports only torch and the standard library.

    python worker/__main__.py fork|fresh    (runner.py starts it; JSON lines over stdin and stdout)

The worker imports torch once and forks a child for each run, which takes 10 to 40 ms, while a fresh
interpreter takes 3 to 6 s. If forking is unsafe or would lose the device, the worker starts fresh
interpreters. It starts every job immediately and has no queue, because the runner schedules the
jobs. A child has a time limit, a memory limit, a file size limit, one thread, its own session, and
its own folder, which is also its temporary folder. Processes that a child has started end with the
child: after a short grace period, its process group is killed. On Linux, daemons are also killed,
because the worker adopts them. If the worker dies, Linux kills its children but not its
grandchildren.

A child has neither the protocol's descriptors nor the token, and messages without the token are
ignored. Unless it runs as root, it cannot open the worker's descriptors or memory through /proc.
Processes of the same user can still kill the worker or write to the folder of another run. These
measures guard against accidents, not attacks.
"""
