"""Tests programs under `exec`, run as `python -m matrix exec -- PROGRAM` in a separate process."""

import hashlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from matrix import catalog
from matrix.explain import execution
from tests.harness.helpers import call
from tests.harness.pasted import FP16

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals, pipes and terminals of POSIX")
EXEC = [sys.executable, "-m", "matrix", "exec", "--"]
MARK = b"--- torch-repros: "
# Runs exec, which passes signals on so late that the program sees each of them.
LATE_SIGNALS = """
import runpy, subprocess, time
send_signal = subprocess.Popen.send_signal
subprocess.Popen.send_signal = lambda *call: (time.sleep(0.3), send_signal(*call))
runpy.run_module("matrix", run_name="__main__")
"""


def command(code):
    return [*EXEC, sys.executable, "-c", code]


def run(code, **options):
    options = {"capture_output": True, "timeout": 60, "cwd": catalog.ROOT} | options
    return subprocess.run(command(code), **options)


def started(code, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": catalog.ROOT} | options
    return subprocess.Popen(command(code), **options)


def test_nothing_is_added_to_what_succeeds():
    done = run("import sys; print('out'); print('err', file=sys.stderr)")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"out\n", b"err\n")


def test_a_failure_is_explained_below_its_output_on_stderr():
    done = run(f"print('out'); raise {FP16.replace(': ', '(')[:-1]}')".replace("(A", "('A"))
    assert (done.returncode, done.stdout) == (1, b"out\n")
    own, explained = done.stderr.split(MARK)
    assert own.startswith(b"Traceback")
    assert b"amp/unscale_fp16_parameters" in explained


def test_a_warning_is_explained_although_the_program_succeeds():
    done = run(
        "import warnings; warnings.warn('torch.cuda.amp.GradScaler is enabled, but CUDA is not available')"
    )
    assert done.returncode == 0
    assert b"amp/default_scaler_is_off" in done.stderr.split(MARK)[1]


def test_a_message_on_stdout_is_explained_too():
    done = run(f"print({FP16!r})")
    assert b"amp/unscale_fp16_parameters" in done.stderr.split(MARK)[1]
    assert done.stdout.decode() == FP16 + "\n"


def test_a_line_that_a_program_prints_is_no_symptom_that_someone_describes():
    assert run("print('a prediction moved by 3')").stderr == b""


def test_a_failure_that_is_not_known_is_told_to_be_none():
    done = run("import sys; sys.exit(7)")
    assert done.returncode == 7
    assert b"No known failure matches this text." in done.stderr


def test_bytes_of_any_kind_go_through_unchanged_and_apart():
    done = run(
        "import sys; sys.stdout.buffer.write(bytes(range(256)) * 999 + b'\\r'); sys.stderr.buffer.write(b'\\xff\\0\\n\\r')"
    )
    assert done.stdout == bytes(range(256)) * 999 + b"\r"
    assert done.stderr == b"\xff\0\n\r"


def test_standard_input_is_the_program_s():
    done = run("import sys; print(sys.stdin.read()[::-1])", input=b"abc")
    assert done.stdout == b"cba\n"


def test_output_is_passed_on_while_the_program_runs():
    program = started(
        "import os, sys; os.write(1, b'50%\\r'); sys.stdin.read()", stdin=subprocess.PIPE
    )
    assert os.read(program.stdout.fileno(), 100) == b"50%\r"
    assert program.poll() is None
    program.communicate(timeout=30)


@POSIX
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_gives_the_status_that_a_shell_gives(number):
    done = run(f"import os; os.kill(os.getpid(), {int(number)})")
    assert done.returncode == 128 + number
    assert (MARK in done.stderr) == (number != signal.SIGTERM)  # an order, and no failure


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_handed_on_and_the_program_may_end_as_it_likes(number):
    program = started(
        f"import signal, sys, time; signal.signal({int(number)}, lambda *_: sys.exit(5));"
        "print('ready', flush=True); time.sleep(60)",
        start_new_session=True,
    )
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(number)
    program.communicate(timeout=30)
    assert program.returncode == 5


@POSIX
def test_an_interrupted_program_has_the_status_of_its_signal():
    program = started(
        "print('ready', flush=True); import time; time.sleep(60)", start_new_session=True
    )
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(signal.SIGINT)
    error = program.communicate(timeout=30)[1]
    assert program.returncode == 130
    assert b"KeyboardInterrupt" in error
    assert MARK not in error


@POSIX
def test_a_daemon_that_holds_the_pipe_is_not_waited_for():
    begun = time.monotonic()
    program = started(
        "import subprocess; print('out', flush=True); subprocess.Popen(['sleep', '30'])"
    )
    assert program.wait(20) == 0
    assert program.stdout.readline() == b"out\n"
    assert time.monotonic() - begun < 20


@POSIX
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_child_that_the_program_leaves_behind_goes_on_and_may_go_on_printing(tmp_path, stream):
    script = "(until [ -e go ]; do sleep 0.1; done; echo late; echo later; touch done) & exit 3"
    script = script if stream == "stdout" else f"({script}) >&2"
    code = f"import subprocess, sys; sys.exit(subprocess.call(['sh', '-c', {script!r}], cwd={str(tmp_path)!r}))"
    program = started(code)
    assert program.wait(30) == 3
    (tmp_path / "go").touch()
    assert getattr(program, stream).read().endswith(b"late\nlater\n")  # until the child ends
    assert (tmp_path / "done").exists()


@POSIX
def test_what_a_child_of_the_program_prints_soon_after_its_end_is_passed_on():
    done = run("import subprocess; subprocess.Popen(['sh', '-c', 'sleep 0.5; echo late'])")
    assert done.stdout == b"late\n"


def test_a_program_may_close_its_output_early():
    done = run("import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(3)")
    assert done.returncode == 3
    assert done.stdout == b""


@POSIX
def test_a_reader_that_goes_away_ends_the_program_as_without_us():
    program = started("while True: print('y' * 999)")
    os.read(program.stdout.fileno(), 10)
    program.stdout.close()
    error = program.stderr.read()
    assert program.wait(30) == 1
    assert b"BrokenPipeError" in error


def test_a_long_output_goes_through_whole_in_little_memory():
    megabytes = int(os.environ.get("EXEC_MEGABYTES", "12"))
    line = b"2026-11-21 10:11:12 [INFO] train.py: epoch 3 step 1200 loss 0.1234 lr 1e-4\n"
    times = megabytes * 1_000_000 // len(line)
    code = f"import sys\nfor _ in range({times}): sys.stdout.buffer.write({line!r})"
    reported = (
        f"import runpy, sys; sys.argv = ['matrix', 'exec', '--', sys.executable, '-c', {code!r}]\n"
        "try: runpy.run_module('matrix', run_name='__main__')\n"
        "finally: print(open('/proc/self/status').read(), file=sys.stderr)"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", reported if Path("/proc/self/status").exists() else code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=catalog.ROOT,
    )
    found, begun = hashlib.sha256(), time.monotonic()
    while data := program.stdout.read(1 << 20):
        found.update(data)
    print(f"{time.monotonic() - begun:.1f} s")
    expected = hashlib.sha256()
    for _ in range(times):
        expected.update(line)
    assert found.digest() == expected.digest()
    status = dict(
        line.split(":\t", 1)
        for line in program.stderr.read().decode().splitlines()
        if ":\t" in line
    )
    print(status.get("VmHWM"))
    assert int(status.get("VmHWM", "0 kB").split()[0]) < 200_000
    program.wait()


@pytest.mark.parametrize("arguments", [["no-such-program-here"], ["./no/such/program"]])
def test_a_program_that_is_not_found_is_127(arguments):
    done = subprocess.run([*EXEC, *arguments], capture_output=True, cwd=catalog.ROOT)
    assert done.returncode == 127
    assert arguments[0].encode() in done.stderr


@POSIX
def test_a_program_that_cannot_be_executed_is_126(tmp_path):
    (tmp_path / "train.py").write_text("print()")
    done = subprocess.run([*EXEC, tmp_path / "train.py"], capture_output=True, cwd=catalog.ROOT)
    assert done.returncode == 126
    assert b"(write: python " in done.stderr


@POSIX
@pytest.mark.parametrize("streams", [(1, 2), (1,), (2,)])
def test_a_program_in_a_terminal_has_one_as_wide_and_its_bytes_are_unchanged(streams):
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST  # this terminal passes output on unchanged
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    code = (
        "import os, sys; tty = [fd for fd in (1, 2) if os.isatty(fd)];"
        "size = os.get_terminal_size(tty[0]).columns; os.write(tty[0], f'{tty} {size}\\n\\r'.encode())"
    )
    pipes = {
        name: theirs if fd in streams else subprocess.PIPE
        for fd, name in ((1, "stdout"), (2, "stderr"))
    }
    program = started(code, **pipes)
    program.communicate(timeout=30)
    shown = os.read(ours, 1000).decode()
    os.close(ours), os.close(theirs)
    assert shown == f"{list(streams)} 77\n\r"
    assert program.returncode == 0


class Terminal:
    """A program under exec in its own terminal, with the output and the typed input."""

    def __init__(self, *program, start=EXEC):
        import fcntl
        import pty
        import termios

        self.ours, theirs = pty.openpty()
        self.program = subprocess.Popen(
            [*start, *program],
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            cwd=catalog.ROOT,
            env={**os.environ, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.shown = b""

    def wait_for(self, text):
        while text not in self.shown:
            assert select.select([self.ours], [], [], 20)[0], self.shown
            self.shown += os.read(self.ours, 1000)

    def type(self, text):
        os.write(self.ours, text)

    @property
    def echoes(self):
        import termios

        return bool(termios.tcgetattr(self.ours)[3] & termios.ECHO)

    def wait_until(self, echoes):
        deadline = time.monotonic() + 60  # a busy machine
        while self.echoes != echoes:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self):
        status = self.program.wait(30)
        os.close(self.ours)
        return status


@POSIX
def test_ctrl_c_in_a_terminal_reaches_the_program_once():
    terminal = Terminal(
        sys.executable,
        "-c",
        "import signal, time; signals = []; signal.signal(2, lambda *_: signals.append(2));"
        "print('ready', flush=True); time.sleep(1.5); print(f'{len(signals)} signal', flush=True)",
        start=[sys.executable, "-c", LATE_SIGNALS, "exec", "--"],
    )
    terminal.wait_for(b"ready")
    terminal.type(b"\x03")
    terminal.wait_for(b" signal")
    assert b"1 signal" in terminal.shown
    assert terminal.end() == 0


@POSIX
@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_settings_that_a_program_makes_through_any_descriptor_reach_the_terminal(descriptor):
    terminal = Terminal(
        "sh",
        "-c",
        f"stty -echo <&{descriptor}; echo silent; read x; stty echo <&1; echo got $x; exit 3",
    )
    terminal.wait_for(b"silent")
    terminal.wait_until(echoes=False)
    time.sleep(0.3)  # people do not type faster
    terminal.type(b"secret\n")
    terminal.wait_for(b"got secret")
    assert terminal.shown.count(b"secret") == 1
    terminal.wait_until(echoes=True)
    assert terminal.end() == 3


SHARED = """
import termios
from matrix.explain import execution
streams = [execution.Stream(target, []) for target in (1, 2)]
settings = termios.tcgetattr(streams[1].inner)
settings[3] &= ~termios.ECHO
termios.tcsetattr(streams[1].inner, termios.TCSANOW, settings)
execution._share_settings(streams)
echoes = [bool(termios.tcgetattr(stream.inner)[3] & termios.ECHO) for stream in streams]
print(f"echoes: {echoes}.")
"""


@POSIX
def test_a_setting_of_one_stream_is_at_once_the_setting_of_the_other():
    terminal = Terminal(sys.executable, "-c", SHARED, start=[])
    terminal.wait_for(b"].")
    assert b"echoes: [False, False]." in terminal.shown
    assert terminal.end() == 0


@POSIX
def test_curses_reads_a_single_key():
    terminal = Terminal(
        sys.executable,
        "-c",
        "import curses\n"
        "def main(screen): screen.addstr('ready'); screen.refresh(); return screen.getch()\n"
        "print('key', curses.wrapper(main), flush=True)",
    )
    terminal.wait_for(b"ready")
    terminal.wait_until(echoes=False)
    terminal.type(b"q")
    terminal.wait_for(b"key 113")
    terminal.wait_until(echoes=True)
    assert terminal.end() == 0


@POSIX
def test_settings_hold_again_after_a_stop_in_which_the_shell_made_its_own():
    import termios

    terminal = Terminal("sh", "-c", "stty -echo <&1; echo silent; read x")
    terminal.wait_for(b"silent")
    terminal.wait_until(echoes=False)
    terminal.program.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, terminal.program.pid, os.WSTOPPED | os.WNOWAIT)
    settings = termios.tcgetattr(terminal.ours)
    settings[3] |= termios.ECHO
    termios.tcsetattr(terminal.ours, termios.TCSANOW, settings)
    terminal.program.send_signal(signal.SIGCONT)
    terminal.wait_until(echoes=False)
    terminal.type(b"\n")
    assert terminal.end() == 0


@POSIX
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", ">/dev/full", ">&- 2>&-"])
def test_an_output_that_cannot_be_written_never_changes_the_exit_status(redirection):
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    program = "echo out; echo err >&2; sleep 0.2; echo out; echo err >&2; exit 4"
    script = f'"$@" {redirection}'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *EXEC, "sh", "-c", program],
        capture_output=True,
        cwd=catalog.ROOT,
    )
    assert done.returncode == 4


@POSIX
def test_a_closed_output_is_closed_for_the_program_too(tmp_path):
    code = "import os, sys; print(sys.stdout); sys.exit(7 if sys.stdout is None else 8)"
    script = '"$@" >&-'
    json_file = str(tmp_path / "x.json")  # opened with the number of standard output
    words = [*EXEC[:-1], "--json", json_file, "--", sys.executable, "-c", code]
    done = subprocess.run(["sh", "-c", script, "sh", *words], cwd=catalog.ROOT)
    assert done.returncode == 7


@POSIX
@pytest.mark.parametrize("name", ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("handled", [True, False])
def test_nothing_is_added_to_a_program_that_was_asked_to_end(name, handled):
    number = getattr(signal, name)
    handler = "lambda *_: sys.exit(1)" if handled else "signal.SIG_DFL"
    program = started(
        f"import signal, sys, time; signal.signal({int(number)}, {handler});"
        "print('ready', flush=True); time.sleep(60)",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores SIGHUP
    )
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(number)
    assert program.communicate(timeout=30)[1] == b""
    assert program.returncode == (1 if handled else 128 + number)


@POSIX
def test_a_signal_that_is_ignored_is_ignored_by_the_program_too():
    program = started(
        "print('ready', flush=True); import time; time.sleep(1); print('survived')",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # like nohup
    )
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(signal.SIGHUP)
    assert program.communicate(timeout=30)[0] == b"survived\n"
    assert program.returncode == 0


@POSIX
def test_a_signal_that_comes_before_the_program_is_there_is_handed_on(monkeypatch):
    real = subprocess.Popen

    def late(*arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        return real(*arguments, **options)

    monkeypatch.setattr(execution.subprocess, "Popen", late)
    ended = execution.run(["sleep", "20"], [])
    assert (ended.status, ended.interrupted) == (128 + signal.SIGTERM, True)


def test_a_name_with_a_nul_is_refused_in_words():
    done = call("exec", "--", "a\0b")
    assert done.exit_code == 126
    assert done.output == "torch-repros exec: a\\x00b: embedded null byte\n"


@POSIX
def test_a_daemon_that_goes_on_printing_is_left_in_the_end(monkeypatch):
    monkeypatch.setattr(execution, "LATE", 0.3)
    begun = time.monotonic()
    ended = execution.run(
        ["sh", "-c", "(for i in $(seq 100); do echo x; sleep 0.1; done) & exit 4"], []
    )
    assert (ended.status, len(ended.scans)) == (4, 2)
    assert time.monotonic() - begun < 8


def test_a_program_that_prints_for_a_while_is_whole():
    done = run("import time\nfor i in range(20): print(i, end='\\r', flush=True); time.sleep(0.05)")
    assert done.stdout == b"".join(b"%d\r" % i for i in range(20))
