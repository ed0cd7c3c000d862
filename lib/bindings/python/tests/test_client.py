"""The blocking client, against real servers."""

from __future__ import annotations

import gc
import logging
import pickle
import threading
import unittest
import warnings
import weakref
from datetime import timedelta

import quorum_redlock
from case import ClientCase, PATIENT, fresh_resource
from nodes import Nodes, eventually


class Locks(ClientCase):
    def test_a_block_holds_the_lock(self) -> None:
        with self.client.lock(self.resource, ttl=10, fencing=True) as lease:
            self.assertEqual(lease.resource, self.resource)
            self.assertEqual(lease.resources, (self.resource,))
            self.assertTrue(lease.valid)
            self.assertGreater(lease.fencing_token, 0)
            self.assertGreater(lease.valid_until, quorum_redlock.now())
            self.assertTrue(0 < lease.remaining <= 10)
            self.assertFalse(lease.lost.is_set())
            self.assertGreaterEqual(sum(vote.vote == "granted" for vote in lease.round.votes), 2)
            eventually(lambda: self.nodes.count_with(self.resource, lease.token) == 3)
            self.assertIn(self.resource, repr(lease))
        self.assertFalse(lease.valid)
        self.assertEqual((lease.remaining, lease.valid_until), (0, 0))
        self.assertFalse(lease.lost.is_set())
        self.assertEqual(lease.resource, self.resource)
        self.assertTrue(self.free(self.resource))

    def test_without_fencing_there_is_no_number(self) -> None:
        with self.client.lock(self.resource) as lease:
            self.assertIsNone(lease.fencing_token)

    def test_it_refuses_and_says_who_has_it(self) -> None:
        other = self.make_client(name="the other", name_holders=True)
        with self.make_client(name="a night job").lock(self.resource) as lease:
            self.assertIsNone(other.try_lock(self.resource))
            with self.assertRaises(quorum_redlock.Held) as caught:
                other.lock(self.resource, wait=timedelta(milliseconds=20))
        error = caught.exception
        self.assertIsInstance(error, quorum_redlock.NotGranted)
        self.assertIn(self.resource, str(error))
        self.assertEqual((error.code, error.holder_name), ("held", "a night job"))
        self.assertEqual(len(error.votes), 3)
        self.assertIn(lease.token, {vote.holder for vote in error.votes})
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copy), str(copy), copy.round),
                         (quorum_redlock.Held, str(error), error.round))

    def test_waiters_get_it_in_turn(self) -> None:
        first = self.client.lock(self.resource)
        granted = []

        def contend() -> None:
            with self.make_client().lock(self.resource) as lease:
                granted.append(lease.token)

        threads = [threading.Thread(target=contend) for _ in range(3)]
        for thread in threads:
            thread.start()
        eventually(lambda: self.client.inspect(self.resource).waiters == 3)
        first.release()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(granted)), 3)

    def test_a_lease_is_extended_and_renewed(self) -> None:
        with self.client.lock(self.resource, ttl=0.3, renew=False) as lease:
            self.assertEqual(lease.extend(timedelta(seconds=20)).ttl, 20)
            self.assertGreater(lease.remaining, 10)
        with self.client.lock(self.resource, ttl=1) as lease:
            deadline = lease.valid_until
            eventually(lambda: lease.valid_until > deadline)

    def test_an_ended_lease_is_nobodys(self) -> None:
        lease = self.client.lock(self.resource)
        lease.release()
        for call in (lease.release, lambda: lease.extend(1)):
            with self.assertRaises(quorum_redlock.NotHolder):
                call()

    def test_a_dropped_lease_is_released(self) -> None:
        self.client.lock(self.resource, ttl=30)
        gc.collect()
        eventually(lambda: self.free(self.resource))

    def test_an_expired_lease_is_lost(self) -> None:
        reports, at_risk = [], []
        with self.assertRaises(quorum_redlock.NotHolder):
            with self.client.lock(self.resource, ttl=0.2, max_renewals=0, on_lost=reports.append,
                                  on_at_risk=at_risk.append) as lease:
                self.assertTrue(lease.lost.wait(30))
                self.assertFalse(lease.valid)
                eventually(lambda: reports and at_risk)
        self.assertIsInstance(reports[0], quorum_redlock.RedlockError)
        self.assertEqual((len(reports), len(at_risk)), (1, 1))

    def test_the_error_of_a_block_goes_before_that_of_the_release(self) -> None:
        with self.assertRaises(KeyError), self.assertLogs("quorum_redlock", logging.WARNING):
            with self.client.lock(self.resource, ttl=0.2, renew=False) as lease:
                lease.lost.wait(30)
                raise KeyError

    def test_a_callback_that_fails_is_logged(self) -> None:
        def fail(error: quorum_redlock.RedlockError) -> None:
            raise ValueError("from a callback")

        done = threading.Event()
        with self.assertLogs("quorum_redlock", logging.ERROR) as logged:
            with self.assertRaises(quorum_redlock.NotHolder):
                with self.client.lock(self.resource, ttl=0.2, renew=False, on_lost=fail) as lease:
                    lease.lost.wait(30)
            eventually(lambda: logged.output)
            # The next one comes all the same, and may call the client.
            other = self.client.lock(self.resource, ttl=0.2, renew=False, on_lost=lambda error: (
                self.client.inspect(self.resource), done.set()))
            self.assertTrue(done.wait(30))
        self.assertIn("from a callback", logged.output[0])
        del other

    def test_kinds(self) -> None:
        other = self.make_client()
        name = self.resource
        with self.client.lock(quorum_redlock.shared(name)), other.lock(quorum_redlock.shared(name)):
            self.assertEqual(self.client.inspect(name).kind, "shared")
            self.assertIsNone(other.try_lock(name))
        mine = quorum_redlock.owned(name, "me")
        with self.client.lock(mine), other.lock(mine):
            self.assertIsNone(other.try_lock(quorum_redlock.owned(name, "you")))
        jobs = quorum_redlock.permit(fresh_resource(), 2)
        with self.client.lock(jobs) as first, self.client.lock(jobs) as second:
            self.assertEqual(len({first.resource, second.resource}), 2)
            self.assertIsNone(other.try_lock(jobs))
        names = [fresh_resource(), fresh_resource()]
        with self.client.lock(quorum_redlock.all_of(names)) as lease:
            self.assertEqual(lease.resources, tuple(names))
            self.assertIsNone(other.try_lock(names[1]))
        self.assertEqual(quorum_redlock.all_of(names), quorum_redlock.all_of(*names))
        with self.client.lock(quorum_redlock.interval(name, timedelta(seconds=5)), ttl=5):
            pass
        self.assertEqual(self.client.inspect(name).kind, "interval")
        self.assertIsNone(other.try_lock(name))

    def test_arguments_that_are_wrong(self) -> None:
        for call in (lambda: self.client.lock(self.resource, ttl=-1),
                     lambda: self.client.lock(self.resource, ttl=float("nan")),
                     lambda: self.client.lock(self.resource, ttl=3600),
                     lambda: self.client.lock("a\0b"), lambda: self.client.lock(""),
                     lambda: self.client.lock(self.resource, ttl=1e300),
                     lambda: self.client.lock(self.resource, ttl=-1e300),
                     lambda: self.client.lock("a\ud800b"),
                     lambda: self.client.lock(self.resource, name="\udfff\ud800"),
                     lambda: self.client.lock(self.resource, max_renewals=2**64),
                     lambda: self.client.list_locks(keys_per_node=2**64 + 1),
                     lambda: quorum_redlock.Client(self.nodes.urls, quorum=-1),
                     lambda: quorum_redlock.permit("jobs", 2**64 + 4),
                     lambda: quorum_redlock.permit("jobs", 0), lambda: quorum_redlock.all_of(),
                     lambda: quorum_redlock.Client([]), lambda: quorum_redlock.Client(["ftp://x"])):
            with self.assertRaises(quorum_redlock.InvalidArgument) as caught:
                call()
            self.assertIsInstance(caught.exception, ValueError)
        self.client.lock(self.resource, wait=1e300).release()
        for call in (lambda: self.client.lock(self.resource, ttl="10"),
                     lambda: self.client.lock(self.resource, max_renewals="3"),
                     lambda: quorum_redlock.permit("jobs", "4"),
                     lambda: self.client.lock(self.resource, tll=1), lambda: self.client.lock(3),
                     lambda: quorum_redlock.Client("10.0.0.1"),
                     lambda: quorum_redlock.Client(self.nodes.urls, quorom=2)):
            with self.assertRaises(TypeError):
                call()

    def test_a_stop_ends_waits(self) -> None:
        with self.client.lock(self.resource):
            stop = quorum_redlock.Stop()
            threading.Timer(0.05, stop.request).start()
            with self.assertRaises(quorum_redlock.Cancelled):
                self.client.lock(self.resource, stop=stop)
            self.assertTrue(stop.requested)
            with self.assertRaises(quorum_redlock.Cancelled):
                self.client.lock(self.resource, stop=stop)

    def test_by_token(self) -> None:
        token = self.client.lock(self.resource).detach()
        other = self.make_client()
        self.assertTrue(other.holds(self.resource, token))
        self.assertEqual(other.extend(self.resource, token, 20).ttl, 20)
        self.assertEqual(len(other.release(self.resource, token).votes), 3)
        self.assertFalse(other.holds(self.resource, token))
        with self.assertRaises(quorum_redlock.NotHolder):
            other.release(self.resource, token)

    def test_an_operator_breaks_a_lock(self) -> None:
        lease = self.client.lock(self.resource, renew=False)
        self.make_client(name="operator").break_lock(self.resource, lease.token)
        # A quorum has answered; a node that lags behind may still answer for another one.
        eventually(lambda: [(lock.token, lock.by) for lock in
                            self.client.inspect(self.resource).broken] ==
                   [(lease.token, "operator")])

    def test_a_closed_client_refuses(self) -> None:
        client = self.make_client()
        lease = client.lock(self.resource)
        report = client.close()
        self.assertEqual(report, quorum_redlock.CloseReport(()))
        self.assertFalse(lease.valid)
        for call in (lambda: client.lock("x"), lambda: client.inspect("x"), client.prometheus):
            with self.assertRaises(quorum_redlock.Closed):
                call()
        self.assertEqual(client.close(), report)
        self.assertTrue(self.free(self.resource))

    def test_a_refused_call_keeps_nothing_alive(self) -> None:
        gc.disable()
        self.addCleanup(gc.enable)
        client = self.make_client()
        with client.lock(self.resource):
            try:  # assertRaises would cut the traceback
                client.lock(self.resource, wait=0.02)
            except quorum_redlock.Held:
                pass
        handle = weakref.ref(client._handle)
        self.doCleanups()  # they close the client, and refer to it
        del client
        self.assertIsNone(handle())

    def test_a_forgotten_client_warns_and_releases(self) -> None:
        client = quorum_redlock.Client(self.nodes.urls, **PATIENT)
        token = client.lock(self.resource, ttl=30).detach()
        lease = client.lock(fresh_resource())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del client
            gc.collect()
        self.assertIn("was not closed", str(caught[0].message))
        self.assertFalse(lease.valid)
        self.client.release(self.resource, token)


class ByToken(unittest.TestCase):
    """Each call by a client that has met no node before, as in a process that has just begun."""

    def test_a_fresh_client_each_call(self) -> None:
        for count in (1, 3, 5):
            with self.subTest(nodes=count), Nodes(count) as nodes:
                def by_another(call: str, *arguments: object) -> object:
                    with quorum_redlock.Client(nodes.urls, **PATIENT) as client:
                        return getattr(client, call)(*arguments)

                with quorum_redlock.Client(nodes.urls, **PATIENT) as client:
                    token = client.lock("r", ttl=20).detach()
                self.assertTrue(by_another("holds", "r", token))
                self.assertEqual(by_another("inspect", "r").holder, token)
                self.assertEqual(by_another("extend", "r", token, 30).ttl, 30)
                by_another("release", "r", token)
                with self.assertRaises(quorum_redlock.NotHolder):
                    by_another("extend", "r", token, 30)


if __name__ == "__main__":
    unittest.main()
