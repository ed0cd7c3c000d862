import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { format, inspect } from 'node:util';

import {
  Client, DetachedLease, Lease, RedlockError, allOf, interval, now, owned, permit, shared, version,
} from 'quorum-redlock';

import fencing from '../src/fencing.cjs';
import { eventually, patient, startNodes } from './nodes.mjs';

let servers;
let client;
let other;
before(async () => {
  servers = await startNodes(3);
  Object.assign(servers.options, patient);
  client = await Client.create({ ...servers.options, name: 'first', nameHolders: true });
  other = await Client.create({ ...servers.options, name: 'second', nameHolders: true });
});
after(async () => {
  await client?.close();
  await other?.close();
  await servers?.stop();
});

const refused = (code) => (error) => {
  assert.ok(error instanceof RedlockError, error);
  assert.equal(error.code, code, error.message);
  return true;
};
/** A lease does not keep the process alive; a timer does. */
async function lossOf(lease) {
  const timer = setInterval(() => {}, 1_000);
  await new Promise((resolve) => { lease.lost.addEventListener('abort', resolve); });
  clearInterval(timer);
}
/** Why a wait ended without the lock. Without any answer of the nodes, a longer wait follows. */
async function refusalOf(contender, resource) {
  for (let wait = 100; ; wait *= 2) {
    const error = await contender.acquire(resource, { wait }).then(
      () => assert.fail(`'${resource}' was granted`), (refusal) => refusal);
    if (error.code !== 'unavailable') return error;
  }
}
const free = async (resource) => (await other.inspect(resource)).state === 'free';

test('a lease has what its holder needs', async () => {
  const lease = await client.acquire('invoice/42', { ttl: 5_000, fencing: true });
  assert.ok(lease instanceof Lease);
  assert.equal(lease.resource, 'invoice/42');
  assert.deepEqual(lease.resources, ['invoice/42']);
  assert.match(lease.token, /^[0-9a-f]{40}$/);
  assert.ok(Number.isSafeInteger(lease.fencingToken) && lease.fencingToken > 0);
  assert.equal(lease.valid, true);
  assert.ok(lease.remaining > 0 && lease.remaining <= 5_000, String(lease.remaining));
  assert.equal(lease.lost.aborted, false);
  lease.throwIfInvalid();

  const round = await lease.release();
  assert.equal(round.quorum, 2);
  assert.equal(round.votes.length, 3);
  assert.equal(lease.valid, false);
  assert.throws(() => lease.throwIfInvalid(), refused('not_holder'));
  assert.equal(lease.remaining, 0);
  assert.equal(await lease.release(), round, 'a second release is the first one');
  assert.ok(await free('invoice/42'));
  assert.match(version, /^\d+\.\d+\.\d+$/);
});

test('JSON and console.log show what a log needs, and no secret', async () => {
  const shows = (object, name, expected, ...secrets) => {
    const json = JSON.stringify(object);
    assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify(expected)));
    assert.match(inspect(object), new RegExp(`^${name} \\{`));
    assert.match(inspect({ in: { an: { object } } }), new RegExp(`\\[${name}\\]`));
    // Some of these ignore toJSON and util.inspect.custom, or copy the members.
    const dumps = [json, inspect(object), inspect([object]), inspect({ ...object }),
      format('%s %o %O %j', {}, object, object, object),
      inspect(object, { customInspect: false, showHidden: true, depth: 9 })];
    for (const secret of secrets) {
      for (const dump of dumps) assert.ok(!dump.includes(secret), `${name}: ${dump}`);
    }
  };
  const lease = await client.acquire('logged', { ttl: 20_000, renew: false, fencing: true });
  const { token, fencingToken, validUntil } = lease;
  const { remaining, ...rest } = JSON.parse(JSON.stringify(lease));
  assert.deepEqual(rest,
    { resource: 'logged', resources: ['logged'], fencingToken, valid: true, validUntil });
  assert.ok(remaining > 0 && remaining <= 20_000);
  assert.match(inspect(lease), new RegExp(`^Lease \\{[^]*fencingToken: ${fencingToken}`));
  assert.ok(!inspect(lease).includes(token));
  assert.throws(() => { lease.token = ''; }, TypeError);

  const detached = lease.detach();
  const { resource, resources } = detached;
  shows(lease, 'Lease', {
    resource, resources, fencingToken, valid: false, remaining: 0, validUntil: 0,
  }, token);
  shows(detached, 'DetachedLease', { resource, resources, fencingToken }, token, detached.text);
  await other.release('logged', token);

  const leadership = await client.election('logged', { candidate: 'one' }).campaign();
  assert.ok(!JSON.stringify(leadership).includes(leadership.lease.token));
  await leadership.resign();
  shows(leadership, 'Leadership',
    { term: leadership.term, valid: false, lease: leadership.lease }, leadership.lease.token);

  const watch = client.watch('logged');
  shows(watch, 'Watch', { resource: 'logged', ended: false });
  await watch.return();
  shows(watch, 'Watch', { resource: 'logged', ended: true });

  const secretive = await Client.create({
    nodes: ['redis://some1:s3cret@127.0.0.1:1/2', 'rediss://:s3cret@[::1]:1?server_name=x',
      '127.0.0.1:2', 'unix:///nowhere/a@b', ...servers.urls],
    password: 's3cret', name: 'logger', prefix: 'team:',
  });
  await secretive.close();
  shows(secretive, 'Client', {
    nodes: ['redis://127.0.0.1:1/2', 'rediss://[::1]:1', '127.0.0.1:2', 'unix:///nowhere/a@b',
      ...servers.urls],
    name: 'logger', prefix: 'team:', closed: true,
  }, 's3cret', 'some1');
});

test('new Client() says which call makes one', () => {
  assert.throws(() => new Client({ nodes: ['127.0.0.1:1'] }),
    { name: 'TypeError', code: 'invalid_argument', message: /Client\.create/ });
});

test('instants and durations are in milliseconds, by one clock', async () => {
  const observations = [];
  const observed = await Client.create({
    ...servers.options, onObservation: (observation) => observations.push(observation),
  });
  const before = now();
  const lease = await observed.acquire('clocked', { ttl: 10_000 });
  const { validUntil } = lease;
  const [earlier, remaining, later] = [now(), lease.remaining, now()];
  assert.ok(validUntil > before && validUntil <= earlier + 10_000);
  const rounding = 0.001;
  assert.ok(remaining <= validUntil - earlier + rounding, String(remaining));
  assert.ok(remaining >= validUntil - later - rounding, String(remaining));
  const round = await lease.release();
  assert.equal(round.ttl, 10_000);
  assert.ok(round.votes.some(({ roundTrip }) => roundTrip > 0 && roundTrip <= now() - before));
  assert.equal(lease.validUntil, 0);
  await observed.close();
  const after = now();
  for (const { kind, at } of observations) assert.ok(before <= at && at <= after, kind);
});

test('without fencing there is no fencing token, and later ones are larger', async () => {
  const plain = await client.acquire('numbers');
  assert.equal(plain.fencingToken, null);
  await plain.release();
  const first = await client.acquire('numbers', { fencing: true });
  await first.release();
  const second = await other.acquire('numbers', { fencing: true });
  await second.release();
  assert.ok(second.fencingToken > first.fencingToken);
  const { nodes } = await client.inspect('numbers');
  assert.equal(Math.max(...nodes.map((node) => node.fencingToken)), second.fencingToken);
  const unfenced = await client.inspect('numbers/of nobody');
  assert.deepEqual(unfenced.nodes.map((node) => node.fencingToken), [null, null, null]);
});

test('a fencing token that is not below 2^53 is an error, and is not rounded', () => {
  const largest = Number.MAX_SAFE_INTEGER;
  for (const token of [null, 1, largest]) assert.equal(fencing.fencingToken(token), token);
  for (const token of [2n ** 53n, 2n ** 64n - 1n]) {
    assert.throws(() => fencing.fencingToken(token), refused('internal'));
    assert.throws(() => fencing.checkedInspection({ nodes: [{ fencingToken: token }] }),
      refused('internal'));
  }
  assert.equal(new DetachedLease(`1,t,${largest},a,b,r`).fencingToken, largest);
  assert.throws(() => new DetachedLease(`1,t,${2n ** 53n},a,b,r`), { code: 'invalid_argument' });
});

test('tryAcquire is null while somebody else holds the lock', async () => {
  const lease = await client.tryAcquire('held');
  assert.equal(await other.tryAcquire('held'), null);
  await lease.release();
  const again = await other.tryAcquire('held');
  assert.ok(again.valid);
  await again.release();
});

test('an acquire that waited in vain names the holder and the votes', async () => {
  const lease = await client.acquire('vain');
  const error = await refusalOf(other, 'vain');
  refused('held')(error);
  assert.equal(error.name, 'RedlockError');
  assert.equal(error.holderName, 'first');
  assert.match(error.message, /^'vain' is held by first \(exclusive, /);
  assert.match(error.stack, /client\.test\.mjs/);
  assert.equal(error.votes.length, 3);
  const inTheWay = error.votes.filter((vote) => vote.vote === 'refused');
  assert.ok(inTheWay.length >= 2);
  for (const { holder } of inTheWay) {
    assert.deepEqual(holder, { kind: 'exclusive', token: lease.token, owner: null });
  }
  assert.deepEqual(error.votes.map((vote) => vote.url), servers.urls);
  await lease.release();
});

test('a waiting acquire gets the lock when it is released', async () => {
  const lease = await client.acquire('hand-over');
  const waiting = other.acquire('hand-over', { wait: 20_000 });
  await eventually('it waits', async () => (await client.inspect('hand-over')).waiters > 0);
  await lease.release();
  const next = await waiting;
  assert.ok(next.valid);
  await next.release();
});

test('extend raises the deadline, and release ends the lease', async () => {
  const lease = await client.acquire('extended', { ttl: 2_000 });
  const before = lease.remaining;
  assert.equal((await lease.extend()).ttl, 2_000);
  await lease.extend(20_000);
  assert.ok(lease.remaining > before);
  await lease.release();
  await assert.rejects(lease.extend(), refused('not_holder'));
});

test('downgrade makes a writer a reader', async () => {
  const lease = await client.acquire('written', { fencing: true });
  const { fencingToken } = lease;
  assert.equal(await other.tryAcquire(shared('written')), null);
  const { votes } = await lease.downgrade();
  assert.equal(votes.length, 3);
  assert.equal(lease.fencingToken, fencingToken);
  const reader = await other.acquire(shared('written'));
  assert.ok(reader.valid && lease.valid);
  assert.equal(await other.tryAcquire('written'), null);
  await reader.release();
  const { token } = lease.detach();
  await other.downgrade('written', token);
  await other.release('written', token);
  await assert.rejects(other.downgrade('written', token), refused('not_holder'));
  await assert.rejects(lease.downgrade(), refused('not_holder'));
  const one = await client.acquire(permit('written', 2));
  await assert.rejects(one.downgrade(), refused('invalid_argument'));
  await one.release();
});

test('a signal cancels an acquire that waits', async () => {
  const lease = await client.acquire('aborted');
  const controller = new AbortController();
  const waiting = other.acquire('aborted', { signal: controller.signal });
  await eventually('it waits', async () => (await client.inspect('aborted')).waiters > 0);
  const reason = new Error('enough');
  controller.abort(reason);
  await assert.rejects(waiting, (error) => error === reason);
  await lease.release();
  await eventually('nobody has it', () => free('aborted'));
  await assert.rejects(other.acquire('aborted', { signal: AbortSignal.abort(reason) }),
    (error) => error === reason);
});

test('a lease that is granted as the signal comes is released', async () => {
  for (let i = 0; i < 5; ++i) {
    const controller = new AbortController();
    const call = client.acquire('raced', { ttl: 30_000, signal: controller.signal });
    // While JavaScript is busy the nodes grant the lock, and the answer waits in the queue.
    for (const { socket } of servers.nodes) {
      while (execFileSync('redis-cli', ['-s', socket, 'EXISTS', 'raced']).toString() !== '1\n');
    }
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
    await eventually('nobody has it', () => free('raced'));
  }
});

test('the kinds of targets', async () => {
  const two = async (target) => [await client.acquire(target), await other.acquire(target)];
  const readers = await two(shared('document'));
  assert.equal(await client.tryAcquire('document'), null);
  await Promise.all(readers.map((reader) => reader.release()));

  const holds = await two(owned('tree', 'me'));
  assert.equal(await client.tryAcquire(owned('tree', 'you')), null);
  await Promise.all(holds.map((hold) => hold.release()));

  const permits = await two(permit('jobs', 2));
  assert.deepEqual(permits.map((lease) => lease.resource).sort(), ['jobs#0', 'jobs#1']);
  assert.equal(await client.tryAcquire(permit('jobs', 2)), null);
  await Promise.all(permits.map((lease) => lease.release()));

  const both = await client.acquire(allOf(['account/1', 'account/2']));
  assert.deepEqual(both.resources, ['account/1', 'account/2']);
  assert.equal(await other.tryAcquire('account/2'), null);
  await both.release();

  const once = await client.acquire(interval('mail', 10_000));
  await once.release();
  assert.equal(await other.tryAcquire(interval('mail', 10_000)), null, 'the interval goes on');

  const literal = await client.acquire({ kind: 'exclusive', resource: 'literal' });
  await literal.release();
});

test('using renews, aborts at loss, releases at the end', async () => {
  const seen = await client.using('used', { ttl: 3_000 }, async (lease, signal) => {
    let last = lease.remaining;
    await eventually('it is renewed', () => {
      const before = last;
      last = lease.remaining;
      return last > before;
    });
    assert.equal(signal.aborted, false);
    assert.equal(await other.tryAcquire('used'), null);
    return 'done';
  });
  assert.equal(seen, 'done');
  assert.ok(await free('used'));

  await assert.rejects(client.using('used', async () => { throw new Error('of the work'); }),
    /of the work/);
  assert.ok(await free('used'));

  const lost = client.using('used', { ttl: 300, renew: false }, async (lease, signal) => {
    await new Promise((resolve) => { signal.addEventListener('abort', resolve); });
    assert.equal(signal.reason.code, 'lost');
    assert.throws(() => lease.throwIfInvalid(), (error) => error === signal.reason);
    assert.equal(lease.valid, false);
  });
  await assert.rejects(lost, refused('lost'));
});

test('a busy event loop loses no lease, and sees a loss all the same', async () => {
  const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  // A renewal may be late by a second and more on a busy machine.
  await client.using('busy', { ttl: 3_000 }, (lease) => {
    block(3_500);
    lease.throwIfInvalid();
  });
  await assert.rejects(client.using('busy', { ttl: 100, renew: false }, (lease) => {
    block(150);
    assert.throws(() => lease.throwIfInvalid(), refused('lost'));
  }), (error) => error.code === 'lost' || error.code === 'not_holder');
});

test('a lease that nobody renews is lost at its deadline', async () => {
  let remaining;
  const lease = await client.acquire('expiring', {
    ttl: 1_000, maxRenewals: 1, onAtRisk: (left) => { remaining = left; },
  });
  await lossOf(lease);
  assert.ok(lease.lost.reason instanceof RedlockError);
  assert.equal(lease.valid, false);
  assert.ok(remaining > 0, String(remaining));
  await assert.rejects(lease.release(), refused('not_holder'));
});

for (const count of [1, 3, 5]) {
  test(`by token, each call by a client that has just begun, on ${count} nodes`, async () => {
    const nodes = await startNodes(count);
    try {
      const another = async (call) => {
        const fresh = await Client.create(nodes.options);
        try {
          return await call(fresh);
        } finally {
          await fresh.close();
        }
      };
      const token = await another(async (fresh) => (await fresh.acquire('r', { ttl: 20_000 })).detach().token);
      assert.equal(await another((fresh) => fresh.ownership('r', token)), true);
      assert.equal((await another((fresh) => fresh.inspect('r'))).holder, token);
      assert.equal((await another((fresh) => fresh.extend('r', token, 30_000))).ttl, 30_000);
      await another((fresh) => fresh.release('r', token));
      await assert.rejects(another((fresh) => fresh.extend('r', token, 30_000)), refused('not_holder'));
    } finally {
      await nodes.stop();
    }
  });
}

test('by token: extend, holds, release', async () => {
  const lease = await client.acquire('passed-on', { ttl: 10_000 });
  const { token } = lease.detach();
  assert.equal(lease.valid, false);
  assert.equal(await other.ownership('passed-on', token), true);
  const round = await other.extend('passed-on', token, 20_000);
  assert.ok(round.remaining > 10_000, String(round.remaining));
  await other.release('passed-on', token);
  assert.equal(await other.ownership('passed-on', token), false);
  await assert.rejects(other.release('passed-on', token), refused('not_holder'));
});

test('a lease is handed on, and adopted once', async () => {
  const lease = await client.acquire('handed-on', { ttl: 10_000, fencing: true });
  const detached = lease.detach();
  assert.equal(detached.resource, 'handed-on');
  assert.equal(detached.fencingToken, lease.fencingToken);
  const adopted = await other.adopt(`${detached}\n`, { ttl: 20_000 });
  assert.ok(adopted.valid);
  assert.equal(adopted.token, lease.token);
  assert.equal(adopted.fencingToken, lease.fencingToken);
  assert.ok(adopted.remaining > 10_000, String(adopted.remaining));
  await adopted.release();
  await assert.rejects(client.adopt(detached), refused('not_holder'));
  await assert.rejects(client.adopt('something'), { code: 'invalid_argument' });
});

test('a lost lease is not handed on', async () => {
  const lease = await client.acquire('lost-on-its-way', { ttl: 300, renew: false });
  await eventually('the lease is lost', () => !lease.valid);
  assert.throws(() => lease.detach(), { code: 'lost' });
  assert.throws(() => lease.detach(), { code: 'not_holder' });
});

test('inspect and list', async () => {
  const lease = await client.acquire('seen/1', { name: 'the holder' });
  const inspection = await other.inspect('seen/1');
  assert.equal(inspection.state, 'held');
  assert.equal(inspection.kind, 'exclusive');
  assert.equal(inspection.holder, lease.token);
  assert.equal(inspection.holderName, 'the holder');
  assert.equal(inspection.nodes.length, 3);
  const list = await other.list({ pattern: 'seen/*' });
  assert.equal(list.complete, true);
  assert.deepEqual(list.locks.map((lock) => [lock.resource, lock.state]), [['seen/1', 'held']]);
  await lease.release();
});

test('the holds of an owner are named by the owner', async () => {
  const lease = await client.acquire(owned('seen/2', 'nightly'));
  await assert.rejects(other.acquire(owned('seen/2', 'daily'), { wait: 0 }), (error) => {
    const inTheWay = error.votes.filter((vote) => vote.holder !== null);
    assert.ok(inTheWay.length >= 2);
    for (const { holder } of inTheWay) {
      assert.deepEqual(holder, { kind: 'owned', token: null, owner: 'nightly' });
    }
    return true;
  });
  const { kind, holder, owner } = await other.inspect('seen/2');
  assert.deepEqual([kind, holder, owner], ['owned', null, 'nightly']);
  const { locks: [listed] } = await other.list({ pattern: 'seen/2' });
  assert.deepEqual([listed.holder, listed.owner], [null, 'nightly']);
  await lease.release();
  assert.equal((await other.inspect('seen/2')).holder, null);
});

test('watch follows a resource', async () => {
  const controller = new AbortController();
  const states = [];
  const reason = new Error('seen enough');
  let lease;
  const watched = (async () => {
    for await (const inspection of client.watch('watched', { signal: controller.signal })) {
      states.push(inspection.state);
      if (states.length === 1) lease = await other.acquire('watched');
      if (inspection.state === 'held') await lease.release();
      if (states.at(-1) === 'free' && states.length > 2) controller.abort(reason);
    }
  })();
  await assert.rejects(watched, (error) => error === reason);
  assert.deepEqual(states.slice(0, 2), ['free', 'held']);

  for await (const inspection of client.watch('watched')) {
    assert.equal(inspection.state, 'free');
    break; // ends it
  }
  const iterator = client.watch('watched');
  await iterator.next();
  const pending = iterator.next();
  await iterator.return();
  assert.equal((await pending).done, true);
});

test('node events and observations', async () => {
  const events = [];
  const observations = [];
  const lines = [];
  const observed = await Client.create({
    ...servers.options,
    onNodeEvent: (event) => events.push(event),
    onLog: (event) => lines.push(event),
    onObservation: (observation) => observations.push(observation),
  });
  const lease = await observed.acquire('observed', { fencing: true });
  await lease.release();
  await eventually('all nodes are up', () => events.filter((e) => e.kind === 'up').length === 3);
  await observed.close();
  assert.deepEqual(lines.filter((e) => e.kind === 'up'), events.filter((e) => e.kind === 'up'));
  assert.deepEqual(lines.map(({ level, times }) => [level, times]), Array(3).fill(['info', 1]));
  assert.deepEqual(observations.map((one) => one.kind),
    ['acquire-began', 'acquire-ended', 'hold-began', 'hold-ended']);
  assert.equal(observations[2].token, lease.token);
  assert.deepEqual(observations.map((one) => one.fencingToken),
    [null, null, lease.fencingToken, lease.fencingToken]);
  assert.equal(observations[3].end, 'released');
});

test('mistakes are named', async () => {
  const wrong = (call, text, Kind) => assert.rejects(call, (error) => {
    assert.equal(error.constructor, Kind, error);
    assert.equal(error.code, 'invalid_argument');
    assert.match(error.message, text);
    return true;
  });
  const wrongType = (call, text) => wrong(call, text, TypeError);
  const notAllowed = (call, text) => wrong(call, text, RedlockError);
  await wrongType(client.acquire('x', { tll: 5 }), /options\.tll is not known; known are ttl/);
  await wrongType(client.acquire('x', { ttl: '10s' }), /options\.ttl: a number of .*, not '10s'/);
  await wrongType(client.acquire(7), /resource/);
  await wrongType(client.release('x', undefined), /token: a string/);
  await wrongType(client.adopt(7), /detached: a string/);
  await wrongType(Client.create({ nodes: [7] }), /options\.nodes: an array of strings/);
  for (const call of [
    (text) => client.acquire(text),
    (text) => client.acquire(shared(text)),
    (text) => client.acquire(allOf(['x', text])),
    (text) => client.acquire('x', { name: text }),
    (text) => client.acquire(owned('x', text)),
    (text) => client.release('x', text),
    (text) => client.inspect(text),
    (text) => client.list({ pattern: text }),
    (text) => client.adopt(text),
    async (text) => client.watch(text),
    async (text) => client.election(text),
    (text) => Client.create({ nodes: [text] }),
    (text) => Client.create({ ...servers.options, password: text }),
  ]) {
    await notAllowed(call('a\0b'), /U\+0000/);
    for (const half of ['a\ud800b', '\udfff\ud800', 'a\udbff']) {
      await notAllowed(call(half), /half of a surrogate pair/);
    }
  }
  await client.using('whole \u{1f512}', () => {});
  await wrongType(client.acquire({ kind: 'all', resource: 'x' }), /target\.kind 'all'/);
  await wrongType(client.acquire({ kind: 'shared' }), /the target has no resource/);
  await wrongType(client.acquire({ kind: 'allOf', resource: 'x' }), /an array of resources/);
  await notAllowed(client.acquire(allOf([])), /target\.resources: at least one/);
  await notAllowed(client.acquire(permit('x', 1.5)), /target\.permits: a whole number/);
  await notAllowed(client.adopt('something'), /detached/);
  await notAllowed(client.acquire('x', { ttl: 1e9 }), /ttl/i);
  await wrongType(client.using('x', {}), /work: a function/);
  await wrongType(Client.create({ nodes: 'redis://localhost' }), /options\.nodes: an array/);
  await assert.rejects(Client.create({ nodes: [] }), refused('invalid_argument'));
  await assert.rejects(Client.create({ nodes: ['http://x'] }), refused('invalid_argument'));
  await assert.rejects(client.acquire('x', { ttl: 0 }), refused('invalid_argument'));
  await assert.rejects(client.acquire('x', { ttl: Infinity }), refused('invalid_argument'));
  await assert.rejects(client.acquire(''), refused('invalid_argument'));
  await assert.rejects(client.acquire(permit('x', 0)), refused('invalid_argument'));
});

test('a duration is a number from 0 to Infinity, wherever there is one', async () => {
  const lease = await client.acquire('durations');
  const calls = {
    'options.ttl': (ttl) => client.acquire('x', { ttl }),
    'options.wait': (wait) => client.acquire('x', { wait }),
    'options.orphanTtl': (orphanTtl) => client.acquire('x', { orphanTtl }),
    'options.maxHold': (maxHold) => client.acquire('x', { maxHold }),
    'target.interval': (length) => client.acquire(interval('x', length)),
    'options.node.longestTimeout': (longestTimeout) =>
      Client.create({ ...servers.options, node: { longestTimeout } }),
    'options.guards.clockBound': (clockBound) =>
      Client.create({ ...servers.options, guards: { clockBound } }),
    'options.pollInterval': async (pollInterval) => client.watch('x', { pollInterval }),
    ttl: (ttl) => lease.extend(ttl),
  };
  const mistakes = [
    [NaN, RedlockError], [-1, RedlockError], [-Infinity, RedlockError],
    ['10', TypeError], [5n, TypeError], [true, TypeError], [{}, TypeError],
  ];
  for (const [where, call] of Object.entries(calls)) {
    for (const [value, Kind] of mistakes) {
      await assert.rejects(call(value), (error) => {
        assert.equal(error.constructor, Kind, `${where}: ${error}`);
        assert.equal(error.code, 'invalid_argument');
        assert.ok(error.message.startsWith(`${where}: a number of milliseconds`), error.message);
        return true;
      });
    }
  }
  await lease.release();
  // For ever, and what is too long to be counted.
  for (const wait of [Infinity, 1e300]) {
    const holder = await client.acquire('durations');
    const waiting = other.acquire('durations', { wait, maxHold: wait });
    await eventually('it waits', async () => (await client.inspect('durations')).waiters > 0);
    await holder.release();
    await (await waiting).release();
  }
});

test('a prefix is on the nodes and nowhere else', async () => {
  const team = await Client.create({ ...servers.options, prefix: 'team:' });
  const ours = await team.acquire('divided', { fencing: true });
  const theirs = await client.acquire('divided');
  assert.equal(ours.resource, 'divided');
  await eventually('the key is there', async () =>
    (await servers.nodes[0].command('EXISTS', 'team:divided')) === ':1\r\n');
  assert.equal((await team.inspect('divided')).holder, ours.token);
  assert.deepEqual((await team.list()).locks.map((lock) => lock.resource), ['divided']);
  await assert.rejects(team.acquire('divided', { wait: 0 }), (error) => {
    assert.match(error.message, /^'divided' is held by /);
    return refused('held')(error);
  });
  await ours.release();
  await theirs.release();
  await team.close();
  await assert.rejects(Client.create({ ...servers.options, prefix: 'team' }), (error) => {
    assert.match(error.message, /'team' does not end with ':'/);
    return refused('invalid_argument')(error);
  });
});

test('too few nodes: unavailable, with why', async () => {
  const silent = await Client.create({
    nodes: ['unix:///nowhere/1', 'unix:///nowhere/2', servers.urls[0]],
  });
  await assert.rejects(silent.tryAcquire('x'), (error) => {
    refused('unavailable')(error);
    assert.deepEqual(error.votes.map((vote) => vote.vote).slice(0, 2),
      ['unreachable', 'unreachable']);
    return true;
  });
  await silent.close();
});

test('a closed client refuses, and has released everything', async () => {
  const closing = await Client.create(servers.options);
  const lease = await closing.acquire('closing');
  const waiting = closing.acquire('closing', { wait: Infinity });
  const watching = closing.watch('closing');
  await watching.next();
  const next = watching.next();
  const outcomes = Promise.allSettled([waiting, next]);
  assert.deepEqual(await closing.close(), { undelivered: [] });
  for (const outcome of await outcomes) refused('closed')(outcome.reason);
  assert.equal(lease.valid, false);
  assert.equal(lease.lost.reason.code, 'closed');
  assert.ok(await free('closing'));
  await assert.rejects(closing.acquire('closing'), refused('closed'));
  await assert.rejects(closing.inspect('closing'), refused('closed'));
  await assert.rejects(closing.list(), refused('closed'));
  assert.deepEqual(await closing.close(), { undelivered: [] });
});

test('a close names a node that hangs, and for how long it keeps a lock', async () => {
  const own = await startNodes(3);
  try {
    // Long enough for the other two, and as long as the close takes.
    const limit = { node: { shortestTimeout: 3_000, longestTimeout: 3_000 } };
    const closing = await Client.create({ ...own.options, ...limit });
    const lease = await closing.acquire('hangs', { ttl: 20_000 });
    await eventually('all nodes have the key', async () => {
      const answers = await Promise.all(own.nodes.map((node) => node.command('GET', 'hangs')));
      return answers.every((answer) => answer.includes(lease.token));
    });
    own.nodes[1].signal('SIGSTOP');
    const { undelivered: [node, ...more] } = await closing.close();
    assert.deepEqual(more, []);
    assert.deepEqual({ ...node, left: undefined },
      { url: own.urls[1], releases: 1, left: undefined, mayWriteLate: false });
    assert.ok(node.left > 0 && node.left < 21_000, node.left);
  } finally {
    await own.stop();
  }
});

test('await using', { skip: !Symbol.asyncDispose && 'no Symbol.asyncDispose' }, async () => {
  const disposed = await Client.create(servers.options);
  const lease = await disposed.acquire('disposed');
  await lease[Symbol.asyncDispose]();
  assert.ok(await free('disposed'));
  const lost = await disposed.acquire('disposed', { ttl: 100, renew: false });
  await lossOf(lost);
  await assert.rejects(lost[Symbol.asyncDispose](), refused('lost'));
  await disposed[Symbol.asyncDispose]();
  await assert.rejects(disposed.acquire('disposed'), refused('closed'));
});

test('prometheus gives the metrics with further labels, and refuses what is no text', async () => {
  const text = await client.prometheus({ service: 'billing' });
  assert.match(text, /^redlock_\w+\{.*service="billing".*\} \d/m);
  assert.match(await client.prometheus(), /^# TYPE redlock_\w+ counter$/m);
  await assert.rejects(client.prometheus({ service: 1 }), TypeError);
  await assert.rejects(client.prometheus({ service: 'a\0b' }), { code: 'invalid_argument' });
});
