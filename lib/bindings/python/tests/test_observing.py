"""Inspecting, watching, electing, metrics and outages, against real servers."""

from __future__ import annotations

import logging
import threading
import unittest

import quorum_redlock
from case import ClientCase, fresh_resource
from nodes import Nodes, eventually
from quorum_redlock import deployment


class Observing(ClientCase):
    def test_inspect_and_list(self) -> None:
        free = self.client.inspect(self.resource)
        self.assertEqual((free.state, free.kind, free.holder), ("free", "none", None))
        with self.client.lock(self.resource, name="Zoë", fencing=True) as lease:
            seen = self.client.inspect(self.resource)
            self.assertEqual((seen.state, seen.kind, seen.holder, seen.holder_name, seen.quorum),
                             ("held", "exclusive", lease.token, "Zoë", 2))
            self.assertEqual(len(seen.nodes), 3)
            self.assertEqual({node.url for node in seen.nodes}, set(self.nodes.urls))
            self.assertIn(lease.fencing_token, {node.fencing_token for node in seen.nodes})
            listed = self.client.list_locks(self.resource)
            self.assertEqual([(lock.resource, lock.state, lock.kind, lock.holder, lock.owner,
                               lock.permits) for lock in listed.locks],
                             [(self.resource, "held", "exclusive", lease.token, None, None)])
            self.assertEqual((listed.answered, listed.complete), (3, True))

    def test_a_watch_sees_changes(self) -> None:
        with self.client.watch(self.resource, poll_interval=0.05) as watch:
            self.assertEqual(next(watch).state, "free")
            with self.client.lock(self.resource) as lease:
                self.assertEqual(next(watch).holder, lease.token)
            eventually(lambda: next(watch).state == "free")
            threading.Timer(0.05, watch.close).start()
            self.assertEqual(list(watch), [])
        client = self.make_client()
        watch = client.watch(self.resource)
        next(watch)
        client.close()
        with self.assertRaises(quorum_redlock.ClosedError):
            next(watch)

    def test_an_election(self) -> None:
        election = self.client.election(self.resource, candidate="first", ttl=5)
        rival = self.make_client().election(self.resource, candidate="second")
        self.assertIsNone(election.leader())
        with rival.observe() as leaders:
            self.assertIsNone(next(leaders))
            with election.campaign() as leadership:
                self.assertTrue(leadership.valid)
                self.assertEqual(next(leaders),
                                 quorum_redlock.Leader("first", leadership.lease.token))
                self.assertEqual(rival.leader().candidate, "first")
                self.assertIsNone(rival.try_campaign())
                term = leadership.term
            self.assertFalse(leadership.valid)
        with rival.campaign(wait=30) as leadership:
            self.assertGreater(leadership.term, term)

    def test_prometheus(self) -> None:
        with self.client.lock(self.resource):
            pass
        self.assertRegex(self.client.prometheus({"job": 'a "b"'}),
                         r'redlock_acquires_total\{.*job="a \\"b\\"".*\} 1')
        self.assertIn("redlock_acquires_total{", self.client.prometheus())

    def test_observations_and_node_events(self) -> None:
        seen: list[quorum_redlock.Observation] = []
        events: list[quorum_redlock.NodeEvent] = []
        with self.assertLogs("of-a-test", logging.INFO) as logged:
            client = self.make_client(on_observation=seen.append, on_node_event=events.append,
                                      logger=logging.getLogger("of-a-test"))
            with client.lock(self.resource, fencing=True) as lease:
                client.try_acquire(self.resource)
            eventually(lambda: len(seen) == 6 and len(events) == 3)
        self.assertEqual([part.kind for part in seen],
                         ["acquire_began", "acquire_ended", "hold_began", "acquire_began",
                          "acquire_ended", "hold_ended"])
        self.assertEqual((seen[4].failure, seen[5].end), ("held", "released"))
        self.assertEqual((seen[2].token, seen[2].fencing_token),
                         (lease.token, lease.fencing_token))
        self.assertEqual({(event.kind, event.node) for event in events},
                         {("up", 0), ("up", 1), ("up", 2)})
        self.assertIn(events[0].url, logged.output[0])

    def test_a_lost_connection_is_a_warning_only_if_it_was_in_use_or_stays_lost(self) -> None:
        name = "of-an-idle-client"
        with Nodes(3) as nodes, self.assertLogs(name, logging.DEBUG) as logged, \
                quorum_redlock.Client(nodes.urls, logger=logging.getLogger(name)) as client:
            with client.lock("r"):
                pass
            for node in nodes.nodes:
                node.command("CONFIG", "SET", "timeout", "1")
            eventually(lambda: sum(f"DEBUG:{name}:node {nodes.urls[i]}: down" in line
                                   for i in range(3) for line in logged.output) == 3)
            self.assertNotIn("WARNING", "".join(logged.output))
            nodes.nodes[0].kill()
            eventually(lambda: any(f"WARNING:{name}:node {nodes.urls[0]}: down" in line
                                   for line in logged.output))


class Outages(unittest.TestCase):
    def test_a_majority_that_dies(self) -> None:
        # Nodes come back without their data here: with the guard, a majority that lost it would
        # have no vote before an operator opens the deployment again.
        with Nodes(3, opened=False) as nodes, \
                quorum_redlock.Client(nodes.urls, guard_restart=False) as client:
            resource = fresh_resource()
            lost = []
            lease = client.acquire(resource, ttl=0.5, on_lost=lost.append)
            nodes.nodes[0].kill()
            nodes.nodes[1].kill()
            self.assertTrue(lease.lost.wait(30))
            eventually(lambda: lost)
            with self.assertRaises(quorum_redlock.UnavailableError) as caught:
                client.acquire(resource, wait=0)
            votes = [vote.vote for vote in caught.exception.votes]
            self.assertEqual(votes[:2], ["unreachable", "unreachable"])
            self.assertTrue(caught.exception.votes[0].message)
            for node in nodes.nodes[:2]:
                node.start()
            with client.lock(resource, wait=30):
                pass

    def test_a_close_names_a_node_that_hangs(self) -> None:
        with Nodes(3) as nodes, quorum_redlock.Client(nodes.urls) as client:
            lease = client.acquire("r", ttl=20, renew=False)
            client.inspect("r")  # the answers to the SET are before those to this
            self.assertEqual(nodes.count_with("r", lease.token), 3)
            nodes.nodes[2].pause()
            (left,) = client.close().undelivered
            nodes.nodes[2].resume()
            self.assertEqual((left.node, left.url, left.releases, left.may_write_late),
                             (2, nodes.urls[2], 1, False))
            self.assertTrue(0 < left.left < 21)

    def test_a_deployment_is_opened_and_changed(self) -> None:
        progress: list[deployment.ChangeProgress] = []
        with Nodes(4, opened=False) as nodes:
            urls, fourth = nodes.urls[:3], nodes.urls[3]
            options = {"max_ttl": 1, "guard_quarantine": 1}
            self.assertEqual(deployment.members(urls, **options).deployment, "")
            check = deployment.check(urls, **options)
            self.assertEqual([node.role for node in check.nodes], 3 * ["master"])
            self.assertIn("not-bootstrapped", {finding.kind for finding in check.findings})
            opened = deployment.bootstrap(urls, on_progress=progress.append, **options)
            self.assertEqual(opened.granted_in, 0)
            self.assertEqual([node.marked for node in opened.nodes], 3 * [True])
            self.assertIn("writing", {step.kind for step in progress})
            membership = deployment.members(urls, **options)
            self.assertEqual(len(membership.members), 3)
            self.assertEqual({node.state for node in membership.nodes}, {"member"})
            changed = deployment.replace_member(urls, urls[2], fourth, patience=20, **options)
            self.assertEqual(set(changed.members), {*urls[:2], fourth})


if __name__ == "__main__":
    unittest.main()
