// A worker that must run exactly once. One of these programs leads, and the others wait. One of
// them takes over within seconds when the leader dies or is asked to stop:
//
//   node leader.mjs redis://10.0.0.1 redis://10.0.0.2 redis://10.0.0.3
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { Client, RedlockError } from 'quorum-redlock';

const client = await Client.create({
  nodes: process.argv.slice(2),
});
const candidate = `${hostname()}:${process.pid}`;
const election = client.election('worker', { candidate, ttl: 5_000 });

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());

async function work({ term }, signal) {
  console.log(`leads with term ${term}`);
  // Aborted when leadership is lost, and when the program is asked to stop.
  while (!signal.aborted) {
    // … one piece of work, with the term along with every write
    await pause(100, undefined, { signal }).catch(() => {});
  }
  console.log('leads no more');
}

while (!stop.signal.aborted) {
  try {
    await election.lead({ signal: stop.signal }, work);
  } catch (error) {
    if (stop.signal.aborted) break;
    if (!(error instanceof RedlockError)) throw error;
    console.error(error.message);
    await pause(1_000);
  }
}
await client.close();
