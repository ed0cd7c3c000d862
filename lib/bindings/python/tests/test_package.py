"""The examples run, the page's programs run, and the package can be installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from case import PACKAGE, ROOT, run_python, shared_nodes
from nodes import Nodes

_PAGES = (os.path.join(ROOT, "tools", "docs", "PYTHON.md"), os.path.join(PACKAGE, "README.md"))


class Examples(unittest.TestCase):
    def run_example(self, name: str, *arguments: str) -> str:
        path = os.path.join(PACKAGE, "examples", name)
        run = run_python(f"import runpy; runpy.run_path({path!r}, run_name='__main__')",
                         *arguments, *shared_nodes().urls)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_the_nightly_report(self) -> None:
        self.assertRegex(self.run_example("nightly_report.py"),
                         r"part 0, with the number \d+\npart 1, .*\npart 2, .*\n")

    def test_the_worker(self) -> None:
        output = self.run_example("worker.py", "first")
        self.assertRegex(output, r"the leader, in term \d+\n")
        for number in range(3):
            self.assertIn(f"job {number} is done under job/{number}\n", output)


class Pages(unittest.TestCase):
    def test_their_programs_run(self) -> None:
        programs: list[str] = []
        for page in _PAGES:
            with open(page, encoding="utf-8") as file:
                programs += re.findall(r"^```python\n(.*?)^```", file.read(), re.S | re.MULTILINE)
        self.assertGreaterEqual(len(programs), 7)
        with Nodes(3) as nodes:
            for program in programs:
                with self.subTest(program=program):
                    run = run_python(
                        "import asyncio, quorum_redlock, quorum_redlock.aio\n"
                        f"nodes = {nodes.urls!r}\n"
                        "def work_is_left(): return False\n" + program)
                    self.assertEqual(run.returncode, 0, run.stderr)


class Installation(unittest.TestCase):
    def test_pip_installs_the_package(self) -> None:
        for tool in ("pip", "setuptools", "wheel"):
            if importlib.util.find_spec(tool) is None:
                self.skipTest(f"{tool} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            # A copy: setuptools builds among the sources.
            source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
            subprocess.run(["cp", "-r", PACKAGE, source], check=True)
            subprocess.run([sys.executable, "-m", "pip", "install", "--no-build-isolation",
                            "--no-deps", "--no-index", "--disable-pip-version-check", "--quiet",
                            "--root-user-action=ignore", "--target", target, source], check=True)
            environment = dict(os.environ, PYTHONPATH=target)
            output = subprocess.run(
                [sys.executable, "-c", "import quorum_redlock.aio, importlib.metadata as m\n"
                 "version = m.version('quorum-redlock')\n"
                 "print(quorum_redlock.__file__, version == quorum_redlock.__version__)"],
                env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout
            self.assertEqual(output, f"{target}/quorum_redlock/__init__.py True\n")
            self.assertTrue(os.path.exists(os.path.join(target, "quorum_redlock", "py.typed")))

    def test_a_wheel_carries_the_library(self) -> None:
        for tool in ("patchelf", "strip"):
            if shutil.which(tool) is None:
                self.skipTest(f"{tool} is not installed")
        for tool in ("pip", "setuptools", "wheel"):
            if importlib.util.find_spec(tool) is None:
                self.skipTest(f"{tool} is not installed")
        build = os.path.dirname(os.path.dirname(os.environ["REDLOCK_LIBRARY"]))
        with tempfile.TemporaryDirectory() as target:
            environment = dict(os.environ, PYTHON=sys.executable)
            wheel = subprocess.run([os.path.join(ROOT, "tools", "packaging", "python", "run"),
                                    build], env=environment, check=True, capture_output=True,
                                   text=True).stdout.strip()
            subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--quiet",
                            "--disable-pip-version-check", "--root-user-action=ignore",
                            "--target", target, os.path.join(ROOT, wheel)], check=True)
            del environment["REDLOCK_LIBRARY"]
            environment["PYTHONPATH"] = os.pathsep.join(
                [target, os.path.dirname(os.path.abspath(__file__))])
            run = subprocess.run([sys.executable, "-m", "unittest", "test_wheel"],
                                 env=environment, cwd=target, capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
