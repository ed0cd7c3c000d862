// This package as a contender of `quorum-lock chaos --contender-command 'node contender.mjs'`,
// which judges its leases together with those of the C++ library. tools/docs/CLI.md has the contract.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { Client, RedlockError, now } from 'quorum-redlock';

const environment = (name) => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: started by quorum-lock chaos?`);
  return value;
};
const folder = environment('QUORUM_LOCK_CHAOS_FOLDER');
const healedFile = environment('QUORUM_LOCK_CHAOS_HEALED');
const resources = environment('QUORUM_LOCK_CHAOS_RESOURCES').split(',');
const maxTtl = Number(environment('QUORUM_LOCK_CHAOS_MAX_TTL_MS'));
const history = fs.openSync(environment('QUORUM_LOCK_CHAOS_HISTORY'), 'a');

const record = (...words) => fs.writeSync(history, `${words.join(' ')}\n`);
const between = (least, most) => least + Math.floor(Math.random() * (most - least + 1));
const oneIn = (n) => between(1, n) === 1;
// Every time is rounded in the same way, which keeps the order of any two times.
const nanoseconds = (ms) => BigInt(Math.round(ms * 1e6));
const nowNs = () => nanoseconds(now());

const client = await Client.create({ nodes: environment('QUORUM_LOCK_NODES').split(','), maxTtl });
let leases = 0;

/** A lease as the history knows it. */
class Holding {
  constructor(resource, lease, ttl, asked) {
    this.number = ++leases;
    this.resource = resource;
    this.lease = lease;
    this.over = false;
    this.deadline = nanoseconds(lease.validUntil);
    record('granted', this.number, resource, asked, nowNs(), this.deadline, nanoseconds(ttl), 0);
    record('token', this.number, lease.token);
    lease.lost.addEventListener('abort', () => this.ends('lost'));
  }

  valid() {
    if (this.over) return false;
    const asked = nowNs();
    const valid = this.lease.valid;
    const until = nanoseconds(this.lease.validUntil);
    if (valid && until !== this.deadline) {
      record('deadline', this.number, nowNs(), until);
      this.deadline = until;
    }
    if (valid) record('used', this.number, asked);
    return valid;
  }

  ends(how) {
    if (this.over) return;
    this.over = true;
    record('ended', this.number, nowNs(), how);
  }
}

/** Compare-and-set under the lock that the other contenders take as well, flock(2). */
function replace(file, from, to) {
  const script =
    'line=; read -r line <"$1"; [ "$line" = "$2" ] || exit 1; printf "%s\\n" "$3" 1<>"$1"';
  return new Promise((done, failed) => {
    const child = spawn('flock', [file, 'sh', '-c', script, 'sh', file, from, to],
      { stdio: 'ignore' });
    child.on('error', failed);
    child.on('exit', (code) => done(code === 0));
  });
}

async function update(holding) {
  const file = `${folder}/${holding.resource.replaceAll('/', '-')}.counter`;
  const from = fs.readFileSync(file, 'latin1').trimEnd();
  // Only a value read before the lease ended counts.
  if (!holding.valid()) return;
  const [value, token] = from === '' ? ['0', '0'] : from.split(' ');
  const to = [BigInt(value) + 1n, BigInt(token)].map((n) => n.toString().padStart(20, '0'));
  record('trying', holding.number, nowNs());
  const took = await replace(file, from, to.join(' '));
  record(took ? 'wrote' : 'refused', holding.number, nowNs());
}

async function acquire(resource, ttl, options) {
  const asked = nowNs();
  try {
    const lease = await client.acquire(resource, { ttl, wait: between(0, 500), ...options });
    return new Holding(resource, lease, ttl, asked);
  } catch (error) {
    const cancelled = error.name === 'TimeoutError';
    if (!cancelled && !(error instanceof RedlockError)) throw error;
    record('failed', resource, asked, nowNs(), cancelled ? 'cancelled' : error.code);
    return undefined;
  }
}

async function holdOnce(resource) {
  const ttl = between(200, Math.min(800, maxTtl));
  // Some waits are cancelled, at any moment.
  const signal = oneIn(5) ? AbortSignal.timeout(between(1, 50)) : undefined;
  const holding = await acquire(resource, ttl, { signal, renew: oneIn(3) });
  if (holding === undefined) return false;
  for (let i = between(1, 3); i > 0 && holding.valid(); --i) {
    await update(holding);
    await pause(between(0, 2));
  }
  if (oneIn(4) && holding.valid()) {
    await holding.lease.extend(ttl).catch(() => {});
    if (holding.valid()) await update(holding);
  }
  if (oneIn(30)) {
    for (const end = now() + ttl; now() < end && holding.valid();) await pause(5);
  }
  holding.ends('released');
  await holding.lease.release().catch(() => {});
  return true;
}

while (!fs.existsSync(healedFile)) {
  if (!(await holdOnce(resources[between(0, resources.length - 1)]))) await pause(between(1, 20));
}
for (const resource of resources) {
  while (!(await holdOnce(resource))) await pause(between(1, 20));
}
await client.close();
