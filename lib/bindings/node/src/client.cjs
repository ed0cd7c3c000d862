'use strict';

const native = require('./native.cjs');
const { Connection, untilAborted } = require('./connection.cjs');
const { listLocks } = require('./deployment.cjs');
const { Election } = require('./election.cjs');
const { RedlockError, wrongType } = require('./error.cjs');
const { DetachedLease } = require('./detached.cjs');
const { checkedInspection } = require('./fencing.cjs');
const { Lease } = require('./lease.cjs');
const { acquireOptions, check, clientOptions, pick } = require('./options.cjs');
const { showWithoutSecrets, shownUrl } = require('./shown.cjs');
const { nativeTarget, resourceName, tokenText } = require('./target.cjs');
const { Watch } = require('./watch.cjs');

// Only `create` has this symbol, so only `create` can call the constructor.
const creating = Symbol('creating');

/** A client of one deployment. Make it with `Client.create`. */
class Client {
  #connection;
  #options;

  constructor(caller, options) {
    if (caller !== creating) {
      throw wrongType('new Client() is not possible: use await Client.create(options)');
    }
    this.#connection = new Connection(options);
    this.#options = options.native;
  }

  static async create(options) {
    return new Client(creating, clientOptions(options));
  }

  async acquire(resource, options) {
    return await this.#acquire(resource, options, false);
  }

  async tryAcquire(resource, options) {
    try {
      return await this.#acquire(resource, options, true);
    } catch (error) {
      if (error instanceof RedlockError && (error.code === 'held' || error.code === 'split')) {
        return null;
      }
      throw error;
    }
  }

  async adopt(detached, options) {
    const { text } =
      detached instanceof DetachedLease ? detached : new DetachedLease(detached);
    const terms = acquireOptions(options);
    return await this.#askLease('adopt', [text, terms.native], terms).answer;
  }

  async using(resource, options, work) {
    if (typeof options === 'function') [options, work] = [undefined, options];
    check('callback', work, 'work');
    const lease = await this.acquire(resource, options);
    const signal = options?.signal ? AbortSignal.any([options.signal, lease.lost]) : lease.lost;
    this.#connection.hold(); // work that waits for the signal alone
    try {
      let result;
      try {
        result = await work(lease, signal);
      } catch (error) {
        await lease.finish().catch(() => {}); // the first failure is the one to know
        throw error;
      }
      await lease.finish();
      return result;
    } finally {
      this.#connection.letGo();
    }
  }

  // face: calls by a token
  async extend(resource, token, ttl = native.defaultTtl) {
    check('duration', ttl, 'ttl');
    const asked = [nativeTarget(resource), tokenText(token), ttl];
    return await this.#connection.ask('extend', asked).answer;
  }

  async downgrade(resource, token) {
    const asked = [resourceName(resource), tokenText(token)];
    return await this.#connection.ask('downgrade', asked).answer;
  }

  async release(resource, token) {
    const asked = [nativeTarget(resource), tokenText(token)];
    return await this.#connection.ask('release', asked).answer;
  }

  async breakLock(resource, token, options) {
    const { delay = 0 } = pick(options, { delay: 'duration' }, 'options');
    const asked = [resourceName(resource), tokenText(token), delay];
    return await this.#connection.ask('break_lock', asked).answer;
  }
  // face: end

  async ownership(resource, token) {
    const asked = [resourceName(resource), tokenText(token)];
    return await this.#connection.ask('ownership', asked).answer;
  }

  async inspect(resource) {
    return await this.#connection
      .ask('inspect', [resourceName(resource)], checkedInspection).answer;
  }

  watch(resource, options) {
    return this.#watch(resource, options, (inspection) => inspection);
  }

  election(name, options) {
    return new Election(this, name, options, (given, convert) => this.#watch(name, given, convert));
  }

  async list(options) {
    this.#connection.throwIfClosed();
    return await listLocks(this.#options, this.#connection.callbacks?.credentials, options);
  }

  async prometheus(labels) {
    const pairs = Object.entries(check('object', labels ?? {}, 'labels'));
    const asked = [pairs.map(([name]) => check('text', name, 'label')),
      pairs.map(([, value]) => check('text', value, 'label value'))];
    return await this.#connection.ask('prometheus', asked).answer;
  }

  toJSON() {
    const { nodes, name, prefix } = this.#options;
    return {
      nodes: nodes.map(shownUrl),
      ...(name !== undefined && { name }),
      ...(prefix !== undefined && { prefix }),
      closed: this.#connection.closed,
    };
  }

  async close() {
    return await this.#connection.close();
  }

  #watch(resource, options, convert) {
    const checked = pick(options, { pollInterval: 'duration', signal: 'signal' }, 'options');
    return new Watch(this.#connection, resourceName(resource), checked, convert);
  }

  #askLease(method, given, terms) {
    return this.#connection.ask(
      method, given, (granted, id) => new Lease(this.#connection, id, granted, terms));
  }

  async #acquire(resource, options, once) {
    const terms = acquireOptions(options);
    const { wait, signal } = terms;
    signal?.throwIfAborted();
    const { request, answer } = this.#askLease(
      'acquire', [nativeTarget(resource), once ? 0 : wait, terms.native], terms);
    const lease = await untilAborted(answer, signal, () => this.#connection.cancel(request));
    if (signal?.aborted) {
      // The lock was granted at the moment when the caller gave up.
      lease.release().catch(() => {});
      throw signal.reason;
    }
    return lease;
  }
}
showWithoutSecrets(Client);
if (Symbol.asyncDispose) {
  Client.prototype[Symbol.asyncDispose] = async function dispose() {
    await this.close();
  };
}

module.exports = { Client };
