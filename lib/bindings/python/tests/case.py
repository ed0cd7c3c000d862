"""The parts that the tests share."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import unittest

import quorum_redlock
from nodes import Nodes

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(PACKAGE)))

#: Options of clients on machines that are busy with other tests.
PATIENT = {"node_shortest_timeout": 20, "node_longest_timeout": 20}

_numbers = itertools.count(1)
_shared: list[Nodes] = []


def shared_nodes() -> Nodes:
    """A deployment of three servers for all tests that leave them alive."""
    if not _shared:
        _shared.append(Nodes(3))
        unittest.addModuleCleanup(lambda: _shared.pop().close())
    return _shared[0]


def fresh_resource() -> str:
    return f"resource-{os.getpid()}-{next(_numbers)}"


def environment() -> dict[str, str]:
    return dict(os.environ, PYTHONPATH=os.pathsep.join(
        [PACKAGE, os.path.dirname(os.path.abspath(__file__))]))


def run_python(program: str, *arguments: str, **options: object) -> subprocess.CompletedProcess:
    """Runs a program that imports the package, and waits for its end."""
    return subprocess.run([sys.executable, "-X", "dev", "-c", program, *arguments],
                          env=environment(), capture_output=True, text=True, timeout=180,
                          **options)


def begin_python(program: str, *arguments: str) -> tuple[int, subprocess.Popen]:
    """Starts a program. The descriptor is at its end when the program has ended."""
    end, other_end = os.pipe()
    begun = subprocess.Popen([sys.executable, "-c", program, *arguments], env=environment(),
                             pass_fds=[other_end])
    os.close(other_end)
    return end, begun


class ClientCase(unittest.TestCase):
    def setUp(self) -> None:
        self.nodes = shared_nodes()
        self.client = self.make_client()
        self.resource = fresh_resource()

    def make_client(self, **options: object) -> quorum_redlock.Client:
        client = quorum_redlock.Client(self.nodes.urls, **{**PATIENT, **options})
        self.addCleanup(client.close)
        return client

    def free(self, resource: str) -> bool:
        return self.client.inspect(resource).state == "free"
