// Everything that begins also ends: processes, workers, clients, leases.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';

import { Client } from 'quorum-redlock';

import connection from '../src/connection.cjs';
import { checkBindings, inLinuxWithGlibc } from './bindings.mjs';
import { eventually, patient, startNodes } from './nodes.mjs';

const { counts } = connection;
v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');
const packageFolder = fileURLToPath(new URL('..', import.meta.url));

let servers;
let client;
before(async () => {
  servers = await startNodes(3);
  client = await Client.create({ ...servers.options, ...patient });
});
after(async () => {
  await client?.close();
  await servers?.stop();
});

const isFree = async (resource) => (await client.inspect(resource)).state === 'free';
const isHeld = async (resource) => (await client.inspect(resource)).state === 'held';

/** Another process with a client of the same nodes. */
function run(text, { environment = {}, nodes = servers } = {}) {
  const program = `
    import { Client } from 'quorum-redlock';
    const client = await Client.create(${JSON.stringify(nodes.options)});
    ${text}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: packageFolder, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment },
  });
  child.output = '';
  child.stdout.on('data', (data) => { child.output += data; });
  child.errors = '';
  child.stderr.on('data', (data) => { child.errors += data; });
  child.ended = once(child, 'close').then(([code]) => code);
  return child;
}

test('an idle client does not keep the process alive, and its leases are released', async () => {
  const child = run(`await client.acquire('idle');`);
  assert.equal(await child.ended, 0, child.errors);
  assert.ok(await isFree('idle'));
});

test('a call in flight keeps the process alive', async () => {
  const lease = await client.acquire('in-flight');
  const child = run(`await client.acquire('in-flight'); console.log('granted');`);
  await eventually('it waits', async () => (await client.inspect('in-flight')).waiters > 0);
  await lease.release();
  assert.equal(await child.ended, 0, child.errors);
  assert.equal(child.output, 'granted\n');
});

test('a watch that is waited for keeps the process alive', async () => {
  const child = run(`
    for await (const { state } of client.watch('followed')) {
      console.log(state);
      if (state === 'held') break;
    }`);
  await eventually('it watches', () => child.output === 'free\n');
  const lease = await client.acquire('followed');
  assert.equal(await child.ended, 0, child.errors);
  assert.equal(child.output, 'free\nheld\n');
  await lease.release();
});

test('process.exit with an open client releases its leases', async () => {
  const child = run(`
    await client.acquire('exit');
    client.acquire('exit').catch(() => {});
    process.exit(7);`);
  assert.equal(await child.ended, 7, child.errors);
  assert.ok(await isFree('exit'));
});

test('so does the end by an exception, which may come from a callback', async () => {
  const child = run(`
    const onAtRisk = () => { throw new Error('risk'); };
    await client.acquire('exception', { ttl: 200, maxRenewals: 0, onAtRisk });
    await client.acquire('exception-held');
    setInterval(() => {}, 1000);`);
  assert.equal(await child.ended, 1, child.errors);
  assert.match(child.errors, /Error: risk/);
  assert.ok(await isFree('exception-held'));
});

// A release after the loss finds only what `lost` has already reported: its rejection does not end
// the process, even if nobody awaits it. A rejection that is the first news does.
for (const [what, text] of [
  ['whose loss was reported', `
    const lease = await client.acquire('ignored', { ttl: 100, maxRenewals: 0 });
    const timer = setInterval(() => {}, 1_000);
    await new Promise((resolve) => { lease.lost.addEventListener('abort', resolve); });
    clearInterval(timer);
    lease.release();`],
  ['whose deadline passed while JavaScript was busy', `
    const lease = await client.acquire('ignored', { ttl: 100, renew: false });
    while (lease.valid);
    lease.release();`],
  ['of a client that is being closed', `
    const lease = await client.acquire('ignored');
    client.close();
    lease.release();`],
  ['whose client is closed meanwhile', `
    const lease = await client.acquire('ignored');
    lease.release();
    client.close();`],
]) {
  test(`a release that nobody awaits, of a lease ${what}`, async () => {
    const child = run(text);
    assert.equal(await child.ended, 0, child.errors);
    assert.equal(child.errors, '');
  });
}

test('a release that nobody awaits, while no node answers', async () => {
  const own = await startNodes(3);
  try {
    const child = run(`
      const lease = await client.acquire('unreachable', { ttl: 20_000 });
      for (const pid of [${own.nodes.map(({ pid }) => pid)}]) process.kill(pid, 'SIGKILL');
      lease.release();`, { nodes: own });
    assert.equal(await child.ended, 0, child.errors);
  } finally {
    await own.stop();
  }
});

test('one of a valid lease, of which the nodes know nothing, does end the process', async () => {
  const child = run(`
    const lease = await client.acquire('deleted', { ttl: 20_000 });
    await client.release('deleted', lease.token);
    lease.release();
    await client.inspect('deleted');`);
  assert.equal(await child.ended, 1, child.errors);
  assert.match(child.errors, /not_holder/);
});

test('a close that nobody awaits releases the leases, also before process.exit', async () => {
  for (const [end, code] of [['', 0], ['process.exit(3);', 3]]) {
    const child = run(`
      await client.acquire('closed/1', { ttl: 20_000 });
      await client.acquire('closed/2', { ttl: 20_000 });
      const call = client.acquire('closed/1').catch(() => {});
      client.close();
      ${end}`);
    assert.equal(await child.ended, code, child.errors);
    assert.equal(child.errors, '');
    assert.ok(await isFree('closed/1'));
    assert.ok(await isFree('closed/2'));
  }
});

test('workers have clients of their own, and leave nothing behind', async () => {
  const program = `
    const { Client } = require('quorum-redlock');
    const { parentPort, workerData } = require('node:worker_threads');
    (async () => {
      const client = await Client.create(workerData.options);
      for (let i = 0; i < 20; ++i) await client.using('worker', async () => {});
      if (workerData.stays) await client.acquire('worker-' + workerData.stays);
      parentPort.postMessage('done');
      if (workerData.stays) await client.acquire('worker-' + workerData.stays);
    })();`;
  // A program that is evaluated looks for the package in the working directory.
  const here = process.cwd();
  process.chdir(packageFolder);
  const workers = [1, 2, 3].map((i) => new Worker(program,
    { eval: true, workerData: { options: servers.options, stays: i === 3 ? 0 : i } }));
  process.chdir(here);
  const codes = workers.map((worker) => once(worker, 'exit'));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  assert.ok(await isHeld('worker-1'));
  assert.deepEqual(await codes[2], [0], 'the idle one has ended by itself');
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.ok(await isFree('worker'));
  assert.ok(await isFree('worker-1'));
  assert.ok(await isFree('worker-2'));
});

test('a forgotten client is closed, a forgotten lease is not released', async () => {
  await collected('what earlier tests left', () => counts().open === 1);
  const used = counts();
  await (async () => {
    for (let i = 0; i < 5; ++i) await (await Client.create(servers.options)).inspect('forgotten');
  })();
  assert.ok(counts().open > used.open);
  await collected('the forgotten clients are closed', () => counts().open === used.open);

  await (async () => {
    const forgetful = await Client.create(servers.options);
    await forgetful.acquire('forgotten', { ttl: 1_000, renew: false });
  })();
  collectGarbage();
  await new Promise(setImmediate);
  collectGarbage();
  assert.ok(await isHeld('forgotten'));
  await collected('it has ended, and its client', () => counts().open === used.open);
  assert.equal(counts().listeners, used.listeners);
});

const collected = (what, condition) => eventually(what, () => {
  collectGarbage();
  return condition();
});

test('thousands of leases leave no memory behind', async () => {
  const takeLeases = async (count) => {
    for (let i = 0; i < count; i += 10) {
      await Promise.all([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(async (n) => {
        const lease = await client.acquire(`cycle/${n}`, { ttl: 20_000 });
        if (n === 0) assert.equal(await client.tryAcquire(`cycle/${n}`), null);
        await lease.release();
      }));
    }
    for (let i = 0; i < 3; ++i) {
      collectGarbage();
      await new Promise(setImmediate); // finalizers run between
    }
    return process.memoryUsage().rss;
  };
  const perRound = 5_000;
  let before = await takeLeases(perRound);
  const used = counts();
  const grown = [];
  // The heaps grow at first, and settle. A leak goes on: a lease is some hundred bytes of the
  // library's, and more of JavaScript's.
  while (grown.length < 8) {
    const now = await takeLeases(perRound);
    grown.push((now - before) / perRound);
    before = now;
    if (grown.at(-1) < 200) break;
  }
  assert.ok(grown.at(-1) < 200, `bytes more for each lease: ${grown.join(', ')}`);
  assert.deepEqual(counts(), used);
});

test('a watch that was left ends', async () => {
  const used = counts();
  for await (const { state } of client.watch('left')) {
    assert.equal(state, 'free');
    assert.ok(counts().listeners > used.listeners);
    break;
  }
  await eventually('it has ended', async () => {
    await client.inspect('left'); // keeps the process alive
    return counts().listeners === used.listeners;
  });
});

test('the library uses the libuv and the OpenSSL that it was compiled for',
  { skip: !inLinuxWithGlibc && 'only the loader of glibc tells' }, async () => {
    await checkBindings('/quorum_redlock.node', async (environment) => {
      const child = run(`await (await client.acquire('loaded')).release();`, { environment });
      assert.equal(await child.ended, 0, child.errors);
    });
  });
