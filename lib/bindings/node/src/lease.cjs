'use strict';

const native = require('./native.cjs');
const { RedlockError } = require('./error.cjs');
const { check } = require('./options.cjs');
const { notify } = require('./connection.cjs');
const { DetachedLease } = require('./detached.cjs');
const { fencingToken } = require('./fencing.cjs');
const { showWithoutSecrets } = require('./shown.cjs');

/** A granted lock. */
class Lease {
  #connection;
  #id;
  #handle;
  #token;
  #ttl;
  #onAtRisk;
  #releasing = null;
  #loss = null; // a RedlockError: why the lease ended, if its holder did not end it
  #lost = null; // the AbortController, made when the signal is first read

  /** For the client, while it handles the answer, so that no event of the lease is missed. */
  constructor(connection, id, granted, { ttl, onAtRisk }) {
    this.#connection = connection;
    this.#id = id;
    this.#handle = granted.handle;
    this.#ttl = ttl;
    this.#onAtRisk = onAtRisk;
    this.resources = Object.freeze(granted.resources);
    this.#token = granted.token;
    this.fencingToken = fencingToken(granted.fencingToken);
    connection.remember(id, this, (event, _, what) => {
      if (event === 'lost') this.end(new RedlockError({ code: 'lost', message: what }));
      else if (this.#onAtRisk !== undefined) notify(this.#onAtRisk, what);
    });
  }

  get resource() {
    return this.resources[0];
  }

  // Not a property of the object itself, which dumps and copies of objects contain.
  get token() {
    return this.#token;
  }

  get valid() {
    return native.valid(this.#handle);
  }

  get remaining() {
    return native.remaining(this.#handle);
  }

  get validUntil() {
    return native.validUntil(this.#handle);
  }

  get lost() {
    if (this.#lost === null) {
      this.#lost = new AbortController();
      if (this.#loss !== null) this.#lost.abort(this.#loss);
    }
    return this.#lost.signal;
  }

  throwIfInvalid() {
    if (this.valid) return;
    if (this.#releasing !== null) throw this.#over();
    throw this.#loss ?? this.#pastDeadline();
  }

  async extend(ttl = this.#ttl) {
    check('duration', ttl, 'ttl');
    if (this.#releasing !== null) throw this.#over();
    return await this.#connection.ask('extendLease', [this.#handle, ttl]).answer;
  }

  async downgrade() {
    if (this.#releasing !== null) throw this.#over();
    return await this.#connection.ask('downgradeLease', [this.#handle]).answer;
  }

  release() {
    if (this.#releasing === null) {
      const wasOver = !this.valid;
      this.#connection.forget(this.#id, this);
      this.#releasing = this.#askToRelease(wasOver);
    }
    return this.#releasing;
  }

  /** Nobody needs to await the result. A rejection that nobody handles ends the process only if it
   *  is the first news of something harmful: the nodes did not know a lease that was valid here. */
  async #askToRelease(wasOver) {
    try {
      return await this.#connection.ask('releaseLease', [this.#handle]).answer;
    } catch (error) {
      // By now this.#releasing is set: the promise that perhaps nobody handles.
      if (wasOver || error.code !== 'not_holder') this.#releasing.catch(() => {});
      throw error;
    }
  }

  detach() {
    if (this.#releasing !== null) throw this.#over();
    this.#connection.forget(this.#id, this);
    const text = native.detach(this.#handle);
    const why = text === '' ? this.#loss ?? this.#pastDeadline() : this.#over();
    this.#releasing = Promise.reject(why);
    this.#releasing.catch(() => {});
    if (text === '') throw why;
    return new DetachedLease(text);
  }

  toJSON() {
    const { resource, resources, fencingToken: number, valid, remaining, validUntil } = this;
    return { resource, resources, fencingToken: number, valid, remaining, validUntil };
  }

  /** The end of the work that it protects: fails if the lock was lost before, because another
   *  holder may have worked at the same time. Nodes that cannot be reached do no harm then. */
  async finish() {
    if (this.#releasing !== null) return;
    if (this.#loss !== null) {
      this.release().catch(() => {});
      throw this.#loss;
    }
    try {
      await this.release();
    } catch (error) {
      if (error.code === 'not_holder') throw error;
    }
  }

  /** For the connection: the lease has ended, and its holder has not ended it. */
  end(reason) {
    this.#connection.forget(this.#id, this);
    this.#loss = reason;
    this.#lost?.abort(reason);
  }

  #pastDeadline() {
    return new RedlockError({
      code: 'lost', message: `the lease on '${this.resource}' is past its deadline`,
    });
  }

  #over() {
    return new RedlockError({
      code: 'not_holder', message: `the lease on '${this.resource}' was released or detached`,
    });
  }
}
showWithoutSecrets(Lease);
if (Symbol.asyncDispose) {
  Lease.prototype[Symbol.asyncDispose] = Lease.prototype.finish;
}

module.exports = { Lease };
