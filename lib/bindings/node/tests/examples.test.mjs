// The programs of ../examples, and the first one of the documentation, as their readers run them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from 'quorum-redlock';

import { eventually, startNodes } from './nodes.mjs';

const packageFolder = fileURLToPath(new URL('..', import.meta.url));

let servers;
const running = new Set();
before(async () => { servers = await startNodes(3); });
after(async () => {
  for (const child of running) child.kill('SIGKILL');
  await servers?.stop();
});

function run(...words) {
  const child = spawn(process.execPath, [...words, ...servers.urls],
    { cwd: packageFolder, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.output = '';
  child.errors = '';
  child.stdout.on('data', (data) => { child.output += data; });
  child.stderr.on('data', (data) => { child.errors += data; });
  child.ended = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code;
  });
  return child;
}

test('the first program of the documentation', async () => {
  const page = fs.readFileSync(`${packageFolder}/README.md`, 'utf8');
  const [, program] = page.match(/```js\n(import [^]*?)```/);
  const child = run('--input-type=module', '--eval', program, '--', 'first.mjs');
  assert.equal(await child.ended, 0, child.errors);
  assert.match(child.output, /^write with the number \d+\n$/);
});

test('the program for operators of the documentation', async () => {
  const page = fs.readFileSync(`${packageFolder}/README.md`, 'utf8');
  const [, program] = page.match(/```js\n(import [^;]* deployment [^]*?)```/);
  const child = run('--input-type=module', '--eval', program, '--', 'operate.mjs');
  assert.equal(await child.ended, 0, child.errors);
  assert.equal(child.output, '3 nodes, locks are granted in 0 ms\n3 members\n'
    + 'invoice/42 of operator is broken\n');
});

const projectPage = process.env.REDLOCK_PAGES ?? '';
test('the program of the project\'s README', { skip: projectPage === '' }, async () => {
  const page = fs.readFileSync(projectPage, 'utf8');
  const [, program] = page.match(/```js\n(import [^]*?)```/);
  const text = program.replace(/nodes: \[[^\]]*\]/, `nodes: ${JSON.stringify(servers.urls)}`);
  assert.notEqual(text, program);
  const child = run('--input-type=module', '--eval', text, '--');
  assert.equal(await child.ended, 0, child.errors);
  assert.match(child.output, /^write with the number \d+\n$/);
});

test('a signal ends the work that the documentation shows, and its lease', async () => {
  const page = fs.readFileSync(`${packageFolder}/README.md`, 'utf8');
  const [, program] = page.match(/```js\n(const stop = new AbortController[^]*?)```/);
  const begin = `
    import { Client, RedlockError } from 'quorum-redlock';
    import { setTimeout as pause } from 'node:timers/promises';
    const client = await Client.create({ nodes: process.argv.slice(1) });
    async function work(signal) {
      console.log('works');
      await pause(3_600_000, undefined, { signal }).catch(() => {});
    }`;
  const child = run('--input-type=module', '--eval', begin + program, '--');
  await eventually('it works', () => child.output === 'works\n');
  child.kill('SIGTERM');
  assert.equal(await child.ended, 0, child.errors);
  const client = await Client.create({ nodes: servers.urls });
  assert.equal((await client.inspect('invoice/42')).state, 'free');
  await client.close();
});

test('jobs run once at a time', async () => {
  const children = [run('examples/jobs.mjs'), run('examples/jobs.mjs')];
  const numbers = [];
  for (const child of children) {
    assert.equal(await child.ended, 0, child.errors);
    for (const job of ['invoices', 'reminders']) {
      const steps = child.output.split('\n').filter((line) => line.startsWith(`${job}:`));
      assert.equal(steps.length, 4, child.output);
      assert.equal(steps[3], `${job}: done`);
      numbers.push(steps[0].match(/\d+$/)[0]);
    }
  }
  assert.equal(new Set(numbers).size, 4, 'each has a number of its own');
});

test('one leads at a time, and is replaced when it stops', async () => {
  const leads = (child) => child.output.match(/^leads with term (\d+)$/m)?.[1];
  const children = [run('examples/leader.mjs'), run('examples/leader.mjs')];
  const first = await eventually('one leads', () => children.find(leads));
  const second = children.find((child) => child !== first);
  assert.equal(leads(second), undefined);
  first.kill('SIGTERM');
  assert.equal(await first.ended, 0, first.errors);
  assert.match(first.output, /^leads no more$/m);
  await eventually('the other one leads', () => leads(second));
  assert.ok(Number(leads(second)) > Number(leads(first)));
  second.kill('SIGTERM');
  assert.equal(await second.ended, 0, second.errors);
});
