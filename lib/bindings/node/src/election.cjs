'use strict';

// An election is the exclusive lock on its name, with the fencing token as the term and the name of
// the candidate in the token: what redlock::Election does in C++.

const { RedlockError } = require('./error.cjs');
const { check, pick } = require('./options.cjs');
const { showWithoutSecrets } = require('./shown.cjs');
const { Watch } = require('./watch.cjs');

const tokenDigits = 40;
const clientDigits = 16;

/** The leader that an inspection shows, or null. */
function leaderIn({ state, holder }) {
  if (state !== 'held' || holder === null) return null;
  const isOurs = /^[0-9a-f]{40}(:|$)/.test(holder);
  // An operator broke the lock of the last one, and keeps the resource from everybody for a while.
  if (isOurs && /^0+$/.test(holder.slice(clientDigits, tokenDigits))) return null;
  return { candidate: isOurs ? holder.slice(tokenDigits + 1) : '', token: holder };
}

/** Being the leader. */
class Leadership {
  constructor(lease) {
    this.lease = lease;
  }

  get term() {
    return this.lease.fencingToken;
  }

  get valid() {
    return this.lease.valid;
  }

  get lost() {
    return this.lease.lost;
  }

  resign() {
    return this.lease.release();
  }

  toJSON() {
    const { term, valid, lease } = this;
    return { term, valid, lease: lease.toJSON() };
  }
}
showWithoutSecrets(Leadership);
if (Symbol.asyncDispose) {
  Leadership.prototype[Symbol.asyncDispose] = function finish() {
    return this.lease.finish();
  };
}

/** One leader among many candidates. */
class Election {
  #client;
  #watch;
  #options;

  /** For the client. `watch(options, convert)` watches the election's name. */
  constructor(client, name, options, watch) {
    this.name = check('text', name, 'name');
    this.#client = client;
    this.#watch = watch;
    this.#options = pick(options,
      { candidate: 'text', ttl: 'duration', pollInterval: 'duration', onAtRisk: 'callback' },
      'options');
  }

  async campaign(options) {
    return new Leadership(await this.#client.acquire(this.name, this.#terms(options)));
  }

  async lead(options, work) {
    if (typeof options === 'function') [options, work] = [undefined, options];
    return await this.#client.using(this.name, this.#terms(options),
      (lease, signal) => work(new Leadership(lease), signal));
  }

  async leader() {
    const inspection = await this.#client.inspect(this.name);
    if (inspection.state !== 'indeterminate') return leaderIn(inspection);
    const answered = inspection.nodes.filter((node) => node.error === '').length;
    throw new RedlockError({
      code: 'unavailable',
      message: `unknown who leads '${this.name}': ${answered} of ${inspection.nodes.length} nodes `
        + `answered, ${inspection.quorum} needed`,
    });
  }

  observe(options) {
    let last; // undefined: nothing has been seen
    return this.#watch({ pollInterval: this.#options.pollInterval, ...options }, (inspection) => {
      if (inspection.state === 'indeterminate') return undefined;
      const leader = leaderIn(inspection);
      if (last !== undefined && last?.token === leader?.token) return undefined;
      last = leader;
      return leader;
    });
  }

  #terms(options) {
    const { wait, signal } = pick(options, { wait: 'duration', signal: 'signal' }, 'options');
    const { candidate: name, ttl, onAtRisk } = this.#options;
    return { name, ttl, onAtRisk, wait, signal, renew: true, fencing: true };
  }
}

module.exports = { Election, Leadership };
