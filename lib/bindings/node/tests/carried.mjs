// An installed package that carries the library takes a lock, with the libraries that it carries and no
// others: node carried.mjs FOLDER, in which the package is installed. Run by tests/packages/npm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { checkBindings } from './bindings.mjs';
import { startNodes } from './nodes.mjs';

const [folder, ...urls] = process.argv.slice(2);
const load = createRequire(path.join(fs.realpathSync(folder), 'here.cjs'));
const bundled = path.join(path.dirname(load.resolve('quorum-redlock')), 'bundled');

async function takeALock(nodes) {
  const { Client } = load('quorum-redlock');
  // A machine that has nothing else has no quorum-lock to open the nodes with.
  const client = await Client.create({ nodes, guards: { restart: false } });
  const lease = await client.acquire('carried', { fencing: true });
  assert.equal(typeof lease.fencingToken, 'number');
  await lease.release();
  await client.close();

  const loaded = new Set(fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
    .map((line) => line.split(/\s+/).at(-1)).filter((file) => file.includes('.so')));
  const carried = fs.readdirSync(bundled).filter((name) => name.includes('.so'))
    .map((name) => path.join(bundled, name));
  assert.ok(carried.length >= 3, carried.join(' '));
  for (const file of carried) assert.ok(loaded.has(file), `${file} is not loaded`);
  // Debian's Node.js itself loads the system's libuv and OpenSSL.
  for (const file of loaded) {
    assert.ok(file.startsWith(bundled) || !/libredlock|libhiredis/.test(file), file);
  }
}

if (urls.length > 0) {
  await takeALock(urls);
} else {
  const nodes = await startNodes(3);
  try {
    await checkBindings('quorum_redlock.node', (environment) => {
      const { status, stderr } = spawnSync(process.execPath,
        [process.argv[1], folder, ...nodes.urls],
        { encoding: 'utf8', env: { ...process.env, ...environment } });
      assert.equal(status, 0, stderr);
    }, / to \S*\/bundled\/quorum_redlock-lib(uv|ssl|crypto)\S*/);
  } finally {
    await nodes.stop();
  }
  console.log('npm: installed and used');
}
