"""A wheel that carries the library, as it is installed. Run by tests/packages/wheel, and by
test_package."""

from __future__ import annotations

import os
import re
import unittest

import quorum_redlock
import quorum_redlock.aio
from nodes import Nodes


class Carried(unittest.TestCase):
    def test_it_loads_what_it_carries_and_nothing_else(self) -> None:
        self.assertEqual(quorum_redlock.library_version(), quorum_redlock.__version__)
        with open("/proc/self/maps", encoding="utf-8") as file:
            loaded = {line.split()[-1] for line in file if ".so" in line}
        package = os.path.dirname(os.path.realpath(quorum_redlock.__file__))
        folder = os.path.join(package, "_bundled")
        carried = {os.path.join(folder, name) for name in os.listdir(folder) if ".so" in name}
        self.assertGreaterEqual(len(carried), 3)
        # Python itself may load OpenSSL.
        self.assertEqual(carried, {path for path in loaded if path in carried or re.search(
            "libredlock|libuv|libhiredis", path)})


class Used(unittest.TestCase):
    def test_it_takes_a_lock(self) -> None:
        with Nodes(3) as nodes, quorum_redlock.Client(nodes.urls) as client:
            with client.lock("resource", fencing=True) as lease:
                self.assertTrue(lease.valid)
                self.assertGreater(lease.fencing_token, 0)


if __name__ == "__main__":
    unittest.main()
