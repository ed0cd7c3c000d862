"""The blocking client, against real servers."""

from __future__ import annotations

import asyncio
import copy
import gc
import logging
import pickle
import threading
import traceback
import unittest
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import AsyncIterator, Callable, Iterator
from unittest import mock

import quorum_redlock
from case import ClientCase, PATIENT, fresh_resource
from nodes import Nodes, eventually
from quorum_redlock import aio


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
            self.assertIsNone(other.try_acquire(self.resource))
            with self.assertRaises(quorum_redlock.HeldError) as caught:
                other.acquire(self.resource, wait=timedelta(milliseconds=20))
        error = caught.exception
        self.assertIsInstance(error, quorum_redlock.NotGrantedError)
        self.assertIsInstance(error, TimeoutError)
        self.assertIn(self.resource, str(error))
        self.assertEqual((error.code, error.holder_name), ("held", "a night job"))
        self.assertEqual(len(error.votes), 3)
        self.assertIn(quorum_redlock.Holder("exclusive", lease.token, None),
                      {vote.holder for vote in error.votes})
        copied = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copied), str(copied), copied.round),
                         (type(error), str(error), error.round))

    def test_a_prefix_is_on_the_nodes_and_nowhere_else(self) -> None:
        team = self.make_client(prefix="team:")
        with self.client.lock(self.resource), team.lock(self.resource, fencing=True) as lease:
            self.assertEqual(lease.resource, self.resource)
            eventually(lambda: self.nodes.count_with("team:" + self.resource, lease.token) == 3)
            self.assertEqual([lock.resource for lock in team.list_locks().locks], [self.resource])
            self.assertEqual(team.inspect(self.resource).holder, lease.token)
            with self.assertRaisesRegex(quorum_redlock.HeldError, f"'{self.resource}'"):
                self.make_client(prefix="team:").acquire(self.resource, wait=0.02)
        with self.assertRaisesRegex(quorum_redlock.RedlockError, "'team' does not end with ':'"):
            self.make_client(prefix="team")

    def test_waiters_get_it_in_turn(self) -> None:
        first = self.client.acquire(self.resource)
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

    def test_a_writers_lease_becomes_a_readers(self) -> None:
        other = self.make_client()
        with self.client.acquire(self.resource, fencing=True) as lease:
            number = lease.fencing_token
            with self.assertRaises(quorum_redlock.HeldError):
                other.acquire(quorum_redlock.shared(self.resource), wait=0)
            self.assertEqual(len(lease.downgrade().votes), 3)
            self.assertEqual(lease.fencing_token, number)
            with other.acquire(quorum_redlock.shared(self.resource)) as reader:
                self.assertTrue(reader.valid and lease.valid)
                self.assertIsNone(other.try_acquire(self.resource))
        token = self.client.acquire(self.resource).detach().token
        other.downgrade(self.resource, token)
        other.release(self.resource, token)
        with self.assertRaises(quorum_redlock.NotHolderError):
            lease.downgrade()
        with self.client.acquire(quorum_redlock.permit(self.resource, 2)) as permit:
            with self.assertRaises(quorum_redlock.InvalidArgumentError):
                permit.downgrade()

    def test_an_ended_lease_is_nobodys(self) -> None:
        lease = self.client.acquire(self.resource)
        lease.release()
        for call in (lease.release, lambda: lease.extend(1)):
            with self.assertRaises(quorum_redlock.NotHolderError):
                call()

    def test_a_dropped_lease_is_released_with_a_warning(self) -> None:
        with self.assertWarns(ResourceWarning) as caught:
            self.client.acquire(self.resource, ttl=30)
            gc.collect()
        self.assertIn(self.resource, str(caught.warning))
        eventually(lambda: self.free(self.resource))

    def test_a_lease_that_refers_to_itself_is_released(self) -> None:
        gc.collect()
        lease = self.client.acquire(self.resource, ttl=30)
        lease.itself = lease
        del lease
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
        eventually(lambda: self.free(self.resource))

    def test_a_closed_client_loses_its_leases(self) -> None:
        client = self.make_client()
        reports: list[quorum_redlock.RedlockError] = []
        lease = client.acquire(self.resource, on_lost=reports.append)
        other = self.client.acquire(fresh_resource())
        client.close()
        self.assertTrue(lease.lost.wait(30))
        self.assertFalse(lease.valid)
        self.assertEqual(reports, [], "closing is deliberate")
        self.assertFalse(other.lost.is_set())
        other.release()

    def test_an_expired_lease_is_lost(self) -> None:
        reports, at_risk = [], []
        with self.assertRaises(quorum_redlock.LeaseLostError) as caught:
            with self.client.lock(self.resource, ttl=0.2, max_renewals=0, on_lost=reports.append,
                                  on_at_risk=at_risk.append) as lease:
                self.assertTrue(lease.lost.wait(30))
                self.assertFalse(lease.valid)
                eventually(lambda: reports and at_risk)
        self.assertIsInstance(reports[0], quorum_redlock.RedlockError)
        self.assertEqual((len(reports), len(at_risk)), (1, 1))
        self.assertIsInstance(caught.exception, quorum_redlock.NotHolderError)
        self.assertIn("before the end of its block: its deadline passed", str(caught.exception))
        self.assertEqual(str(lease.loss), str(reports[0]))

    def test_a_block_that_outlives_its_lease_may_be_told_not_to_raise(self) -> None:
        with self.assertLogs("quorum_redlock", logging.WARNING) as logged:
            with self.client.lock(self.resource, ttl=0.2, renew=False,
                                  raise_on_release_error=False) as lease:
                lease.lost.wait(30)
            with self.client.acquire(self.resource, ttl=0.2, renew=False,
                                     raise_on_release_error=False) as lease:
                lease.lost.wait(30)
        self.assertEqual(len(logged.output), 2)
        self.assertIn("was lost before the end of its block", logged.output[0])

    def test_a_lock_that_is_broken_in_a_block_was_lost(self) -> None:
        with self.assertRaises(quorum_redlock.LeaseLostError):
            with self.client.lock(self.resource, renew=False) as lease:
                self.client.break_lock(self.resource, lease.token)

    def test_a_client_that_is_closed_in_a_block_ends_its_protection(self) -> None:
        client = self.make_client()
        with self.assertRaises(quorum_redlock.LeaseLostError):
            with client.lock(self.resource):
                client.close()

    def test_the_error_of_a_block_goes_before_that_of_the_release(self) -> None:
        with self.assertRaises(KeyError) as caught:
            with self.assertLogs("quorum_redlock", logging.WARNING):
                with self.client.lock(self.resource, ttl=0.2, renew=False) as lease:
                    lease.lost.wait(30)
                    raise KeyError
        noted = "".join(traceback.format_exception(None, caught.exception, None))
        self.assertIn(f"the lease on '{self.resource}' was lost before the end of its block", noted)
        self.assertIn("KeyError", noted)

    def test_a_callback_that_fails_is_logged(self) -> None:
        def fail(error: quorum_redlock.RedlockError) -> None:
            raise ValueError("from a callback")

        done = threading.Event()
        with self.assertLogs("quorum_redlock", logging.ERROR) as logged:
            with self.assertRaises(quorum_redlock.LeaseLostError):
                with self.client.lock(self.resource, ttl=0.2, renew=False, on_lost=fail) as lease:
                    lease.lost.wait(30)
            eventually(lambda: logged.output)
            # The next one comes all the same, and may call the client.
            other = self.client.acquire(self.resource, ttl=0.2, renew=False, on_lost=lambda error: (
                self.client.inspect(self.resource), done.set()))
            self.assertTrue(done.wait(30))
        self.assertIn("from a callback", logged.output[0])
        del other

    def test_kinds(self) -> None:
        other = self.make_client()
        name = self.resource
        with self.client.lock(quorum_redlock.shared(name)), other.lock(quorum_redlock.shared(name)):
            seen = self.client.inspect(name)
            self.assertEqual((seen.kind, seen.holder, seen.owner), ("shared", None, None))
            self.assertIsNone(other.try_acquire(name))
        mine = quorum_redlock.owned(name, "me")
        with self.client.lock(mine), other.lock(mine):
            self.assertIsNone(other.try_acquire(quorum_redlock.owned(name, "you")))
            with self.assertRaises(quorum_redlock.HeldError) as caught:
                other.acquire(quorum_redlock.owned(name, "you"), wait=0)
            self.assertEqual({vote.holder for vote in caught.exception.votes
                              if vote.vote == "refused"},
                             {quorum_redlock.Holder("owned", None, "me")})
            seen = self.client.inspect(name)
            self.assertEqual((seen.kind, seen.holder, seen.owner), ("owned", None, "me"))
        jobs = quorum_redlock.permit(fresh_resource(), 2)
        with self.client.lock(jobs) as first, self.client.lock(jobs) as second:
            self.assertEqual(len({first.resource, second.resource}), 2)
            self.assertIsNone(other.try_acquire(jobs))
        names = [fresh_resource(), fresh_resource()]
        with self.client.lock(quorum_redlock.all_of(names)) as lease:
            self.assertEqual(lease.resources, tuple(names))
            self.assertIsNone(other.try_acquire(names[1]))
        self.assertEqual(quorum_redlock.all_of(names), quorum_redlock.all_of(*names))
        with self.client.lock(quorum_redlock.interval(name, timedelta(seconds=5)), ttl=5):
            pass
        self.assertEqual(self.client.inspect(name).kind, "interval")
        self.assertIsNone(other.try_acquire(name))

    def test_arguments_that_are_wrong(self) -> None:
        for call in (lambda: self.client.acquire(self.resource, ttl=-1),
                     lambda: self.client.acquire(self.resource, ttl=float("nan")),
                     lambda: self.client.acquire(self.resource, ttl=3600),
                     lambda: self.client.acquire(self.resource, wait=-1),
                     lambda: self.client.acquire(self.resource, wait=float("nan")),
                     lambda: self.client.acquire(self.resource, wait=timedelta(-1)),
                     lambda: self.client.acquire(self.resource, wait=-10**400),
                     lambda: self.client.lock(self.resource, wait=float("-inf")),
                     lambda: self.client.lock(self.resource, ttl=-1),
                     lambda: self.client.lock("a\ud800b"), lambda: self.client.lock("a\0b"),
                     lambda: self.client.lock(self.resource).acquire(timeout=-2),
                     lambda: self.client.lock(self.resource).acquire(timeout=float("nan")),
                     lambda: self.client.lock(self.resource).acquire(False, 1),
                     lambda: self.client.acquire("a\0b"), lambda: self.client.acquire(""),
                     lambda: self.client.acquire(self.resource, ttl=1e300),
                     lambda: self.client.acquire(self.resource, ttl=-1e300),
                     lambda: self.client.acquire("a\ud800b"),
                     lambda: self.client.acquire(self.resource, name="\udfff\ud800"),
                     lambda: self.client.acquire(self.resource, max_renewals=2**64),
                     lambda: self.client.list_locks(keys_per_node=2**64 + 1),
                     lambda: quorum_redlock.Client(self.nodes.urls, quorum=-1),
                     lambda: quorum_redlock.permit("jobs", 2**64 + 4),
                     lambda: quorum_redlock.permit("jobs", 0), lambda: quorum_redlock.all_of(),
                     lambda: quorum_redlock.Client([]), lambda: quorum_redlock.Client(["ftp://x"])):
            with self.assertRaises(quorum_redlock.InvalidArgumentError) as caught:
                call()
            self.assertIsInstance(caught.exception, ValueError)
        for wait in (1e300, float("inf"), 10**400, timedelta.max, None):
            self.client.acquire(self.resource, wait=wait).release()
        lock = self.client.lock(self.resource, wait=1e300)
        for timeout in (None, -1, 1e300, float("inf"), timedelta.max):
            self.assertTrue(lock.acquire(timeout=timeout))
            lock.release()
        for call in (lambda: self.client.acquire(self.resource, ttl="10"),
                     lambda: self.client.acquire(self.resource, max_renewals="3"),
                     lambda: quorum_redlock.permit("jobs", "4"),
                     lambda: self.client.acquire(self.resource, tll=1),
                     lambda: self.client.acquire(3), lambda: self.client.lock(3),
                     lambda: self.client.lock(self.resource, on_lost=3),
                     lambda: self.client.lock(self.resource, on_at_risk="print"),
                     lambda: quorum_redlock.Client(self.nodes.urls, on_node_event=3),
                     lambda: quorum_redlock.Client(self.nodes.urls, on_observation=[]),
                     lambda: quorum_redlock.Client(self.nodes.urls, logger=print),
                     lambda: self.client.lock(self.resource, tll=1),
                     lambda: quorum_redlock.Client("10.0.0.1"),
                     lambda: quorum_redlock.Client(self.nodes.urls, quorom=2)):
            with self.assertRaises(TypeError):
                call()

    def test_terms_are_refused_where_they_are_given(self) -> None:
        targets = [f(n) for f, numbers in (
            (lambda n: n * "x", (0, 1, 8192, 8193)),
            (lambda n: "redlock:node:"[:n], (12, 13)),
            (lambda n: quorum_redlock.owned("r", n * "é"), (0, 1, 40, 41)),
            (lambda n: quorum_redlock.permit("r", n), (1, 256, 257)),
            (lambda n: quorum_redlock.all_of(map(str, range(n))), (1, 64, 65)),
            (lambda n: quorum_redlock.all_of("r", n * "x"), (0, 1)),
            (lambda n: quorum_redlock.interval("r", timedelta(days=365) + n * timedelta(0, 0, 1)),
             (0, 1))) for n in numbers]
        two = quorum_redlock.all_of("a", "b")
        cases = [(target, {}) for target in targets]
        for target in ("r", quorum_redlock.shared("r"), quorum_redlock.owned("r", "me"),
                       quorum_redlock.permit("r", 2), two):
            cases += [(target, {"fencing": True}), (target, {"orphan_ttl": 1})]
        for name in ("ttl", "orphan_ttl", "max_hold"):
            cases += [("r", {name: timedelta(0, 0, us)}) for us in (
                1, 2999, 3000, 20_000_000, 20_000_001)]
        cases += [("r", {"ttl": 10_000}), ("r", {"max_hold": 1e300}), ("r", {"max_hold": 0}),
                  ("r", {"name": 80 * "x"}), ("r", {"name": 81 * "x"})]
        client = quorum_redlock.Client(["127.0.0.1:1"], max_ttl=20)
        self.addCleanup(client.close)
        refused = 0
        for target, terms in cases:
            with self.subTest(target=str(target)[:60], terms=terms):
                here = there = None
                try:
                    client.lock(target, **terms)
                except quorum_redlock.InvalidArgumentError as error:
                    here = error
                    refused += 1
                with mock.patch("quorum_redlock._admission.check"):
                    try:
                        client.acquire(target, wait=0, **terms)
                    except quorum_redlock.InvalidArgumentError as error:
                        there = error
                    except quorum_redlock.UnavailableError:
                        pass
                self.assertEqual(here is None, there is None, here or there)
        self.assertGreater(refused, 15)
        with self.assertRaisesRegex(ValueError, r"^ttl: 10000 s; 0\.003 s to the max TTL of 20 s "
                                                "is allowed$"):
            client.lock("r", ttl=10_000)
        for call in (lambda: client.election(""), lambda: client.election("r", ttl=10_000),
                     lambda: client.election("r", candidate=81 * "x")):
            with self.assertRaises(quorum_redlock.InvalidArgumentError):
                call()

    def test_an_option_of_another_call_is_refused_by_the_name_of_that(self) -> None:
        detached = self.client.acquire(self.resource).detach()
        election = self.client.election(self.resource)
        for call, hint in ((lambda: self.client.try_acquire("r", wait=1), "acquire and lock wait"),
                           (lambda: self.client.adopt(detached, wait=1), "acquire and lock wait"),
                           (lambda: self.client.try_acquire("r", stop=quorum_redlock.Stop()),
                            "acquire and lock"),
                           (lambda: self.client.acquire("r", timeout=1), "wait"),
                           (lambda: self.client.lock("r", timeout=1), "wait"),
                           (lambda: self.client.adopt(detached, fencing=True),
                            "keeps its fencing token"),
                           (lambda: election.try_campaign(wait=1), "campaign waits")):
            with self.assertRaisesRegex(TypeError, f"there is no option .*: .*{hint}"):
                call()
        self.client.adopt(detached).release()

    def test_a_stop_ends_waits(self) -> None:
        with self.client.lock(self.resource):
            stop = quorum_redlock.Stop()
            threading.Timer(0.05, stop.request).start()
            with self.assertRaises(quorum_redlock.StoppedError) as caught:
                self.client.acquire(self.resource, stop=stop)
            self.assertEqual(caught.exception.code, "cancelled")
            with self.assertRaises(quorum_redlock.StoppedError):
                self.make_client().lock(self.resource, stop=stop).acquire()
            self.assertTrue(stop.requested)
            with self.assertRaises(quorum_redlock.StoppedError):
                self.client.acquire(self.resource, stop=stop)

    def test_a_lease_is_handed_on_and_adopted_once(self):
        lease = self.client.acquire(self.resource, ttl=5, fencing=True)
        detached = lease.detach()
        self.assertEqual(detached.resource, self.resource)
        self.assertEqual(detached.token, lease.token)
        self.assertEqual(detached.fencing_token, lease.fencing_token)
        with self.assertRaises(quorum_redlock.NotHolderError):
            lease.detach()
        adopted = self.client.adopt(f"{detached}\n", ttl=20)  # as a file has it
        self.assertTrue(adopted.valid)
        self.assertEqual(adopted.fencing_token, lease.fencing_token)
        self.assertGreater(adopted.remaining, 5)
        adopted.release()
        with self.assertRaises(quorum_redlock.NotHolderError):
            self.client.adopt(detached)
        with self.assertRaises(quorum_redlock.InvalidArgumentError):
            self.client.adopt("something")

    def test_a_lost_lease_is_not_handed_on(self) -> None:
        lease = self.client.acquire(self.resource, ttl=0.3, renew=False)
        eventually(lambda: not lease.valid)
        with self.assertRaises(quorum_redlock.NotHolderError):
            lease.detach()

    def test_by_token(self) -> None:
        token = self.client.acquire(self.resource).detach().token
        other = self.make_client()
        self.assertTrue(other.ownership(self.resource, token))
        self.assertEqual(other.extend(self.resource, token, 20).ttl, 20)
        self.assertEqual(len(other.release(self.resource, token).votes), 3)
        self.assertFalse(other.ownership(self.resource, token))
        with self.assertRaises(quorum_redlock.NotHolderError):
            other.release(self.resource, token)

    def test_an_operator_breaks_a_lock(self) -> None:
        lease = self.client.acquire(self.resource, renew=False)
        self.make_client(name="operator").break_lock(self.resource, lease.token)
        # A quorum has answered; a node that lags behind may still answer for another one.
        eventually(lambda: [(lock.token, lock.by) for lock in
                            self.client.inspect(self.resource).broken] ==
                   [(lease.token, "operator")])

    def test_a_closed_client_refuses(self) -> None:
        client = self.make_client()
        lease = client.acquire(self.resource)
        report = client.close()
        self.assertEqual(report, quorum_redlock.CloseReport(()))
        self.assertFalse(lease.valid)
        for call in (lambda: client.acquire("x"), lambda: client.inspect("x"), client.prometheus):
            with self.assertRaises(quorum_redlock.ClosedError):
                call()
        self.assertEqual(client.close(), report)
        self.assertTrue(self.free(self.resource))

    def test_a_refused_call_keeps_nothing_alive(self) -> None:
        gc.disable()
        self.addCleanup(gc.enable)
        client = self.make_client()
        with client.lock(self.resource):
            try:  # assertRaises would cut the traceback
                client.acquire(self.resource, wait=0.02)
            except quorum_redlock.HeldError:
                pass
        handle = weakref.ref(client._handle)
        self.doCleanups()  # they close the client, and refer to it
        del client
        self.assertIsNone(handle())

    def test_a_forgotten_client_warns_and_releases(self) -> None:
        client = quorum_redlock.Client(self.nodes.urls, **PATIENT)
        token = client.acquire(self.resource, ttl=30).detach().token
        lease = client.acquire(fresh_resource())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del client
            gc.collect()
        self.assertIn("was not closed", str(caught[0].message))
        self.assertFalse(lease.valid)
        self.client.release(self.resource, token)


class RemadeStop(quorum_redlock.Stop):
    def __reduce__(self) -> tuple:
        return RemadeStop, ()


class Copies(ClientCase):
    def check(self, *things: object) -> None:
        for thing in things:
            for copied in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.subTest(thing=thing, copied=copied):
                    with self.assertRaisesRegex(
                            TypeError, rf"^a {type(thing).__module__}\.{type(thing).__name__} "
                            r"cannot be copied or pickled: \w+"):
                        copied(thing)

    def test_of_what_exists_once_are_refused(self) -> None:
        election = self.client.election(fresh_resource())
        with self.client.watch(self.resource) as watch, election.campaign() as leadership, \
                self.client.acquire(self.resource) as lease:
            self.check(self.client, self.client.lock(self.resource), lease, watch, election,
                       leadership, quorum_redlock.Stop())

    def test_of_a_subclass_that_says_how_it_is_made_are_made(self) -> None:
        stop = RemadeStop()
        self.assertIsNot(copy.copy(stop), stop)
        self.assertIs(type(pickle.loads(pickle.dumps(stop))), RemadeStop)

    def test_of_it_for_asyncio_are_refused(self) -> None:
        async def work() -> None:
            async with aio.Client(self.nodes.urls, **PATIENT) as client:
                election = client.election(fresh_resource())
                async with client.watch(self.resource) as watch, \
                        election.campaign() as leadership, \
                        await client.acquire(self.resource) as lease:
                    self.check(client, client.lock(self.resource), lease, watch, election,
                               leadership, election.campaign())

        asyncio.run(work())

    def test_a_text_for_another_process_is_copied_and_shows_no_token(self) -> None:
        detached = self.client.acquire(self.resource, fencing=True).detach()
        for one in (pickle.loads(pickle.dumps(detached)), copy.copy(detached),
                    copy.deepcopy(detached)):
            self.assertEqual((one, one.token, one.fencing_token),
                             (detached, detached.token, detached.fencing_token))
        self.assertNotIn(detached.token, repr(detached))
        self.assertIn(self.resource, repr(detached))
        with self.client.adopt(detached) as lease:
            self.assertNotIn(lease.token, repr(lease))


class Decorators(ClientCase):
    def test_each_call_holds_the_lock(self) -> None:
        lock = self.client.lock(self.resource, fencing=True)

        @lock
        def work(one: int, *, two: int) -> tuple[int, int]:
            """Works."""
            self.assertTrue(lock.lease.valid)
            terms.append(lock.lease.fencing_token)
            return one, two

        terms: list[int] = []
        self.assertEqual((work.__name__, work.__doc__), ("work", "Works."))
        self.assertTrue(self.free(self.resource))
        for _ in range(2):
            self.assertEqual(work(1, two=2), (1, 2))
            self.assertFalse(lock.locked())
        self.assertEqual(terms, sorted(set(terms)))
        self.assertTrue(self.free(self.resource))

    def test_a_call_that_raises_releases(self) -> None:
        @self.client.lock(self.resource)
        def fail() -> None:
            raise KeyError

        with self.assertRaises(KeyError):
            fail()
        self.assertTrue(self.free(self.resource))

    def test_a_call_without_the_lock_does_not_run(self) -> None:
        @self.client.lock(self.resource, wait=0.02)
        def work() -> None:
            self.fail("it runs")

        with self.make_client().lock(self.resource), self.assertRaises(TimeoutError):
            work()

    def test_calls_of_several_threads_take_turns(self) -> None:
        inside, seen = [], []

        @self.client.lock(self.resource)
        def work(number: int) -> None:
            inside.append(number)
            seen.append(len(inside))
            inside.remove(number)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))
        self.assertEqual(seen, 8 * [1])

    def test_a_call_does_not_wait_for_the_call_that_it_is_in(self) -> None:
        @self.client.lock(self.resource)
        def work(depth: int) -> None:
            if depth:
                work(depth - 1)

        with self.assertRaisesRegex(quorum_redlock.WouldBlockError, "this thread holds"):
            work(1)
        work(0)

    def test_of_a_method(self) -> None:
        lock = self.client.lock(self.resource)

        class Account:
            @lock
            def locked(self) -> tuple[Account, bool]:
                return self, lock.locked()

        account = Account()
        self.assertEqual(account.locked(), (account, True))

    def test_what_ends_before_it_has_run_is_refused(self) -> None:
        lock = self.client.lock(self.resource)

        async def coroutine() -> None:
            pass

        def generator() -> Iterator[None]:
            yield

        async def asynchronous_generator() -> AsyncIterator[None]:
            yield

        class Called:
            async def __call__(self) -> None:
                pass

        for function in (coroutine, partial(coroutine), Called()):
            with self.assertRaisesRegex(TypeError, r"is a coroutine function; .*aio\.Client"):
                lock(function)
        for function in (generator, asynchronous_generator):
            with self.assertRaisesRegex(TypeError, "is a generator function; .* in its body"):
                lock(function)
        with self.assertRaisesRegex(TypeError, "is 'x'; a function is needed"):
            lock("x")


class Representations(unittest.TestCase):
    nodes = ("10.0.0.1", "redis://10.0.0.2:7000/3", "rediss://user:s3cret%40@h:1?server_name=x",
             "Redis://:s3cret@[::1]", "unix:///run/a@b?db=2")
    shown = ["10.0.0.1", "redis://10.0.0.2:7000/3", "rediss://h:1?server_name=x", "Redis://[::1]",
             "unix:///run/a@b?db=2"]

    def test_of_a_client(self) -> None:
        with quorum_redlock.Client(iter(self.nodes), password="s3cret") as client:
            self.assertEqual(repr(client), f"<quorum_redlock.client.Client {self.shown} open>")
        self.assertEqual(repr(client), f"<quorum_redlock.client.Client {self.shown} closed>")
        with quorum_redlock.Client(["h"], name="teller-7") as client:
            self.assertEqual(repr(client),
                             "<quorum_redlock.client.Client ['h'] name='teller-7' open>")

    def test_of_a_client_for_asyncio(self) -> None:
        async def work() -> str:
            async with aio.Client(self.nodes, password="s3cret") as client:
                self.assertEqual(repr(client),
                                 f"<quorum_redlock.aio.client.Client {self.shown} open>")
            return repr(client)

        self.assertRegex(asyncio.run(work()), " closed>$")

    def test_of_a_client_that_was_refused(self) -> None:
        client = quorum_redlock.Client.__new__(quorum_redlock.Client)
        with self.assertRaises(quorum_redlock.InvalidArgumentError):
            client.__init__(["redis:/user:s3cret@h"])
        self.assertNotIn("s3cret", repr(client))


class LockObjects(ClientCase):
    """As threading.Lock has it."""

    def in_another_thread(self, call: Callable[[], object]) -> object:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(call).result()

    def test_making_one_asks_for_nothing(self) -> None:
        lock = self.client.lock(self.resource)
        self.assertTrue(self.free(self.resource))
        self.assertFalse(lock.locked())
        self.assertIsNone(lock.lease)
        self.assertIn(self.resource, repr(lock))

    def test_it_is_acquired_again_and_again(self) -> None:
        lock = self.client.lock(self.resource)
        tokens = set()
        for _ in range(2):
            self.assertIs(lock.acquire(), True)
            self.assertTrue(lock.locked())
            self.assertTrue(self.client.ownership(self.resource, lock.lease.token))
            tokens.add(lock.lease.token)
            lock.release()
            self.assertFalse(lock.locked())
            self.assertIsNone(lock.lease)
            with lock as lease:
                self.assertIs(lock.lease, lease)
                tokens.add(lease.token)
        self.assertEqual(len(tokens), 4)
        self.assertTrue(self.free(self.resource))

    def test_somebody_else_has_it(self) -> None:
        lock = self.client.lock(self.resource, wait=0.02)
        with self.make_client().acquire(self.resource):
            for arguments in ((False,), (True, 0), (True, 0.02), (True, timedelta(0)), ()):
                self.assertIs(lock.acquire(*arguments), False)
            self.assertFalse(lock.locked())
            with self.assertRaises(TimeoutError) as caught:
                lock.__enter__()
            self.assertIsInstance(caught.exception, quorum_redlock.HeldError)

    def test_each_thread_holds_for_itself(self) -> None:
        lock = self.client.lock(self.resource)

        def other() -> None:
            self.assertFalse(lock.acquire(timeout=0.02))
            self.assertIsNone(lock.lease)
            self.assertTrue(lock.locked())
            with self.assertRaises(quorum_redlock.NotHolderError):
                lock.release()
            with self.assertRaises(quorum_redlock.NotHolderError):
                lock.__exit__(None, None, None)

        with lock as lease:
            self.in_another_thread(other)
            self.assertTrue(lease.valid)
        permits = self.client.lock(quorum_redlock.permit(fresh_resource(), 2))
        with permits as first:
            with ThreadPoolExecutor(1) as pool:
                self.assertTrue(pool.submit(permits.acquire).result())
                self.assertNotEqual(pool.submit(lambda: permits.lease.resource).result(),
                                    first.resource)
                pool.submit(permits.release).result()

    def test_any_thread_releases_what_a_thread_that_has_ended_left(self) -> None:
        lock = self.client.lock(self.resource)
        thread = threading.Thread(target=lock.acquire)
        thread.start()
        thread.join()
        self.assertTrue(lock.locked())
        self.assertTrue(lock.lease.valid)
        self.in_another_thread(lock.release)
        self.assertFalse(lock.locked())
        self.assertTrue(self.free(self.resource))
        with self.assertRaises(quorum_redlock.NotHolderError):
            lock.release()
        lease = self.in_another_thread(lock.__enter__)
        lock.__exit__(None, None, None)
        self.assertFalse(lease.valid)

    def test_what_was_released_by_its_lease_is_left_by_nobody(self) -> None:
        lock = self.client.lock(self.resource)
        self.in_another_thread(lambda: (lock.acquire(), lock.lease.release()))
        self.assertIsNone(lock.lease)
        with self.assertRaises(quorum_redlock.NotHolderError):
            lock.release()

    def test_a_thread_does_not_wait_for_itself(self) -> None:
        lock = self.client.lock(self.resource)
        with lock:
            self.assertFalse(lock.acquire(blocking=False))
            for call in (lock.acquire, lambda: lock.acquire(timeout=1), lock.__enter__):
                with self.assertRaises(quorum_redlock.WouldBlockError):
                    call()
            self.assertTrue(lock.locked())

    def test_threads_take_turns(self) -> None:
        lock = self.client.lock(self.resource)
        inside, seen = [], []

        def work(number: int) -> None:
            with lock:
                inside.append(number)
                seen.append(len(inside))
                inside.remove(number)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(12)))
        self.assertEqual(seen, 12 * [1])

    def test_a_lost_lease_is_in_nobodys_way(self) -> None:
        lock = self.client.lock(self.resource, ttl=0.2, renew=False)
        lock.acquire()
        self.assertTrue(lock.lease.lost.wait(30))
        self.assertFalse(lock.locked())
        self.assertIsNotNone(lock.lease)
        self.assertTrue(lock.acquire(timeout=30))
        lock.lease.lost.wait(30)
        with self.assertRaises(quorum_redlock.NotHolderError):
            lock.release()
        self.assertIsNone(lock.lease)

    def test_a_release_inside_a_block(self) -> None:
        with self.client.lock(self.resource) as lease:
            lease.release()
        lock = self.client.lock(self.resource)
        with self.assertRaises(quorum_redlock.NotHolderError):
            with lock:
                lock.release()
        with self.assertRaises(KeyError):
            with lock:
                lock.release()
                raise KeyError

    def test_a_dropped_lock_is_released_with_a_warning(self) -> None:
        with self.assertWarns(ResourceWarning) as caught:
            if self.client.lock(self.resource, ttl=30).acquire():
                eventually(lambda: self.free(self.resource))
        self.assertIn("keep the Lock or Lease", str(caught.warning))
        self.assertEqual(caught.filename, __file__)  # the line that drops it

    def test_an_outage_is_no_refusal(self) -> None:
        with Nodes(3) as nodes, quorum_redlock.Client(nodes.urls) as client:
            for node in nodes.nodes[:2]:
                node.kill()
            lock = client.lock("x")
            with self.assertRaises(quorum_redlock.UnavailableError) as caught:
                lock.acquire(timeout=0.1)
            self.assertIsInstance(caught.exception, TimeoutError)


class ByToken(unittest.TestCase):
    """Each call by a client that has met no node before, as in a process that has just begun."""

    def test_a_fresh_client_each_call(self) -> None:
        for count in (1, 3, 5):
            with self.subTest(nodes=count), Nodes(count) as nodes:
                def by_another(call: str, *arguments: object) -> object:
                    with quorum_redlock.Client(nodes.urls, **PATIENT) as client:
                        return getattr(client, call)(*arguments)

                with quorum_redlock.Client(nodes.urls, **PATIENT) as client:
                    token = client.acquire("r", ttl=20).detach().token
                self.assertTrue(by_another("ownership", "r", token))
                self.assertEqual(by_another("inspect", "r").holder, token)
                self.assertEqual(by_another("extend", "r", token, 30).ttl, 30)
                by_another("release", "r", token)
                with self.assertRaises(quorum_redlock.NotHolderError):
                    by_another("extend", "r", token, 30)


if __name__ == "__main__":
    unittest.main()
