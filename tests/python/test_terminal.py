"""What stands on a terminal of so many columns."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def errors_on_a_terminal(program, columns: int, *arguments: object) -> str:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    subprocess.run([program, *map(str, arguments)], stderr=theirs, check=False, timeout=300)
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
    return text.decode().replace("\r\n", "\n")


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
