"""Runs reproducers in the interpreter under test. Imports only torch and the standard library.

    python worker/__main__.py fork|fresh    (runner.py starts it; JSON lines over stdin and stdout)

The worker imports torch once and forks a child per run, which takes 10 to 40 ms. A fresh
interpreter takes 3 to 6 s. If a fork is unsafe or would lose the device, the worker starts fresh
interpreters. It starts every job immediately and has no queue, because the runner schedules jobs.
A child has a time limit, a memory limit, a file size limit, one thread, its own session, and its
own folder, which is also its temporary folder. Processes that a child starts end with the child.
After a short grace period, its process group is killed. On Linux, daemons are also killed, because
the worker adopts them. If the worker dies, Linux kills its children, but not its grandchildren.  A
child has no descriptor of the protocol and no token, and messages without the token are ignored. It
cannot open the worker's descriptors or memory through /proc. Root is not restricted. Processes of
the same user can still kill the worker or write into the folder of another run. These measures
guard against accidents, not attacks.
"""
