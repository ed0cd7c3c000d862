// node-redlock as a contender of `quorum-lock chaos --contender-command 'node contender.mjs 4'`:
// the same locks, by the algorithm's reference implementation, in the same history. The contract is
// in tools/docs/CLI.md. The argument says which version of node-redlock: 4 or 5.
//
// node-redlock has no fencing token. Its lock lasts until its `expiration`, which the history
// records. Each attempt is a separate call, and so has a new value, because a release that arrives
// late would otherwise end the next attempt's lock.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";

// Installed elsewhere: see ./run.
const require = createRequire(process.env.FOREIGN_MODULES ?? import.meta.url);
const version = process.argv[2] ?? "4";
if (version !== "4" && version !== "5") throw new Error(`node-redlock ${version}: 4 or 5`);
const Redis = require("ioredis");
const Redlock = version === "5" ? require("redlock-5").default : require("redlock");

const environment = (name) => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: started by quorum-lock chaos?`);
  return value;
};
const folder = environment("QUORUM_LOCK_CHAOS_FOLDER");
const healedFile = environment("QUORUM_LOCK_CHAOS_HEALED");
const resources = environment("QUORUM_LOCK_CHAOS_RESOURCES").split(",");
const nodes = environment("QUORUM_LOCK_NODES").split(",");
const clockOffset = BigInt(environment("QUORUM_LOCK_CHAOS_CLOCK_OFFSET_NS"));
const longestTtl = Math.min(800, Number(environment("QUORUM_LOCK_CHAOS_MAX_TTL_MS")));
const history = fs.openSync(environment("QUORUM_LOCK_CHAOS_HISTORY"), "a");

const bootNow = () => process.hrtime.bigint() + clockOffset;
const record = (...words) => fs.writeSync(history, words.join(" ") + "\n");
const between = (least, most) => least + Math.floor(Math.random() * (most - least + 1));
const oneIn = (n) => between(1, n) === 1;
const pause = (least, most) => new Promise((done) => setTimeout(done, between(least, most)));

const clients = nodes.map((url) => {
  const client = new Redis(url, {
    commandTimeout: 300,
    connectTimeout: 300,
    maxRetriesPerRequest: null,
    retryStrategy: () => 50,
  });
  client.on("error", () => {}); // broken links are part of the test
  return client;
});
const redlock = new Redlock(clients, { retryCount: 0, driftFactor: 0.01 });
redlock.on(version === "5" ? "error" : "clientError", () => {});

let leases = 0;

/** A lease, as it is recorded in the history. */
class Holding {
  constructor(resource, lock, ttl, asked) {
    this.number = ++leases;
    this.resource = resource;
    this.lock = lock;
    this.ttl = ttl;
    this.expiration = lock.expiration;
    // The clocks are read in this order, so that a process that is stopped in between records too
    // little, not too much.
    const before = bootNow();
    this.deadline = before + BigInt(lock.expiration - Date.now()) * 1_000_000n;
    const granted = bootNow();
    record("granted", this.number, resource, asked, granted, this.deadline,
      BigInt(ttl) * 1_000_000n, 0);
    record("token", this.number, lock.value);
  }

  valid() {
    const asked = bootNow();
    // The second check is for a wall clock that was set back: the record is about the other clock.
    if (Date.now() >= this.expiration || asked >= this.deadline) return false;
    record("used", this.number, asked);
    return true;
  }

  ends() {
    record("ended", this.number, bootNow(), "released");
  }
}

/** The lease; undefined if it was not granted. */
async function acquire(resource) {
  const ttl = between(200, longestTtl);
  const asked = bootNow();
  try {
    const lock = await redlock.acquire([resource], ttl);
    return new Holding(resource, lock, ttl, asked);
  } catch (error) {
    record("failed", resource, asked, bootNow(), error.name);
    return undefined;
  }
}

/** A lease of its own in the history: while it is extended, node-redlock promises nothing, because
 *  an extension that fails may have released the lock. */
async function extended(holding) {
  const ttl = longestTtl;
  holding.ends();
  const asked = bootNow();
  try {
    const lock = await holding.lock.extend(ttl);
    return new Holding(holding.resource, lock, ttl, asked);
  } catch {
    return undefined;
  }
}

/** Compare-and-set under the lock that our contenders take as well, flock(2). */
function replace(file, from, to) {
  const script =
    'line=; read -r line <"$1"; [ "$line" = "$2" ] || exit 1; printf "%s\\n" "$3" 1<>"$1"';
  return new Promise((done, failed) => {
    const child = spawn("flock", [file, "sh", "-c", script, "sh", file, from, to],
      { stdio: "ignore" });
    child.on("error", failed);
    child.on("exit", (code) => done(code === 0));
  });
}

async function update(holding) {
  const file = `${folder}/${holding.resource.replaceAll("/", "-")}.counter`;
  const from = fs.readFileSync(file, "latin1").trimEnd();
  // A value counts only if it was read before the lease ended.
  if (!holding.valid()) return;
  const [value, token] = from === "" ? ["0", "0"] : from.split(" ");
  const to = [BigInt(value) + 1n, BigInt(token)].map((n) => n.toString().padStart(20, "0"));
  record("trying", holding.number, bootNow());
  const took = await replace(file, from, to.join(" "));
  record(took ? "wrote" : "refused", holding.number, bootNow());
}

async function holdOnce(resource) {
  let holding = await acquire(resource);
  if (holding === undefined) return false;
  for (let i = between(1, 3); i > 0 && holding.valid(); --i) {
    await update(holding);
    await pause(0, 2);
  }
  if (oneIn(4) && holding.valid()) {
    holding = await extended(holding);
    if (holding === undefined) return true;
    if (holding.valid()) await update(holding);
  }
  if (oneIn(50)) while (holding.valid()) await pause(5, 20);
  if (!holding.valid()) return true;
  holding.ends();
  // One in twenty is left to its TTL.
  if (!oneIn(20)) {
    const release = version === "5" ? holding.lock.release() : holding.lock.unlock();
    await release.catch(() => {});
  }
  return true;
}

// With an even number of nodes, version 5 waits for ever when half of them refuse.
if (version === "5" && nodes.length % 2 === 0) {
  throw new Error("node-redlock 5 needs an odd number of nodes");
}
while (!fs.existsSync(healedFile)) {
  if (!(await holdOnce(resources[between(0, resources.length - 1)]))) await pause(1, 20);
}
for (const resource of resources) {
  while (!(await holdOnce(resource))) await pause(1, 20);
}
process.exit(0);
