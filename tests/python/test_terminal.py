"""What stands on a terminal of so many columns."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def errors_on_a_terminal(program, columns: int, *arguments: object) -> str:
    return on_a_terminal(columns, "stderr", program, *arguments)


def on_a_terminal(columns: int, stream: str, *words: object) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    running = subprocess.Popen([*map(str, words)], **streams)  # it may print more than waits there
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed and all is read
            break
        if not part:
            break
        text += part
    os.close(ours)
    running.wait(timeout=300)
    return text.decode().replace("\r\n", "\n")


def test_the_list_of_faults_is_bold_where_a_terminal_can(program):
    shown = on_a_terminal(120, "stdout", program, "drill", "--list")
    assert "\x1b[1m" in shown and "\\x1b" not in shown


def test_errors_are_folded_at_words(program, small, command):
    wrong = ("run", small, "--set", "cluster.node.gpu.power=abc", "--quiet")
    whole = command(*wrong).stderr
    assert max(map(len, whole.splitlines())) > 60
    shown = errors_on_a_terminal(program, 60, *wrong)
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.split() == whole.split()


def test_lines_of_the_input_stay_whole(program, tmp_path, command):
    file = tmp_path / "s.yaml"
    file.write_text(f"headway: 1\nname: {'long ' * 20}\ncluster: 7\n", encoding="utf-8")
    whole = command("check", file).stderr
    shown = errors_on_a_terminal(program, 40, "check", file)
    lines = [line for line in whole.splitlines() if "|" in line]
    assert lines
    assert all(line in shown.splitlines() for line in lines)


def test_a_table_of_collectives_folds_where_rows_of_nccl_tests_have_no_room(program, command):
    words = ("collective", "all_reduce", "--cluster", "dgx-h100", "--color", "never")
    narrow = on_a_terminal(80, "stdout", program, *words)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "busbw" in narrow and "out-of-place" not in narrow
    wide = on_a_terminal(120, "stdout", program, *words)
    assert wide == command(*words).stdout
    assert "out-of-place" in wide


def test_help_fits_a_terminal(program):
    for verb in ("run", "plan", "calibrate", "calibrate fit", "collective", "sweep", "import"):
        shown = on_a_terminal(80, "stdout", program, *verb.split(), "--help")
        assert max(map(len, shown.splitlines())) <= 80, verb
