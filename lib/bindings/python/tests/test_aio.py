"""The client for asyncio, against real servers."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import logging
import threading
import unittest
from datetime import timedelta
from typing import Any, AsyncIterator, Callable, Coroutine

import quorum_redlock
import quorum_redlock.aio
from case import PATIENT, fresh_resource, shared_nodes
from nodes import Nodes
from quorum_redlock import _callbacks, deployment
from quorum_redlock.aio import deployment as aio_deployment


async def eventually(condition) -> None:
    """Waits until the awaitable condition holds; half a minute is for ever."""
    async def poll() -> None:
        while not await condition():
            await asyncio.sleep(0.01)
    await asyncio.wait_for(poll(), 30)


def public(owner: object) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def parameters(call: Callable[..., object]) -> list[tuple[str, object]]:
    return [(name, parameter.kind) for name, parameter
            in inspect.signature(call).parameters.items()]


class Likeness(unittest.TestCase):
    """Both clients have the same calls with the same parameters, but for these."""

    #: In asyncio, a task is cancelled instead.
    only_blocking = {"stop"}

    def check(self, blocking: object, asynchronous: object, but_for: set[str] = set()) -> None:
        self.assertEqual(public(blocking) ^ public(asynchronous), but_for)
        for name in public(blocking) & public(asynchronous):
            ours, theirs = getattr(blocking, name), getattr(asynchronous, name)
            if not inspect.isfunction(ours):
                continue
            with self.subTest(name=f"{asynchronous.__name__}.{name}"):
                self.assertEqual([parameter for parameter in parameters(ours)
                                  if parameter[0] not in self.only_blocking], parameters(theirs))

    def test_of_the_clients(self) -> None:
        self.check(quorum_redlock.Client, quorum_redlock.aio.Client)

    def test_of_what_clients_make(self) -> None:
        for name in ("Lock", "Lease", "Leadership", "Election"):
            self.check(getattr(quorum_redlock, name), getattr(quorum_redlock.aio, name))
        # They are made by a function for each kind of change.
        self.check(quorum_redlock.Watch, quorum_redlock.aio.Watch, {"of_resource", "of_election"})

    def test_of_the_calls_for_operators(self) -> None:
        calls = [name for name, call in vars(deployment).items() if inspect.isfunction(call)
                 and call.__module__ == deployment.__name__ and not name.startswith("_")]
        self.assertEqual(len(calls), 7)
        for name in calls:
            with self.subTest(name=name):
                call = getattr(aio_deployment, name)
                self.assertTrue(inspect.iscoroutinefunction(call))
                self.assertEqual([parameter for parameter in parameters(getattr(deployment, name))
                                  if parameter[0] not in self.only_blocking], parameters(call))


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.nodes = shared_nodes()
        self.resource = fresh_resource()
        self.client = await self.make_client()

    async def make_client(self, **options: object) -> quorum_redlock.aio.Client:
        client = quorum_redlock.aio.Client(self.nodes.urls, **{**PATIENT, **options})
        self.addAsyncCleanup(client.close)
        return client

    async def is_free(self) -> bool:
        return (await self.client.inspect(self.resource)).state == "free"

    async def cancel_when(self, ready: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        await ready.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

    async def is_waited_for(self) -> bool:
        return (await self.client.inspect(self.resource)).waiters > 0

    async def test_a_block_holds_the_lock(self) -> None:
        async with self.client.lock(self.resource, ttl=timedelta(seconds=10),
                                    fencing=True) as lease:
            self.assertTrue(lease.valid)
            self.assertGreater(lease.fencing_token, 0)
            self.assertTrue(await self.client.ownership(self.resource, lease.token))
            self.assertIsNone(await (await self.make_client()).try_acquire(self.resource))
            with self.assertRaises(quorum_redlock.HeldError) as caught:
                await self.client.acquire(self.resource, wait=0.02)
            self.assertIsInstance(caught.exception, TimeoutError)
            self.assertEqual(len(caught.exception.votes), 3)
            self.assertEqual((await lease.extend(20)).ttl, 20)
        self.assertFalse(lease.valid)
        self.assertTrue(await self.is_free())

    async def test_a_writers_lease_becomes_a_readers(self) -> None:
        other = await self.make_client()
        async with await self.client.acquire(self.resource) as lease:
            self.assertEqual(len((await lease.downgrade()).votes), 3)
            async with await other.acquire(quorum_redlock.shared(self.resource)) as reader:
                self.assertTrue(reader.valid and lease.valid)
        token = (await self.client.acquire(self.resource)).detach().token
        await other.downgrade(self.resource, token)
        await other.release(self.resource, token)
        with self.assertRaises(quorum_redlock.NotHolderError):
            await lease.downgrade()

    async def test_an_awaited_lease(self) -> None:
        lease = await self.client.acquire(quorum_redlock.all_of(self.resource, fresh_resource()))
        self.assertEqual(len(lease.resources), 2)
        await lease.release()
        for call in (lease.release, lambda: lease.extend(1)):
            with self.assertRaises(quorum_redlock.NotHolderError):
                await call()

    async def test_tasks_take_turns(self) -> None:
        inside, most = 0, 0

        async def work() -> None:
            nonlocal inside, most
            async with self.client.lock(self.resource):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(work() for _ in range(10)))
        self.assertEqual(most, 1)

    async def test_cancelling_ends_the_wait(self) -> None:
        lease = await self.client.acquire(self.resource)
        before = len(_callbacks.contexts._objects)

        async def work() -> None:
            async with self.client.lock(self.resource):
                self.fail("granted")

        task = asyncio.create_task(work())
        await eventually(self.is_waited_for)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

        async def waits_no_more() -> bool:
            return not await self.is_waited_for()
        await eventually(waits_no_more)
        await lease.release()
        # The cancelled call has left nothing behind.
        async with self.client.lock(self.resource, wait=30):
            pass
        del lease, task  # until Python 3.11, a task keeps its exception, and that the frames
        gc.collect()

        async def forgotten() -> bool:
            return len(_callbacks.contexts._objects) < before
        await eventually(forgotten)

    async def test_a_lease_that_is_granted_to_a_cancelled_task_is_released(self) -> None:
        for turns in range(30):
            task = asyncio.create_task(self.client.acquire(self.resource, ttl=30))
            for _ in range(turns):
                await asyncio.sleep(0.0001)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                pass
            del task
            async with self.client.lock(self.resource, wait=30):
                pass

    async def test_cancelling_a_block_releases(self) -> None:
        entered = asyncio.Event()

        async def work() -> None:
            async with self.client.lock(self.resource):
                entered.set()
                await asyncio.sleep(3600)

        await self.cancel_when(entered, work())
        self.assertTrue(await self.is_free())

    async def test_a_dropped_lease_is_released_with_a_warning(self) -> None:
        with self.assertWarns(ResourceWarning):
            await self.client.acquire(self.resource, ttl=30)
            gc.collect()
        await eventually(self.is_free)

    async def test_a_dropped_lock_is_released_with_a_warning(self) -> None:
        with self.assertWarns(ResourceWarning) as caught:
            if await self.client.lock(self.resource, ttl=30).acquire():
                await eventually(self.is_free)
        self.assertEqual(caught.filename, __file__)

    async def test_a_closed_client_loses_its_leases(self) -> None:
        client = await self.make_client()
        lease = await client.acquire(self.resource)
        await client.close()
        await asyncio.wait_for(lease.lost.wait(), 30)
        self.assertFalse(lease.valid)

    async def test_a_lost_lease(self) -> None:
        lost: asyncio.Future = asyncio.get_running_loop().create_future()
        with self.assertRaises(quorum_redlock.LeaseLostError):
            async with self.client.lock(self.resource, ttl=0.2, max_renewals=0,
                                        on_lost=lost.set_result) as lease:
                await asyncio.wait_for(lease.lost.wait(), 30)
                self.assertFalse(lease.valid)
                self.assertIsInstance(await lost, quorum_redlock.RedlockError)
        with self.assertRaises(KeyError), self.assertLogs("quorum_redlock", logging.WARNING):
            async with self.client.lock(self.resource, ttl=0.2, renew=False) as lease:
                await asyncio.wait_for(lease.lost.wait(), 30)
                raise KeyError
        with self.assertLogs("quorum_redlock", logging.WARNING):
            async with self.client.lock(self.resource, ttl=0.2, renew=False,
                                        raise_on_release_error=False) as lease:
                await asyncio.wait_for(lease.lost.wait(), 30)

    async def test_a_lock_is_acquired_again_and_again(self) -> None:
        lock = self.client.lock(self.resource, fencing=True)
        self.assertTrue(await self.is_free())
        self.assertIsNone(lock.lease)
        tokens = set()
        for _ in range(2):
            self.assertTrue(await lock.acquire())
            self.assertTrue(lock.locked())
            self.assertTrue(await self.client.ownership(self.resource, lock.lease.token))
            tokens.add(lock.lease.token)
            await lock.release()
            self.assertFalse(lock.locked())
        self.assertEqual(len(tokens), 2)
        with self.assertRaises(quorum_redlock.NotHolderError):
            await lock.release()

    async def test_each_task_holds_a_lock_for_itself(self) -> None:
        lock = self.client.lock(self.resource)

        async def other_task() -> None:
            self.assertFalse(await lock.acquire(blocking=False))
            self.assertFalse(await lock.acquire(timeout=0.02))
            self.assertIsNone(lock.lease)
            self.assertTrue(lock.locked())
            with self.assertRaises(quorum_redlock.NotHolderError):
                await lock.release()

        async with lock as lease:
            self.assertIs(lock.lease, lease)
            await asyncio.create_task(other_task())
            self.assertTrue(lease.valid)
            self.assertFalse(await lock.acquire(False))
            with self.assertRaises(quorum_redlock.WouldBlockError):
                await lock.acquire()
        inside, most = 0, 0

        async def work() -> None:
            nonlocal inside, most
            async with lock:
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(work() for _ in range(5)))
        self.assertEqual((inside, most), (0, 1))

    async def test_a_call_in_a_task_of_its_own_is_its_callers(self) -> None:
        lock = self.client.lock(self.resource)

        async def shielded() -> bool:
            return await asyncio.shield(lock.acquire())

        # wait_for makes a task of it before Python 3.12.
        for acquire in (lambda: asyncio.wait_for(lock.acquire(), 30),
                        lambda: asyncio.create_task(lock.acquire()),
                        lambda: asyncio.gather(lock.acquire()), shielded):
            self.assertTrue(await acquire())
            self.assertTrue(lock.lease.valid)
            with self.assertRaises(quorum_redlock.WouldBlockError):
                await asyncio.wait_for(lock.acquire(), 30)
            await asyncio.wait_for(lock.release(), 30)
            self.assertFalse(lock.locked())
        jobs = self.client.lock(quorum_redlock.permit(fresh_resource(), 2))
        await asyncio.gather(jobs.acquire(), jobs.acquire())
        await jobs.release()
        self.assertTrue(jobs.locked())
        await jobs.release()
        self.assertFalse(jobs.locked())

    async def test_each_call_of_a_decorated_function_holds_the_lock(self) -> None:
        lock = self.client.lock(self.resource, fencing=True)
        inside, seen = 0, []

        @lock
        async def work(one: int, *, two: int) -> tuple[int, int]:
            """Works."""
            nonlocal inside
            inside += 1
            seen.append((inside, lock.lease.fencing_token))
            await asyncio.sleep(0)
            inside -= 1
            return one, two

        self.assertEqual((work.__name__, work.__doc__), ("work", "Works."))
        self.assertTrue(inspect.iscoroutinefunction(work))
        self.assertEqual(await work(1, two=2), (1, 2))
        self.assertTrue(await self.is_free())
        await asyncio.gather(*(work(i, two=2) for i in range(5)))
        self.assertEqual({most for most, _ in seen}, {1})
        self.assertEqual(len({term for _, term in seen}), 6)

        @lock
        async def fail() -> None:
            raise KeyError

        @lock
        async def recursive() -> None:
            await recursive()

        with self.assertRaises(KeyError):
            await fail()
        with self.assertRaisesRegex(quorum_redlock.WouldBlockError, "this task holds"):
            await recursive()
        self.assertFalse(lock.locked())

    async def test_cancelling_a_call_of_a_decorated_function_releases(self) -> None:
        entered = asyncio.Event()

        @self.client.lock(self.resource)
        async def work() -> None:
            entered.set()
            await asyncio.sleep(3600)

        await self.cancel_when(entered, work())
        self.assertTrue(await self.is_free())

    async def test_only_coroutine_functions_are_decorated(self) -> None:
        lock = self.client.lock(self.resource)

        def plain() -> None:
            pass

        async def generator() -> AsyncIterator[None]:
            yield

        for function in (plain, functools.partial(plain)):
            with self.assertRaisesRegex(TypeError, "is not a coroutine function; "
                                                   r".*quorum_redlock\.Client"):
                lock(function)
        with self.assertRaisesRegex(TypeError, "is a generator function; .* in its body"):
            lock(generator)
        with self.assertRaisesRegex(TypeError, "is 3; a function is needed"):
            lock(3)

    async def test_any_task_releases_what_a_task_that_has_ended_left(self) -> None:
        lock = self.client.lock(self.resource)

        async def take() -> quorum_redlock.aio.Lease:
            self.assertTrue(await lock.acquire())
            return lock.lease

        lease = await asyncio.create_task(take())
        self.assertIs(lock.lease, lease)
        await lock.release()
        self.assertTrue(await self.is_free())
        await asyncio.create_task(lock.__aenter__())  # as a fixture does
        await asyncio.create_task(lock.__aexit__(None, None, None))
        self.assertTrue(await self.is_free())

    async def test_whoever_lost_a_lease_releases_none_of_another_task(self) -> None:
        short = self.client.lock(self.resource, ttl=0.2, renew=False)

        async def take() -> None:
            await short.acquire()

        await asyncio.create_task(take())
        await asyncio.wait_for(short.lease.lost.wait(), 30)
        later = asyncio.create_task(take())
        await later
        with self.assertRaises(quorum_redlock.NotHolderError):
            await short.release()  # of the first one
        self.assertIsNotNone(short.lease)  # that of the second one

    async def test_a_lease_is_handed_on_and_adopted(self):
        detached = (await self.client.acquire(self.resource, ttl=5)).detach()
        adopted = await self.client.adopt(detached, ttl=20)
        self.assertTrue(adopted.valid)
        await adopted.release()
        with self.assertRaises(quorum_redlock.NotHolderError):
            await self.client.adopt(detached)

    async def test_by_token(self) -> None:
        token = (await self.client.acquire(self.resource)).detach().token
        other = await self.make_client()
        await other.extend(self.resource, token, 20)
        await other.release(self.resource, token)
        with self.assertRaises(quorum_redlock.NotHolderError):
            await other.release(self.resource, token)

    async def test_a_watch_sees_changes(self) -> None:
        async with self.client.watch(self.resource, poll_interval=0.05) as watch:
            self.assertEqual((await watch.__anext__()).state, "free")
            async with self.client.lock(self.resource) as lease:
                self.assertEqual((await watch.__anext__()).holder, lease.token)
            async for seen in watch:
                if seen.state == "free":
                    break
        self.assertEqual([seen async for seen in watch], [])
        client = await self.make_client()
        watch = client.watch(self.resource)
        await watch.__anext__()
        await client.close()
        with self.assertRaises(quorum_redlock.ClosedError):
            await watch.__anext__()

    async def test_an_election(self) -> None:
        election = self.client.election(self.resource, candidate="first", ttl=5)
        rival = (await self.make_client()).election(self.resource, candidate="second")
        self.assertIsNone(await rival.leader())
        leaders = rival.observe()
        self.assertIsNone(await leaders.__anext__())
        async with election.campaign() as leadership:
            self.assertTrue(leadership.valid)
            leader = quorum_redlock.Leader("first", leadership.lease.token)
            self.assertEqual(await leaders.__anext__(), leader)
            self.assertEqual(await rival.leader(), leader)
            self.assertIsNone(await rival.try_campaign())
        await leaders.aclose()
        later = await rival.campaign(wait=30)
        self.assertGreater(later.term, leadership.term)
        # The blocking client reports the same leader.
        with quorum_redlock.Client(self.nodes.urls, **PATIENT) as client:
            seen = await asyncio.get_running_loop().run_in_executor(
                None, client.election(self.resource).leader)
            self.assertEqual(seen, await rival.leader())
        await self.client.break_lock(self.resource, later.lease.token, delay=5)
        self.assertIsNone(await rival.leader())

    async def test_observations_come_in_the_loop(self) -> None:
        seen: asyncio.Queue = asyncio.Queue()
        events: list[quorum_redlock.NodeEvent] = []
        client = await self.make_client(on_observation=seen.put_nowait,
                                        on_node_event=events.append)
        async with client.lock(self.resource):
            kinds = [(await seen.get()).kind for _ in range(3)]
        self.assertEqual(kinds, ["acquire_began", "acquire_ended", "hold_began"])

        async def connected() -> bool:
            return len(events) == 3
        await eventually(connected)

    async def test_a_closed_client_refuses(self) -> None:
        lease = await self.client.acquire(self.resource)
        listed = await self.client.list_locks(self.resource)
        self.assertEqual(len(listed.locks), 1)
        report = await self.client.close()
        self.assertEqual((report, await self.client.close()),
                         (quorum_redlock.CloseReport(()), report))
        self.assertFalse(lease.valid)
        for call in (lambda: self.client.acquire("x"), lambda: self.client.inspect("x")):
            with self.assertRaises(quorum_redlock.ClosedError):
                await call()

    async def test_arguments_that_are_wrong(self) -> None:
        with self.assertRaises(quorum_redlock.InvalidArgumentError):
            await self.client.acquire("")
        for call in (lambda: self.client.lock(""), lambda: self.client.lock("r", ttl=10_000),
                     lambda: self.client.election(""),
                     lambda: self.client.election("r", ttl=10_000)):
            with self.assertRaises(quorum_redlock.InvalidArgumentError):
                call()
        with self.assertRaises(TypeError):
            await self.client.acquire(self.resource, tll=1)


class Deployments(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.nodes = Nodes(4, opened=False)
        self.addCleanup(self.nodes.close)
        self.urls, self.fourth = self.nodes.urls[:3], self.nodes.urls[3]

    async def test_one_is_opened_and_changed(self) -> None:
        progress: list[tuple[str, object]] = []

        def on_progress(step: deployment.ChangeProgress) -> None:
            progress.append((step.kind, threading.current_thread()))

        options = {"max_ttl": 1, "guard_quarantine": 1}
        self.assertEqual((await aio_deployment.members(self.urls, **options)).deployment, "")
        found = await aio_deployment.check(self.urls, **options)
        self.assertIn("not-bootstrapped", {finding.kind for finding in found.findings})
        opened = await aio_deployment.bootstrap(self.urls, on_progress=on_progress, **options)
        self.assertEqual(opened.granted_in, 0)
        self.assertIn(("writing", threading.current_thread()), progress)
        self.assertEqual((await aio_deployment.list_locks(self.urls, **options)).answered, 3)
        for change, arguments, members in (
                (aio_deployment.replace_member, (self.urls[2], self.fourth),
                 {*self.urls[:2], self.fourth}),
                (aio_deployment.remove_member, (self.fourth,), {*self.urls[:2]})):
            now = await change(self.urls, *arguments, patience=20, **options)
            self.assertEqual(set(now.members), members)
        with self.assertRaises(quorum_redlock.InvalidArgumentError):
            await aio_deployment.add_member(self.urls[:2], "ftp://x")

    async def test_a_replicated_node_has_a_reign_and_a_primary(self) -> None:
        node = [self.urls[0] + "?servers=3"]
        reign = (await aio_deployment.check(node)).nodes[0].reign
        assert reign is not None
        self.assertIn("1 of its 3 servers is up to date", reign.why_not)
        self.assertEqual((reign.servers, reign.stands, reign.confirmed_for, reign.acknowledged,
                          reign.needed), (3, False, None, 0, 1))
        self.assertEqual([(server.primary, server.state, server.lag) for server in reign.seen],
                         [(True, "", None)])
        self.assertEqual((await aio_deployment.members(node)).nodes[0].primary, "",
                         "at the end of a socket it is not known")
        self.assertIsNone((await aio_deployment.check(self.urls)).nodes[0].reign)

    async def test_cancelling_stops_a_change(self) -> None:
        patient = {"max_ttl": 1, "guard_quarantine": 3600}
        opened = await aio_deployment.bootstrap(self.urls, **patient)
        self.assertEqual(opened.granted_in, 0)
        waits = asyncio.Event()
        unseen: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: unseen.append(what))

        def on_progress(step: deployment.ChangeProgress) -> None:
            if step.kind == "waiting":
                waits.set()

        change = asyncio.create_task(aio_deployment.replace_member(
            self.urls, self.urls[2], self.fourth, on_progress=on_progress, **patient))
        await asyncio.wait_for(waits.wait(), 30)  # it waits for an hour, and the loop goes on
        change.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await asyncio.wait_for(change, 30)
        del change
        gc.collect()
        self.assertEqual(unseen, [])
        self.assertEqual(set((await aio_deployment.members(self.urls)).members), set(self.urls))


class Outages(unittest.IsolatedAsyncioTestCase):
    async def test_a_majority_that_does_not_answer(self) -> None:
        with Nodes(3) as nodes:
            async with quorum_redlock.aio.Client(nodes.urls) as client:
                lease = await client.acquire("x", ttl=0.5)
                for node in nodes.nodes[:2]:
                    node.pause()
                await asyncio.wait_for(lease.lost.wait(), 30)
                with self.assertRaises(quorum_redlock.UnavailableError):
                    await client.acquire("x", wait=0)
                for node in nodes.nodes[:2]:
                    node.resume()
                async with client.lock("x", wait=30):
                    pass


if __name__ == "__main__":
    unittest.main()
