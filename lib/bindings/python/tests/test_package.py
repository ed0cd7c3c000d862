"""The examples run, the page's programs run and its names exist, and the package can be
installed."""

from __future__ import annotations

import builtins
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import quorum_redlock
from case import PACKAGE, ROOT, environment, run_python, shared_nodes
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

    def test_the_worker_ends_on_sigterm_and_gives_its_locks_back(self) -> None:
        urls = shared_nodes().urls
        worker = os.path.join(PACKAGE, "examples", "worker.py")
        with quorum_redlock.Client(urls) as client, client.lock("job/1"):
            # It waits for the second job, as the leader.
            with subprocess.Popen([sys.executable, "-u", worker, "first", *urls], text=True,
                                  env=environment(), stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                self.assertTrue(any("job 0 is done" in line for line in process.stdout))
                process.terminate()
                output, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode, output), (0, "ended by SIGTERM\n"))
            self.assertEqual(client.inspect("workers").state, "free")


class FirstProgram(unittest.TestCase):
    """The project's README, in a checkout."""

    def test_runs_as_it_stands_but_for_the_nodes(self) -> None:
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            program = re.search(r"^```python\n(.*?)^```", file.read(), re.S | re.MULTILINE)
        assert program is not None
        text, count = re.subn(r'Client\(\[[^\]]*\]\)', f"Client({shared_nodes().urls!r})",
                              program.group(1))
        self.assertEqual(count, 1)
        run = run_python(text)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"^write with the number \d+\n$")


_BEGIN = """
import asyncio, quorum_redlock, quorum_redlock.aio, quorum_redlock.deployment
from quorum_redlock import Client, Election, Lease, Lock, Stop
nodes = %r
def work_is_left(): return False
"""

#: As the page has them in its text.
_PARAMETERS = ("client: Client, lease: Lease, lock: Lock, election: Election, stop: Stop, "
               "error: quorum_redlock.RedlockError")


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.text = ""
        for page in _PAGES:
            with open(page, encoding="utf-8") as file:
                cls.text += file.read()
        cls.programs = re.findall(r"^```python\n(.*?)^```", cls.text, re.S | re.MULTILINE)

    def test_their_programs_run(self) -> None:
        self.assertGreaterEqual(len(self.programs), 7)
        with Nodes(3) as nodes:
            for program in self.programs:
                with self.subTest(program=program):
                    run = run_python(_BEGIN % nodes.urls + program)
                    self.assertEqual(run.returncode, 0, run.stderr)

    def names(self) -> set[str]:
        """The names of the package in the text between the programs."""
        spans = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", self.text, flags=re.S | re.M))
        words = "|".join(re.findall(r"(\w+):", _PARAMETERS))
        names = set(re.findall(rf"\b(?:(?:{words})\.|quorum_redlock\.(?:aio\.|deployment\.)?)\w+",
                               " ".join(spans)))
        names |= {f"quorum_redlock.{'errors.' * name.endswith('TimeoutError')}{name}"
                  for span in spans
                  for name in re.findall(r"\b(?<!\.)\w+Error\b", span)
                  if not hasattr(builtins, name)}
        table = re.search(r"^\| of a lease \|.*?\n\n", self.text, re.S | re.M)[0]
        return names | {f"lease.{name}" for row in table.split("\n|")[2:]
                        for name in re.findall(r"`(\w+)", row.split("|")[0])}

    def test_what_they_name_and_show_exists(self) -> None:
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not installed")
        names = self.names()
        self.assertGreater(len(names), 40)
        with tempfile.TemporaryDirectory() as folder:
            def write(name: str, text: str) -> str:
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(_BEGIN % [""] + text)
                return path

            files = [write(f"program{i}.py", program) for i, program in enumerate(self.programs)]
            files.append(write("names.py", f"def names({_PARAMETERS}) -> None:\n" + "".join(
                f"    {name}\n" for name in sorted(names))))
            run = subprocess.run(
                ["mypy", "--config-file=", "--enable-incomplete-feature=Unpack",
                 "--check-untyped-defs", "--cache-dir", os.devnull, *files],
                env=dict(os.environ, MYPYPATH=PACKAGE), cwd=folder, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)


class Installation(unittest.TestCase):
    def test_pip_installs_the_package(self) -> None:
        for tool in ("pip", "setuptools", "wheel"):
            if importlib.util.find_spec(tool) is None:
                self.skipTest(f"{tool} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            # A copy: setuptools builds among the sources.
            source, target = os.path.join(folder, "source"), os.path.join(folder, "target")
            subprocess.run(["cp", "-rL", PACKAGE, source], check=True)
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

    def test_the_commands_of_the_page_install_it_in_a_venv(self) -> None:
        for tool in ("ensurepip", "setuptools", "wheel"):
            if importlib.util.find_spec(tool) is None:
                self.skipTest(f"{tool} is not installed")
        with open(_PAGES[0], encoding="utf-8") as file:
            commands = re.search(r"^(python3 -m venv .*\n.*/pip install .*)\n```", file.read(),
                                 re.MULTILINE)
        assert commands is not None
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "lib", "bindings", "python")
            os.makedirs(os.path.dirname(copy))
            subprocess.run(["cp", "-rL", PACKAGE, copy], check=True)
            environment = dict(os.environ, PIP_NO_INDEX="1", PATH=os.pathsep.join(
                [os.path.dirname(sys.executable), os.environ["PATH"]]))
            del environment["PYTHONPATH"]
            install = subprocess.run(["sh", "-e", "-c", commands[1]], env=environment, cwd=folder,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(install.returncode, 0, install.stdout)
            output = subprocess.run(
                ["venv/bin/python", "-c", "import quorum_redlock\n"
                 "print(quorum_redlock.__file__, quorum_redlock.library_version())"],
                env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout
            self.assertRegex(
                output, rf"^{folder}/venv/.*/quorum_redlock/__init__.py \d+\.\d+\.\d+$")

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
