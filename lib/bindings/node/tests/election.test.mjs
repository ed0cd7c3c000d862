import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Client, Leadership, RedlockError } from 'quorum-redlock';

import { startNodes } from './nodes.mjs';

let servers;
let client;
let other;
before(async () => {
  servers = await startNodes(3);
  client = await Client.create(servers.options);
  other = await Client.create(servers.options);
});
after(async () => {
  await client?.close();
  await other?.close();
  await servers?.stop();
});

test('one candidate leads, the next one has a larger term', async () => {
  const first = client.election('scheduler', { candidate: 'one' });
  const second = other.election('scheduler', { candidate: 'two' });
  assert.equal(await second.leader(), null);

  const leadership = await first.campaign();
  assert.ok(leadership instanceof Leadership);
  assert.ok(leadership.valid);
  assert.ok(Number.isSafeInteger(leadership.term));
  assert.equal((await second.leader()).candidate, 'one');
  assert.equal((await second.leader()).token, leadership.lease.token);
  await assert.rejects(second.campaign({ wait: 0 }), (error) => {
    assert.ok(error instanceof RedlockError);
    assert.equal(error.code, 'held');
    return true;
  });

  const succeeding = second.campaign();
  await leadership.resign();
  const next = await succeeding;
  assert.ok(next.term > leadership.term);
  assert.equal(leadership.valid, false);
  assert.equal((await first.leader()).candidate, 'two');
  await next.resign();
});

test('a campaign is cancelled by a signal', async () => {
  const election = client.election('cancelled', { candidate: 'one' });
  const leadership = await election.campaign();
  const controller = new AbortController();
  const waiting = other.election('cancelled').campaign({ signal: controller.signal });
  controller.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
  await leadership.resign();
});

test('lead resigns when the work is done', async () => {
  const election = client.election('led', { candidate: 'one' });
  const term = await election.lead(async (leadership, signal) => {
    assert.equal(signal.aborted, false);
    assert.equal((await election.leader()).candidate, 'one');
    return leadership.term;
  });
  assert.ok(term > 0);
  assert.equal(await election.leader(), null);
});

test('observe reports each leader', async () => {
  const election = other.election('observed', { candidate: 'two', pollInterval: 100 });
  const candidate = client.election('observed', { candidate: 'one' });
  const seen = [];
  let leadership;
  for await (const leader of election.observe()) {
    seen.push(leader?.candidate ?? null);
    if (seen.length === 1) leadership = await candidate.campaign();
    if (leader !== null) await leadership.resign();
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, [null, 'one', null]);
});

test('too few nodes: it is unknown who leads', async () => {
  const blind = await Client.create({
    nodes: ['unix:///nowhere/1', 'unix:///nowhere/2', servers.urls[0]],
  });
  await assert.rejects(blind.election('unknown').leader(), { code: 'unavailable' });
  await blind.close();
});
