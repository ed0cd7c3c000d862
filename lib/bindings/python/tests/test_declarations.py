"""The declarations of the package are those of redlock.h, and its version that of the library."""

from __future__ import annotations

import ctypes
import os
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

_PLAIN = {
    "void": None, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "char": ctypes.c_char,
}
_OPAQUE = {"void", "redlock_client", "redlock_async", "redlock_lease", "redlock_stop",
           "redlock_election", "redlock_leadership", "redlock_dispatcher", "redlock_credentials",
           "uv_loop_s"}


def header_text() -> str:
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"^#[^\n]*(\\\n[^\n]*)*", "", text, flags=re.MULTILINE)


class Header:
    """The declarations of redlock.h, in terms of ctypes."""

    def __init__(self) -> None:
        self.text = header_text()
        self.integers = {name: kind for kind, name in
                         re.findall(r"typedef (\w+) (redlock_\w+);", self.text)}
        self.structs = dict(re.findall(r"typedef struct (redlock_\w+) \{(.*?)\} \1;", self.text,
                                       re.S))
        # The header may declare more than the package calls.
        self.known = {name: body for name, body in self.structs.items()
                      if title_of(name) in _structs.ALL}
        self.callbacks = {
            name: (result, arguments) for result, name, arguments in
            re.findall(r"typedef (\w+) \(\*(redlock_\w+)\)\((.*?)\);", self.text, re.S)}
        self.functions = {
            name: (result.strip(), arguments) for result, name, arguments in
            re.findall(r"REDLOCK_C_EXPORT\s+([\w\s*]+?)\s*(redlock_\w+)"
                       r"\(((?:[^()]|\([^()]*\))*)\);", self.text, re.S)}
        self.numbers: dict[str, int] = {}
        for body in re.findall(r"\benum \{(.*?)\}", self.text, re.S):
            self.numbers.update((name, int(value)) for name, value in
                                re.findall(r"REDLOCK_(\w+) = (\d+)", body))

    def type_of(self, declaration: str) -> object:
        """The type of "const char* const* names", "void (*call)(void* context)", or a mere type."""
        pointer = re.match(r"\s*(\w+) \(\*\w*\)\((.*)\)\s*$", declaration, re.S)
        if pointer:
            return self.callback_type(*pointer.groups())
        words = re.sub(r"\b(const|struct)\b", " ", declaration).strip()
        name, stars = re.match(r"(\w+)\s*((?:\*\s*)*)", words).groups()
        depth = stars.count("*")
        name = self.integers.get(name, name)
        if name in self.callbacks:
            return self.callback_type(*self.callbacks[name])
        if name in _OPAQUE and depth:
            kind: object = ctypes.c_void_p
            depth -= 1
        elif name == "char" and depth:
            kind = ctypes.c_char_p
            depth -= 1
        elif name in _PLAIN:
            kind = _PLAIN[name]
        else:
            kind = struct_named(name)
        for _ in range(depth):
            kind = ctypes.POINTER(kind)
        return kind

    def callback_type(self, result: str, arguments: str) -> object:
        return ctypes.CFUNCTYPE(self.type_of(result), *self.argument_types(arguments))

    def argument_types(self, arguments: str) -> list[object]:
        if arguments.strip() == "void":
            return []
        parts = re.findall(r"(?:[^,()]|\((?:[^()]|\([^()]*\))*\))+", arguments)
        return [self.type_of(part) for part in parts]


def title_of(name: str) -> str:
    return "".join(word.title() for word in name[len("redlock_"):].split("_"))


def struct_named(name: str) -> type:
    return _structs.ALL[title_of(name)]


class Declarations(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.header = Header()

    def test_structs_are_those_of_the_header(self) -> None:
        header = self.header
        self.assertEqual(len(header.known), len(_structs.ALL))
        for name, body in header.known.items():
            fields = []
            for declaration in filter(None, map(str.strip, body.split(";"))):
                field = re.search(r"\(\*(\w+)\)|(\w+)$", declaration)
                fields.append((field[1] or field[2], header.type_of(declaration)))
            with self.subTest(struct=name):
                self.assertEqual(struct_named(name)._fields_, fields)

    def test_functions_are_those_of_the_header(self) -> None:
        header = self.header
        self.assertGreaterEqual(len(header.functions), 80)
        for name, (result, arguments) in _library.FUNCTIONS.items():
            with self.subTest(function=name):
                self.assertIn(name, header.functions)
                declared_result, declared = header.functions[name]
                wanted = header.argument_types(declared)
                if name == "redlock_client_prometheus":  # the text is to be freed
                    wanted[4] = ctypes.POINTER(ctypes.c_void_p)
                if name == "redlock_text_free":
                    wanted[0] = ctypes.c_void_p
                self.assertEqual(result, header.type_of(declared_result))
                self.assertEqual(arguments, wanted)

    def test_numbers_are_those_of_the_header(self) -> None:
        numbers = self.header.numbers
        for name in ("OK", "TARGET_EXCLUSIVE", "TARGET_SHARED", "TARGET_OWNED",
                     "TARGET_PERMIT", "TARGET_ALL_OF"):
            self.assertEqual(getattr(_structs, name), numbers[name])
        for prefix, names in (("NODE", _structs.NODE_EVENT_KINDS),
                              ("LEVEL", _structs.EVENT_LEVELS),
                              ("", _structs.OBSERVATION_KINDS)):
            for number, name in enumerate(names):
                self.assertEqual(numbers[f"{prefix}_{name}".strip("_").upper()], number)

    def test_each_status_has_an_exception(self) -> None:
        from quorum_redlock.errors import _BY_STATUS
        text = self.header.text
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

    def test_help_lists_the_options(self) -> None:
        for options in (quorum_redlock.ClientOptions, quorum_redlock.AcquireOptions):
            entries = re.findall(r"^    (\w+): (.*?)(?=\n    \w|\Z)", options.__doc__, re.S | re.M)
            self.assertEqual([name for name, _ in entries], list(options.__annotations__))
            for name, text in entries:
                with self.subTest(option=name):
                    self.assertIn("Default: ", text)

    def test_the_compiler_lays_the_structs_out_in_the_same_way(self) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("no C compiler is installed")
        places = [(name, field) for name in self.header.known
                  for field, *_ in struct_named(name)._fields_]
        lines = "\n".join(
            [f'  printf("{name} %zu\\n", sizeof({name}));' for name in self.header.known] +
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
        ours = [f"{name} {ctypes.sizeof(struct_named(name))}" for name in self.header.known]
        ours += [f"{name}.{field} {getattr(struct_named(name), field).offset}"
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
