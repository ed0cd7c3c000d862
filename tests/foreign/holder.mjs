// holder.mjs CLIENT RESOURCE URL…: acquires the lock once, with a client from npm. Prints `held` and
// keeps the lock until standard input ends, or prints `refused`. Started by ./exclude.
import { createRequire } from "node:module";

const require = createRequire(process.env.FOREIGN_MODULES);
const Redis = require("ioredis");
const [name, resource, ...urls] = process.argv.slice(2);
const ttl = 20_000;

const nodes = urls.map((url) => new Redis(url.replace(/^unix:\/\//, "")));
for (const node of nodes) node.on("error", () => {});

/** For each client: what its refusal is, and a function that acquires and gives the release. */
const clients = {
  "node-redlock-4": {
    refused: (error) => error.name === "LockError",
    async acquire() {
      const Redlock = require("redlock");
      const lock = await new Redlock(nodes, { retryCount: 0 }).lock(resource, ttl);
      return () => lock.unlock();
    },
  },
  "node-redlock-5": {
    refused: (error) => error.name === "ExecutionError",
    async acquire() {
      const Redlock = require("redlock-5").default;
      const lock = await new Redlock(nodes, { retryCount: 0 }).acquire([resource], ttl);
      return () => lock.release();
    },
  },
  "sesamecare-redlock": {
    refused: (error) => error.name === "ExecutionError",
    async acquire() {
      const { Redlock } = require("@sesamecare-oss/redlock");
      const lock = await new Redlock(nodes, { retryCount: 0 }).acquire([resource], ttl);
      return () => lock.release();
    },
  },
  "redlock-universal": {
    refused: (error) => error.name === "LockAcquisitionError",
    async acquire() {
      const { createRedlock, IoredisAdapter } = require("redlock-universal");
      const adapters = nodes.map((node) => new IoredisAdapter(node));
      const lock = createRedlock({ adapters, key: resource, ttl, retryAttempts: 0 });
      const handle = await lock.acquire();
      return () => lock.release(handle);
    },
  },
  // Its key is `mutex:` and the name.
  "redis-semaphore": {
    refused: (error) => error.message.startsWith("Acquire redlock-mutex"),
    async acquire() {
      const { RedlockMutex } = require("redis-semaphore");
      const options = { lockTimeout: ttl, acquireAttemptsLimit: 1, refreshInterval: 0 };
      const lock = new RedlockMutex(nodes, resource.replace(/^mutex:/, ""), options);
      await lock.acquire();
      return () => lock.release();
    },
  },
};

const client = clients[name];
try {
  const release = await client.acquire();
  console.log("held");
  await new Promise((done) => process.stdin.resume().on("end", done));
  await release();
} catch (error) {
  if (!client.refused(error)) throw error;
  console.log("refused");
}
process.exit(0);
