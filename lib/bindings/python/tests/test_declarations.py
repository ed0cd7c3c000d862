"""The declarations of the package are those of redlock.h, and its version that of the library."""

from __future__ import annotations

import asyncio
import builtins
import concurrent.futures
import ctypes
import multiprocessing
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import get_args

import quorum_redlock
from case import PACKAGE, ROOT, run_python
from quorum_redlock import _library, _structs, literals

HEADER = os.path.join(ROOT, "include", "redlock.h")


class Declarations(unittest.TestCase):
    def test_the_header_is_that_of_the_library(self) -> None:
        with open(HEADER, encoding="utf-8") as ours, open(
                os.path.join(PACKAGE, "quorum_redlock", "redlock.h"), encoding="utf-8") as carried:
            self.assertEqual(carried.read(), ours.read())

    def test_it_is_read_to_its_end(self) -> None:
        header = _structs.header
        self.assertIn("redlock_list_locks", header.functions)
        self.assertGreaterEqual(len(header.functions), 140)
        self.assertEqual(_structs.TARGET_ALL_OF, 4)
        self.assertEqual(_structs.NODE_EVENT_KINDS[-1], "counters_reset")
        self.assertEqual(_structs.EVENT_LEVELS, ("debug", "info", "warning"))
        self.assertEqual(_structs.OBSERVATION_KINDS[-1], "lease_lost")

    def test_each_status_has_an_exception(self) -> None:
        from quorum_redlock.errors import _BY_STATUS
        with open(HEADER, encoding="utf-8") as file:
            text = file.read()
        body = re.search(r"typedef int32_t redlock_status;\s*enum \{(.*?)\}", text, re.S)[1]
        statuses = {int(value): name for name, value in
                    re.findall(r"REDLOCK_(\w+) = (\d+)", body)}
        del statuses[0]
        self.assertEqual({number: kind.code for number, kind in _BY_STATUS.items()},
                         {number: name.lower() for number, name in statuses.items()})
        for number, kind in _BY_STATUS.items():
            self.assertEqual(_library.lib.redlock_status_name(number).decode(), kind.code)

    def test_the_words_of_states_are_those_of_the_library(self) -> None:
        for call, words in (("state", literals.State), ("lock_kind", literals.LockKind),
                            ("vote", literals.Vote)):
            name = getattr(_library.lib, f"redlock_{call}_name")
            known = get_args(words)
            self.assertEqual(tuple(name(i).decode() for i in range(len(known))), known)
            self.assertEqual(name(len(known)), b"unknown")
        holder_kind = _library.lib.redlock_holder_kind_name
        known = (None, *get_args(literals.HolderKind))
        self.assertEqual([holder_kind(i).decode() for i in range(len(known) + 1)],
                         ["none", *known[1:], "unknown"])
        self.assertEqual(get_args(literals.NodeEventKind),
                         (*_structs.NODE_EVENT_KINDS, "unknown"))
        self.assertEqual(get_args(literals.EventLevel), (*_structs.EVENT_LEVELS, "unknown"))
        self.assertEqual(get_args(literals.ObservationKind),
                         (*_structs.OBSERVATION_KINDS, "unknown"))
        from quorum_redlock.errors import _BY_STATUS
        self.assertEqual(get_args(literals.ErrorCode),
                         (*(kind.code for kind in _BY_STATUS.values()), "unknown"))

    def test_every_exception_is_an_error(self) -> None:
        from quorum_redlock import errors
        for kind in filter(lambda kind: isinstance(kind, type), vars(errors).values()):
            if issubclass(kind, BaseException):
                with self.subTest(kind=kind):
                    self.assertTrue(kind.__name__.endswith("Error"))
                    self.assertTrue(issubclass(kind, quorum_redlock.RedlockError))

    def test_no_exception_hides_one_of_python(self) -> None:
        """As `from quorum_redlock import *` would after `from asyncio import *`."""
        from quorum_redlock import errors
        ours = {name for name, kind in vars(errors).items() if isinstance(kind, type)}
        for module in (asyncio, builtins, concurrent.futures, multiprocessing, queue):
            self.assertEqual(ours & {name for name, kind in vars(module).items()
                                     if isinstance(kind, type)}, set(), module)

    def test_the_compiler_lays_the_structs_out_in_the_same_way(self) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler is installed")
        structs = _structs.header.structs
        places = [(name, field) for name, struct in structs.items()
                  for field, *_ in struct._fields_]
        lines = "\n".join(
            [f'  printf("{name} %zu\\n", sizeof({name}));' for name in structs] +
            [f'  printf("{name}.{field} %zu\\n", offsetof({name}, {field}));'
             for name, field in places])
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "layout.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <redlock.h>\n#include <stdio.h>\n"
                           f"int main(void) {{\n{lines}\n  return 0;\n}}\n")
            program = os.path.join(folder, "layout")
            subprocess.run([compiler, "-I", os.path.dirname(HEADER), source, "-o", program],
                           check=True)
            output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        ours = [f"{name} {ctypes.sizeof(struct)}" for name, struct in structs.items()]
        ours += [f"{name}.{field} {getattr(structs[name], field).offset}"
                 for name, field in places]
        self.assertEqual(output.splitlines(), ours)


class Version(unittest.TestCase):
    def test_it_is_that_of_the_library(self) -> None:
        with open(os.path.join(ROOT, "include", "redlock", "version.hpp"),
                  encoding="utf-8") as file:
            numbers = re.findall(r"^#define REDLOCK_VERSION_\w+ (\d+)$", file.read(), re.MULTILINE)
        self.assertEqual(quorum_redlock.__version__, ".".join(numbers))
        self.assertEqual(quorum_redlock.library_version(), quorum_redlock.__version__)

    def test_a_missing_library_is_one_clear_error(self) -> None:
        run = run_python("import os; os.environ['REDLOCK_LIBRARY'] = '/nowhere/libredlock.so'\n"
                         "try:\n  import quorum_redlock\nexcept ImportError as e: print(e)\n")
        self.assertEqual(run.stderr, "")
        self.assertIn("/nowhere/libredlock.so cannot be loaded", run.stdout)
        self.assertIn("REDLOCK_LIBRARY", run.stdout)
        self.assertEqual(run.stdout.count("\n"), 1)

    def test_the_systems_loader_finds_it(self) -> None:
        library = os.path.realpath(os.environ["REDLOCK_LIBRARY"])
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(library, os.path.join(folder, _library._NAME))
            environment = dict(os.environ, LD_LIBRARY_PATH=folder)
            del environment["REDLOCK_LIBRARY"]
            run = subprocess.run(
                [sys.executable, "-c", "import quorum_redlock as r; print(r.now() > 0)"],
                env=environment, capture_output=True, text=True)
        self.assertEqual((run.stdout, run.stderr), ("True\n", ""))

    def test_another_version_is_refused(self) -> None:
        run = run_python(
            "import importlib.util, sys, types\n"
            "folder = sys.argv[1] + '/quorum_redlock'\n"
            "package = types.ModuleType('quorum_redlock'); package.__path__ = [folder]\n"
            "sys.modules['quorum_redlock'] = package\n"
            "import quorum_redlock._version as v\nv.__version__ = '9.7.1'\n"
            "try:\n  import quorum_redlock._library\nexcept ImportError as e: print(e)\n", PACKAGE)
        self.assertEqual(run.stderr, "")
        self.assertIn(f"is version {quorum_redlock.library_version()}; this package needs 9.7",
                      run.stdout)

    def test_another_library_is_refused(self) -> None:
        run = run_python("import os; os.environ['REDLOCK_LIBRARY'] = 'libc.so.6'\n"
                         "try:\n  import quorum_redlock\nexcept ImportError as e: print(e)\n")
        self.assertIn("libc.so.6 has no interface for C", run.stdout)


if __name__ == "__main__":
    unittest.main()
