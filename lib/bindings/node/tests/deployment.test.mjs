// The calls about a deployment as a whole, and those for operators.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client, RedlockError, deployment, owned, permit } from 'quorum-redlock';

import connection from '../src/connection.cjs';
import { eventually, patient, startNodes } from './nodes.mjs';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));

const refused = (code) => (error) => {
  assert.ok(error instanceof RedlockError, error);
  assert.equal(error.code, code, error.message);
  return true;
};
async function withNodes(count, opened, work) {
  const nodes = await startNodes(count, { opened });
  try {
    return await work(nodes);
  } finally {
    await nodes.stop();
  }
}
/** The options of short quarantines, and of those that outlast every test. */
const brief = { ...patient, maxTtl: 1_000, guards: { quarantine: 1_000 } };
const lengthy = { ...patient, maxTtl: 3_600_000, guards: { quarantine: 3_600_000 } };

test('a replicated node has a reign and a primary', () => withNodes(1, false, async ({ urls }) => {
  const options = { ...brief, nodes: [`${urls[0]}?servers=3`] };
  const { nodes: [{ reign }] } = await deployment.check(options);
  assert.match(reign.whyNot, /1 of its 3 servers is up to date/);
  assert.deepEqual(
    [reign.servers, reign.stands, reign.confirmedFor, reign.acknowledged, reign.needed],
    [3, false, null, 0, 1]);
  assert.deepEqual(reign.seen.map(({ primary, state, lag }) => [primary, state, lag]),
    [[true, '', null]]);
  const { nodes: [{ primary }] } = await deployment.members(options);
  assert.equal(primary, '', 'at the end of a socket it is not known');
  const plain = await deployment.check({ ...options, nodes: urls });
  assert.equal(plain.nodes[0].reign, null);
}));

test('a deployment is opened and changed', () => withNodes(4, false, async ({ urls: all }) => {
  const used = connection.counts();
  const urls = all.slice(0, 3);
  const options = { ...brief, nodes: urls };
  const nothing = await deployment.members(options);
  assert.equal(nothing.deployment, '');
  assert.deepEqual(nothing.members, []);
  const before = await deployment.check(options);
  assert.deepEqual(before.nodes.map(({ url, role, marked }) => [url, role, marked]),
    urls.map((url) => [url, 'master', false]));
  assert.deepEqual(before.findings.map(({ kind }) => kind), ['not-bootstrapped']);
  assert.match(before.findings[0].remedy, /quorum-lock bootstrap/);

  const steps = [];
  const onProgress = (step) => { steps.push(step); };
  const opened = await deployment.bootstrap(options, { onProgress });
  assert.equal(opened.grantedIn, 0);
  assert.deepEqual(opened.findings, []);
  const [node] = opened.nodes;
  assert.deepEqual(
    [node.marked, node.reachable, node.durable, node.membership, node.member, node.quarantine],
    [true, true, false, 'member', urls[0], 0]);
  assert.ok(node.roundTrip > 0 && node.uptime >= 0 && node.usedMemory > 0);
  assert.equal(node.maxMemory, 0);
  assert.ok(opened.nodes.every(({ clockOffset }) => Math.abs(clockOffset) < 60_000));
  assert.deepEqual([...new Set(steps.map((step) => step.kind))], ['writing']);
  assert.deepEqual(Object.keys(steps[0]), ['kind', 'node', 'what', 'left']);

  const { members, nodes, maxTtl, resume } = await deployment.members(options);
  assert.deepEqual(members, [...urls].sort());
  assert.deepEqual(nodes.map(({ state }) => state), Array(3).fill('member'));
  assert.deepEqual([maxTtl, resume], [1_000, '']);

  const fourth = all[3];
  const changed =
    await deployment.replaceMember(options, urls[2], fourth, { patience: 20_000, onProgress });
  assert.deepEqual(changed.members, [urls[0], urls[1], fourth].sort());
  assert.ok(steps.some((step) => step.kind === 'waiting' && step.left > 0));
  const added = await deployment.addMember(options, urls[2], { patience: 20_000 });
  assert.deepEqual(added.members, [...all].sort());
  const removed = await deployment.removeMember(options, urls[2], { patience: 20_000 });
  assert.deepEqual(removed.members, [urls[0], urls[1], fourth].sort());
  assert.deepEqual(connection.counts(), used);
}));

test('a change of the members is cancelled by a signal', () =>
  withNodes(4, false, async ({ urls }) => {
    const options = { ...lengthy, nodes: urls.slice(0, 3) };
    await deployment.bootstrap(options);
    const controller = new AbortController();
    const reason = new Error('enough');
    const used = connection.counts();
    const steps = [];
    const change = deployment.replaceMember(options, urls[2], urls[3], {
      signal: controller.signal,
      onProgress: (step) => {
        steps.push(step);
        controller.abort(reason);
      },
    });
    await assert.rejects(change, (error) => error === reason);
    assert.equal(steps[0].kind, 'waiting');
    assert.ok(steps[0].left > 3_000_000, String(steps[0].left));
    await assert.rejects(deployment.bootstrap(options, { signal: controller.signal }),
      (error) => error === reason);
    assert.deepEqual(connection.counts(), used);
  }));

test('a change that waits keeps the process alive, and process.exit ends it', () =>
  withNodes(4, false, async ({ urls }) => {
    const options = { ...lengthy, nodes: urls.slice(0, 3) };
    const child = spawn(process.execPath, ['--input-type=module', '--eval', `
      import { deployment } from 'quorum-redlock';
      const [options, entering] = JSON.parse(process.argv[1]);
      await deployment.bootstrap(options);
      deployment.addMember(options, entering, {
        onProgress: ({ kind }) => { if (kind === 'waiting') process.exit(7); },
      });
    `, '--', JSON.stringify([options, urls[3]])],
    { cwd: packageFolder, stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (data) => { errors += data; });
    assert.deepEqual(await once(child, 'close'), [7, null], errors);
  }));

test('a check names nodes that do not answer', async () => {
  const { nodes: [node], findings, grantedIn } =
    await deployment.check({ nodes: ['redis://someone:s3cret@127.0.0.1:1'] });
  assert.deepEqual([node.url, node.reachable, node.uptime, node.usedMemory, node.clockOffset],
    ['redis://127.0.0.1:1', false, null, null, null]);
  assert.match(node.problem, /refused/);
  assert.deepEqual(findings.map(({ kind }) => kind), ['unreachable']);
  assert.equal(grantedIn, null);
});

test('locks are listed without a client', () => withNodes(3, true, async ({ options }) => {
  const client = await Client.create({ ...options, ...patient, name: 'holder' });
  const leases = [await client.acquire('listed/1'),
    await client.acquire(owned('listed/2', 'me')), await client.acquire(permit('listed/3', 2))];
  const list = await deployment.listLocks({ ...options, ...patient }, { pattern: 'listed/*' });
  assert.deepEqual([list.complete, list.quorum, list.answered], [true, 2, 3]);
  assert.deepEqual(list.locks.map(({ resource, kind, state, holder, owner, holds, permits }) =>
    [resource, kind, state, holder, owner, holds, permits]), [
    ['listed/1', 'exclusive', 'held', leases[0].token, null, 0, null],
    ['listed/2', 'owned', 'held', null, 'me', 1, null],
    ['listed/3', 'exclusive', 'held', null, null, 0, 1],
  ]);
  assert.equal(list.locks[0].holderName, 'holder');
  assert.deepEqual(Object.keys(list.nodes[0]), ['url', 'error', 'unread', 'stoppedEarly']);
  const little = await deployment.listLocks({ ...options, ...patient }, { keysPerNode: 1 });
  assert.ok(little.nodes.some(({ stoppedEarly }) => stoppedEarly));
  await client.close();
}));

test('an operator breaks a lock', () => withNodes(3, true, async ({ options }) => {
  const client = await Client.create({ ...options, ...patient, name: 'holder' });
  const operator = await Client.create({ ...options, ...patient, name: 'operator' });
  // Too few that refuse, and one that is not connected, would be `unavailable`.
  await eventually('all nodes are connected', async () =>
    (await client.inspect('broken')).nodes.every(({ error }) => error === ''));
  const lease = await client.acquire('broken', { ttl: 20_000 });
  const round = await operator.breakLock('broken', lease.token);
  assert.equal(round.votes.length, 3);
  await assert.rejects(lease.extend(), refused('not_holder'));
  // The note is a request of its own, and may need its script in full first.
  const { token, by, time } = await eventually('it is noted', async () =>
    (await operator.inspect('broken')).broken[0]);
  assert.deepEqual([token, by], [lease.token, 'operator']);
  assert.ok(Math.abs(time - Date.now()) < 600_000);
  const next = await client.acquire('broken', { ttl: 20_000 });
  await operator.breakLock('broken', next.token, { delay: 20_000 });
  assert.equal(await client.tryAcquire('broken'), null);
  await assert.rejects(operator.breakLock('broken', next.token), refused('not_holder'));
  await assert.rejects(operator.breakLock('broken', next.token, { delay: '1s' }),
    { name: 'TypeError', code: 'invalid_argument' });
  await assert.rejects(operator.breakLock('broken', next.token, { delay: -1 }),
    refused('invalid_argument'));
  await client.close();
  await operator.close();
}));

test('mistakes are named', async () => {
  const wrongType = { name: 'TypeError', code: 'invalid_argument' };
  const options = { nodes: ['127.0.0.1:1'] };
  for (const call of Object.values(deployment)) await assert.rejects(call(), wrongType);
  await assert.rejects(deployment.check({ nodes: [] }), refused('invalid_argument'));
  await assert.rejects(deployment.check({ ...options, ttl: 5 }), wrongType);
  await assert.rejects(deployment.members({ nodes: ['http://x'] }), refused('invalid_argument'));
  await assert.rejects(deployment.addMember(options), wrongType);
  await assert.rejects(deployment.addMember(options, 'http://x'), refused('invalid_argument'));
  await assert.rejects(deployment.removeMember(options, 'a\0b'), refused('invalid_argument'));
  await assert.rejects(deployment.bootstrap(options, { patience: '1' }), wrongType);
  await assert.rejects(deployment.bootstrap(options, { patience: -1 }),
    refused('invalid_argument'));
  await assert.rejects(deployment.replaceMember(options, 'a', 'b', { afterLoss: true }), wrongType);
  await assert.rejects(deployment.listLocks(options, { keysPerNode: 0.5 }),
    refused('invalid_argument'));
  await assert.rejects(deployment.listLocks(options, { pattern: 7 }), wrongType);
});
