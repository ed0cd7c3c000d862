"""The blocking client when gevent has made greenlets of all threads."""

from __future__ import annotations

import importlib.util
import unittest

from case import PATIENT, fresh_resource, run_python, shared_nodes

_BEGIN = f"""
from gevent import monkey
monkey.patch_all()
import sys, threading, gevent, quorum_redlock
resource, nodes = sys.argv[1], sys.argv[2:]
client = quorum_redlock.Client(nodes, **{PATIENT!r})
def waited_for():
    while not client.inspect(resource).waiters:
        gevent.sleep(0.01)
"""


@unittest.skipIf(importlib.util.find_spec("gevent") is None, "gevent is not installed")
class Greenlets(unittest.TestCase):
    def run_program(self, program: str) -> str:
        run = run_python(_BEGIN + program, fresh_resource(), *shared_nodes().urls)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_a_holder_releases_while_another_greenlet_waits(self) -> None:
        self.assertEqual(self.run_program("""
lease = client.acquire(resource)
def contend(number):
    with client.lock(resource):
        return number
waiters = [gevent.spawn(contend, number) for number in range(20)]
thread = threading.Thread(target=contend, args=(20,))
thread.start()
waited_for()
lease.release()
gevent.joinall(waiters, raise_error=True)
thread.join()
print(sorted(waiter.value for waiter in waiters) == list(range(20)))
client.close()
"""), "True\n")

    def test_credentials_come_from_a_greenlet(self) -> None:
        self.assertEqual(self.run_program(f"""
client.close()
hub, greenlets = gevent.get_hub(), []
def provide(url):
    gevent.sleep(0.01)
    greenlets.append(gevent.get_hub() is hub)
    return ""
print(quorum_redlock.deployment.list_locks(nodes, credentials=provide).complete)
own = quorum_redlock.Client(nodes, credentials=provide, **{PATIENT!r})
own.acquire(resource).release()
own.close()
print(len(greenlets) >= 5, all(greenlets))
"""), "True\nTrue True\n")

    def test_each_greenlet_holds_for_itself(self) -> None:
        self.assertEqual(self.run_program("""
lock = client.lock(resource)
def other():
    try:
        lock.release()
    except quorum_redlock.NotHolderError:
        return lock.acquire(timeout=0.02), lock.locked()
with lock:
    print(gevent.spawn(other).get())
client.close()
"""), "(False, True)\n")

    def test_what_a_greenlet_left_is_anybodys(self) -> None:
        self.assertEqual(self.run_program("""
lock = client.lock(resource)
print(gevent.spawn(lock.acquire).get())
gevent.sleep(0)
lock.release()
print(client.inspect(resource).state)
client.close()
"""), "True\nfree\n")

    def test_a_timeout_and_a_kill_end_a_wait(self) -> None:
        self.assertEqual(self.run_program("""
with client.acquire(resource):
    with gevent.Timeout(0.05, False):
        client.acquire(resource)
        print("granted")
    killed = gevent.spawn(client.acquire, resource)
    waited_for()
    killed.kill()
    while client.inspect(resource).waiters:
        gevent.sleep(0.01)
client.acquire(resource, wait=30).release()
client.close()
print(isinstance(killed.value, gevent.GreenletExit))
"""), "True\n")

    def test_callbacks_are_greenlets(self) -> None:
        self.assertEqual(self.run_program("""
main, seen = gevent.get_hub(), []
def lost(error):
    gevent.sleep(0.001)
    client.inspect(resource)
    seen.append(gevent.get_hub() is main)
lease = client.acquire(resource, ttl=0.2, renew=False, on_lost=lost)
print(lease.lost.wait())
while not seen:
    gevent.sleep(0.01)
print(seen, lease.valid)
client.close()
gevent.wait()
"""), "True\n[True] False\n")

    def test_a_watch_and_an_election(self) -> None:
        self.assertEqual(self.run_program("""
def watched():
    with client.watch(resource) as watch:
        for inspection in watch:
            print(inspection.state, flush=True)
            if inspection.state == "held":
                return
greenlet = gevent.spawn(watched)
gevent.sleep(0)
while client.inspect(resource).nodes[0].error:
    gevent.sleep(0.01)
with client.election(resource).campaign() as leadership:
    greenlet.get()
    print(leadership.valid)
client.close()
""").splitlines()[-2:], ["held", "True"])

    def test_the_end_of_the_program_releases(self) -> None:
        self.run_program("""
lease = client.acquire(resource)
def contend():
    try:
        client.acquire(resource)
    except quorum_redlock.ClosedError:
        pass
gevent.spawn(contend)
waited_for()
""")


if __name__ == "__main__":
    unittest.main()
