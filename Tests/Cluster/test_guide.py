"""Runs docs/scaling.md as a reader would: all blocks marked `sh` in one shell, in an empty folder, with real brokers.

It reads the page by the rules of the tutorial and the how-tos (Tests/CLITests/Documents/DocumentTests.swift): a block
marked `sh fails` must fail, and a block marked `text` after one of them is what the reader sees. PROFILED and NATS_SERVER
name the programs. The page's ports are fixed, so the shell has a network of its own where that is possible.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/scaling.md"
PROGRAM = pathlib.Path(os.environ.get("PROFILED", ROOT / ".build/debug/profiled")).absolute()
BROKER = pathlib.Path(os.environ.get("NATS_SERVER", ROOT / ".build/cluster/venv/bin/nats-server")).absolute()
# Between the outputs of two blocks.
MARK = "\x01"
MARKINGS = {"sh", "sh fails", "text", "console", "yaml", "ini"}
PREFIX = """
set -eu -o pipefail
unset PROFILELOG_STORE PROFILELOG_URL PROFILELOG_KEY
ip link set lo up 2>/dev/null || true
end() {
    local status=$?
    trap - EXIT
    kill -CONT $(jobs -p) 2>/dev/null || true
    kill $(jobs -p) 2>/dev/null || true
    sleep 1
    kill -9 $(jobs -p) 2>/dev/null || true
    wait
    exit $status
}
trap end EXIT
exec 2>&1
"""
TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
AMOUNT = r"\b\d+(?:[.,]\d+)* (?:ms|µs|s|min|h|d|bytes|KB|MB|KiB|MiB|events/s)(?![a-z])"


class Block:
    """A fenced block: the word after its fence, the number of that line, and its lines."""

    def __init__(self, marking, line):
        self.marking, self.line, self.lines = marking, line, []

    @property
    def is_commands(self):
        return self.marking in ("sh", "sh fails")

    @property
    def end(self):
        """The number of the line after its last fence."""
        return self.line + len(self.lines) + 2


def blocks(text):
    found, opened = [], None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            if opened:
                found.append(opened)
                opened = None
            else:
                opened = Block(line[3:], number)
        elif opened:
            opened.lines.append(line)
    return found


def comparable(line):
    """A line without what differs from run to run: times, durations, sizes, random IDs, widths of columns."""
    line = re.sub(AMOUNT, "AMOUNT", re.sub(r"\b[0-9a-f]{16,}\b", "ID", re.sub(TIME, "TIME", line)))
    return " ".join(line.split())


def fits(line, pattern):
    """Whether `line` is `pattern`, in which … stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None


def patterns(block, page):
    following = next((b for b in page if b.marking == "text" and b.line in (block.end, block.end + 1)), None)
    return [p for p in map(comparable, following.lines if following else []) if p not in ("", "…")]


def script(commands):
    parts = [PREFIX]
    for block in commands:
        text = "\n".join(block.lines)
        if "fails" in block.marking:
            text = f"if (\n{text}\n); then echo 'This must fail.'; exit 1; fi"
        parts.append(f"printf '\\n\\001\\n'\n{text}\n")
    return "".join(parts)


class GuideTests(unittest.TestCase):
    def test_commands(self):
        """Each command of docs/scaling.md works and prints what the page says."""
        page = blocks(PAGE.read_text())
        self.assertLessEqual({block.marking for block in page}, MARKINGS)
        commands = [block for block in page if block.is_commands]
        self.assertGreaterEqual(len(commands), 8)
        command = ["timeout", "-k", "10", "240", "bash", "-c", script(commands)]
        own = ["unshare", "--net", "--map-root-user"]
        if subprocess.run([*own, "true"], capture_output=True).returncode == 0:
            command = own + command
        with tempfile.TemporaryDirectory(prefix="profilelog-guide-") as folder:
            path = f"{PROGRAM.parent}:{BROKER.parent}:/usr/bin:/bin:/usr/sbin:/sbin"
            # The machine's own configuration is none of the page.
            environment = {"PATH": path, "HOME": folder, "PROFILED_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8"}
            done = subprocess.run(
                command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace")
            outputs = [part.split("\n", 1)[1] for part in done.stdout.split("\n" + MARK)[1:]]
            logs = "".join(
                f"\n{log.name}: {log.read_text(errors='replace')[-600:]}"
                for log in sorted(pathlib.Path(folder).glob("*.log"))) if done.returncode else ""
        last = commands[max(0, len(outputs) - 1)]
        self.assertEqual(
            done.returncode, 0, f"the block of line {last.line}: {outputs[-1] if outputs else done.stdout}{logs}")
        for block, output in zip(commands, outputs):
            rest = iter([comparable(line) for line in output.split("\n")])
            for pattern in patterns(block, page):
                self.assertTrue(
                    any(fits(line, pattern) for line in rest),
                    f"line {block.line}: “{pattern}” does not come in its place in:\n{output}")

    def test_rules(self):
        """A printed line is compared without times and amounts, and … stands for any text."""
        self.assertTrue(fits(comparable("a  12 ms  at 2026-01-04 07:45Z"), comparable("a 7 ms at 2025-12-31 23:59Z")))
        self.assertTrue(fits("Deleted a b c", "…a…c"))
        self.assertFalse(fits("Deleted a b c", "…c…a"))
        self.assertFalse(fits("Deleted a b c", "Deleted a b"))


if __name__ == "__main__":
    unittest.main()
