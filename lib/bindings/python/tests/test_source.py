"""Debian's checkers find nothing in the package, its tests and its examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import unittest

from case import PACKAGE


class Source(unittest.TestCase):
    def check(self, *command: str) -> None:
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        run = subprocess.run(command, cwd=PACKAGE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 0, "\n" + run.stdout)

    def test_types_are_whole_and_right(self) -> None:
        self.check("mypy", "--strict", "--cache-dir", os.devnull)

    def test_nothing_is_unused_or_undefined(self) -> None:
        self.check("pyflakes3", "quorum_redlock", "tests", "examples")

    def test_the_form_is_that_of_pep_8(self) -> None:
        self.check("pycodestyle", "--max-line-length=100", "quorum_redlock", "tests", "examples")


if __name__ == "__main__":
    unittest.main()
