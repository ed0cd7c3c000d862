// One run of lock cycles by another Redlock client, for `quorum-lock bench --peers`, which starts it with
// the folder of the packages as its argument. Standard input has the settings:
//
//   {"peer": "node-redlock" or "redlock-universal", "nodes": [{"host", "port", "path", "password"}],
//    "in_flight": N, "warm_up_ms": N, "duration_ms": N, "ttl_ms": N, "prefix": "of the resources"}
//
// Standard output gets the line `measuring` when the warm-up is over, and then the result, a line with
//
//   {"version", "runtime", "cycles", "failures", "elapsed_ns", "cpu_user_us", "cpu_kernel_us",
//    "acquire": [[ns, how often], …], "cycle": [[ns, how often], …]}
//
// or {"error": "why"}. A path stands for host and port.
import fs from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const say = (line) => fs.writeSync(1, line + "\n");
const fail = (error) => {
  say(JSON.stringify({ error: String(error?.message ?? error) }));
  process.exit(1);
};
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

const settings = JSON.parse(fs.readFileSync(0, "utf8"));

/** The package's exports do not always have this file, so it is read. */
const versionOf = (name) => {
  const folder = require.resolve.paths(name)[0];
  return JSON.parse(fs.readFileSync(`${folder}/${name}/package.json`, "utf8")).version.replace(/^v/, "");
};

/** Durations with three digits each: how often each came. */
class Durations {
  counts = new Map();
  record(ns) {
    const key = Number(ns.toPrecision(3));
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }
}

function connect() {
  const Redis = require("ioredis");
  return settings.nodes.map((node) => {
    const client = new Redis({
      ...(node.path ? { path: node.path } : { host: node.host, port: node.port }),
      password: node.password || undefined,
      // What many locks send at once goes out in one write: the fastest setting for many, not for one.
      enableAutoPipelining: settings.in_flight > 1,
      retryStrategy: () => null,
    });
    client.on("error", () => {}); // the commands fail, and that is counted
    return client;
  });
}

/** For a resource: a function that acquires it, and gives one that releases it again. */
const peers = {
  "node-redlock": {
    package: "redlock-5",
    locks(clients) {
      const Redlock = require("redlock-5").default;
      const redlock = new Redlock(clients, { retryCount: 0 });
      redlock.on("error", () => {});
      return (resource) => async () => {
        const lock = await redlock.acquire([resource], settings.ttl_ms);
        return () => lock.release();
      };
    },
  },
  "redlock-universal": {
    package: "redlock-universal",
    locks(clients) {
      const { createRedlock, IoredisAdapter } = require("redlock-universal");
      const adapters = clients.map((client) => new IoredisAdapter(client));
      return (resource) => {
        const lock = createRedlock({
          adapters, key: resource, ttl: settings.ttl_ms, retryAttempts: 0,
        });
        return async () => {
          const handle = await lock.acquire();
          return () => lock.release(handle);
        };
      };
    },
  },
};

const now = () => performance.now() * 1e6; // nanoseconds
const peer = peers[settings.peer];
const clients = connect();
await Promise.all(clients.map((client) => client.ping()));
const lockOf = peer.locks(clients);

const from = now() + settings.warm_up_ms * 1e6;
let until = from + settings.duration_ms * 1e6;
let measuredFrom = 0;
let cpu;
let cycles = 0;
let failures = 0;
const acquire = new Durations();
const cycle = new Durations();

async function lane(index) {
  const lock = lockOf(`${settings.prefix}/${index}`);
  for (;;) {
    const start = now();
    if (start >= until) return;
    if (measuredFrom === 0 && start >= from) {
      say("measuring");
      cpu = process.cpuUsage();
      measuredFrom = now();
      until = measuredFrom + settings.duration_ms * 1e6;
    }
    const counts = measuredFrom !== 0 && start >= measuredFrom;
    try {
      const release = await lock();
      const acquired = now();
      await release();
      if (!counts) continue;
      const end = now();
      acquire.record(acquired - start);
      cycle.record(end - start);
      ++cycles;
    } catch {
      if (counts) ++failures;
      // Otherwise a lane that fails without asking anybody would leave no time to the others.
      await new Promise(setImmediate);
    }
  }
}

await Promise.all(Array.from({ length: settings.in_flight }, (_, index) => lane(index)));
const used = process.cpuUsage(cpu);
say(JSON.stringify({
  version: versionOf(peer.package),
  runtime: `Node.js ${process.versions.node}`,
  cycles,
  failures,
  elapsed_ns: measuredFrom === 0 ? 0 : Math.round(now() - measuredFrom),
  cpu_user_us: used.user,
  cpu_kernel_us: used.system,
  acquire: [...acquire.counts],
  cycle: [...cycle.counts],
}));
process.exit(0);
