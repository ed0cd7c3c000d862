// Credentials that change while clients run: of a function, and of a file.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { Client, RedlockError, deployment } from 'quorum-redlock';

import { eventually, startNodes } from './nodes.mjs';

let servers;
let folder;
let password = '';
before(async () => {
  servers = await startNodes(5);
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'quorum-redlock-credentials-'));
});
after(async () => {
  await servers?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Commands of one connection that has authenticated, in one write. */
const commandsOf = (...words) =>
  words.map((list) => `*${list.length}\r\n`
    + list.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')).join('');

/** From now on new connections need this password, and there are none but new ones. */
async function rotate(next, nodes = servers.nodes) {
  for (const node of nodes) {
    await new Promise((resolve, reject) => {
      const connection = net.connect(node.socket);
      connection.on('error', reject);
      connection.on('close', resolve);
      connection.resume();
      connection.end(commandsOf(...(password === '' ? [] : [['AUTH', password]]),
        ['CONFIG', 'SET', 'requirepass', next], ['CLIENT', 'KILL', 'TYPE', 'normal'], ['QUIT']));
    });
  }
  password = next;
}

const holds = async (lease) => eventually('the lease is extended', async () => {
  assert.equal(lease.lost.aborted, false);
  return await lease.extend(20_000).then(() => true, () => false);
});

test('an asynchronous function, over a rotation and the death of a minority', async () => {
  await rotate('first');
  const urls = new Set();
  const client = await Client.create({
    ...servers.options,
    credentials: async (url) => {
      urls.add(url);
      await new Promise(setImmediate);
      return { user: 'default', password };
    },
  });
  const lease = await client.acquire('rotated', { ttl: 20_000 });
  await rotate('second');
  await holds(lease);
  await servers.nodes[1].stop();
  await servers.nodes[4].stop();
  const alive = servers.nodes.filter((_, i) => i !== 1 && i !== 4);
  await rotate('third', alive);
  await holds(lease);
  assert.deepEqual([...urls].sort(), [...servers.urls].sort());
  assert.equal((await client.list()).locks.length, 1);
  let asked = 0;
  const credentials = async () => {
    ++asked;
    return { user: 'default', password };
  };
  const { findings } = await deployment.check({ nodes: servers.urls, credentials });
  assert.deepEqual(findings.map(({ kind }) => kind), ['unreachable', 'unreachable']);
  assert.ok(asked >= 3);
  const wrong = await deployment.check({ nodes: servers.urls, credentials: () => 'wr0ng' });
  assert.equal(wrong.findings.filter(({ kind }) => kind === 'auth').length, 3);
  await lease.release();
  await client.close();
  servers.nodes = alive;
});

test('a file that is replaced', async () => {
  const file = path.join(folder, 'password');
  fs.writeFileSync(file, `${password}\n`);
  const client = await Client.create({ ...servers.options, passwordFile: file });
  const lease = await client.acquire('by file', { ttl: 20_000 });
  fs.writeFileSync(`${file}.next`, 'fourth\n');
  fs.renameSync(`${file}.next`, file);
  await rotate('fourth');
  await holds(lease);
  await client.close();
});

test('a function that returns the password alone, and one that fails', async () => {
  const plain = await Client.create({ ...servers.options, credentials: () => password });
  await (await plain.acquire('plain')).release();
  await plain.close();
  for (const [credentials, message] of [
    [() => { throw new Error('the vault is sealed'); }, /no credentials: the vault is sealed/],
    [async () => { throw 'no token'; }, /no credentials: no token/],
    [() => { throw new Error('half \ud800'); }, /no credentials: half/],
    [() => undefined, /no credentials: credentials: password: a string is needed/],
    [() => ({ user: 'x', password: 'a\0b' }), /no credentials: .*U\+0000/],
    [() => 'wr0ng', /WRONGPASS/],
  ]) {
    const client = await Client.create({ ...servers.options, credentials });
    await assert.rejects(client.acquire('r', { wait: 0 }), (error) => {
      assert.ok(error instanceof RedlockError, error);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /wr0ng/);
      return true;
    });
    await client.close();
  }
});

test('a client is closed, and a worker ends, while an answer is awaited', async () => {
  let asked = 0;
  const client = await Client.create({
    ...servers.options, credentials: () => { ++asked; return new Promise(() => {}); },
  });
  await eventually('it is asked', () => asked >= 3);
  await client.close();
  const worker = new Worker(`
    const { parentPort, workerData } = require('node:worker_threads');
    import('quorum-redlock').then(async ({ Client }) => {
      await Client.create({ nodes: workerData, credentials: () => {
        parentPort.postMessage('asked');
        return new Promise(() => {});
      } });
    });
    parentPort.ref();
    setInterval(() => {}, 1000);`, { eval: true, workerData: servers.urls });
  await new Promise((resolve) => { worker.once('message', resolve); });
  await worker.terminate();
});

test('a mistake is named', async () => {
  await assert.rejects(Client.create({ ...servers.options, credentials: 'secret' }),
    { code: 'invalid_argument' });
  await assert.rejects(
    Client.create({ ...servers.options, password: 'x', credentials: () => 'x' }),
    { code: 'invalid_argument', message: 'credentials: not together with a password' });
  await assert.rejects(
    Client.create({ ...servers.options, passwordFile: '/x', credentials: () => 'x' }),
    { code: 'invalid_argument' });
});
