// Runs jobs, each at most once at a time, however many of these programs run on however many
// machines:
//
//   node jobs.mjs redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3
import { setTimeout as pause } from 'node:timers/promises';

import { Client, RedlockError } from 'quorum-redlock';

const client = await Client.create({
  nodes: process.argv.slice(2),
  name: `jobs, process ${process.pid}`,
  nameHolders: true,
});

const steps = ['read', 'compute', 'write'];
async function run(job, lease, signal) {
  for (const step of steps) {
    // Ask again before each step that cannot be undone. The storage refuses smaller numbers than
    // one that it has seen.
    lease.throwIfInvalid();
    console.log(`${job}: ${step}, number ${lease.fencingToken}`);
    await pause(10, undefined, { signal });
  }
}

for (const job of ['invoices', 'reminders']) {
  try {
    await client.using(`jobs/${job}`, { ttl: 5_000, wait: 10_000, fencing: true },
      (lease, signal) => run(job, lease, signal));
    console.log(`${job}: done`);
  } catch (error) {
    if (!(error instanceof RedlockError)) throw error;
    console.error(`${job}: not done: ${error.message}`);
    process.exitCode = 1;
  }
}
await client.close();
