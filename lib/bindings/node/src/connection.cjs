'use strict';

// A client of the addon, and the answers that come from it.

const native = require('./native.cjs');
const { RedlockError, closed } = require('./error.cjs');
const { fencingToken } = require('./fencing.cjs');
const { check } = require('./options.cjs');

// The receiver of each event, by the id of a call, lease or client. It stays alive in here: a call
// until it is answered, a lease until it ends. A lease that was forgotten must not be released by
// the garbage collector while the work that it protects goes on.
const listeners = new Map();
let lastId = 0;

function receive(id, event, error, result) {
  listeners.get(id)?.(event, error === null ? null : new RedlockError(error), result);
}

// The addon's clients that are not closed: the process closes them when it ends.
const open = new Set();
const forgotten = new FinalizationRegistry((handle) => {
  if (open.has(handle)) closeHandle(handle).catch(() => {});
});

function closeHandle(handle) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    listeners.set(id, (event, error, report) => {
      listeners.delete(id);
      open.delete(handle);
      if (error === null) resolve(report);
      else reject(error);
    });
    native.close(handle, id);
  });
}

// The stops of the calls about a deployment that have not ended.
const stops = new Set();

// process.exit() does not run the hooks of addons. The end of a worker does: the addon has one.
let watchesExit = false;
function closeAllAtExit() {
  if (watchesExit) return;
  watchesExit = true;
  process.once('exit', () => {
    for (const handle of open) native.end(handle);
    open.clear();
    // The process waits for the threads of the pool.
    for (const stop of stops) native.requestStop(stop);
  });
}

/** Calls the caller's code. An exception of it is an uncaught one, as in any other callback. */
function notify(callback, argument) {
  try {
    callback(argument);
  } catch (error) {
    process.nextTick(() => { throw error; });
  }
}

/** Gives an error the stack of the code that waits for it, as no line of the caller made it. */
async function traced(answer) {
  try {
    return await answer;
  } catch (error) {
    Error.captureStackTrace(error, traced);
    throw error;
  }
}

/** Waits for the answer to a call, which `cancel` ends if the signal is aborted. */
async function untilAborted(answer, signal, cancel) {
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await answer;
  } catch (error) {
    throw signal?.aborted && error.code === 'cancelled' ? signal.reason : error;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Asks the caller's function, which may be asynchronous, for the credentials of a node. */
async function provide(provider, { url, request }) {
  try {
    if (provider === undefined) throw closed();
    const given = await provider(url);
    const { user, password } = typeof given === 'string' ? { password: given } : given ?? {};
    check('secret', password, 'credentials: password');
    native.provideCredentials(request, check('secret', user ?? '', 'credentials: user'), password);
  } catch (error) {
    native.failCredentials(request, String(error?.message ?? error).replaceAll('\0', ' '));
  }
}

/** Makes a call about the deployment: on connections of its own, without a client, on a thread of
 *  Node's pool. */
async function askDeployment(call, options, { credentials, onProgress, signal, ...terms } = {}) {
  signal?.throwIfAborted();
  const id = ++lastId;
  const stop = native.makeStop();
  const answer = new Promise((resolve, reject) => {
    listeners.set(id, (event, error, result) => {
      if (event === 'credentials') {
        provide(credentials, result);
      } else if (event === 'progress') {
        if (onProgress !== undefined) notify(onProgress, result);
      } else if (error === null) {
        resolve(result);
      } else {
        reject(error);
      }
    });
    native.deployment(
      call, options, { ...terms, provides: credentials !== undefined }, receive, id, stop);
  });
  stops.add(stop);
  closeAllAtExit();
  try {
    return await untilAborted(traced(answer), signal, () => native.requestStop(stop));
  } finally {
    listeners.delete(id);
    stops.delete(stop);
  }
}

class Connection {
  #handle;
  #inFlight = 0;
  #closing = null;
  #leases = new Set();

  constructor({ native: options, onNodeEvent, onObservation, credentials, onLog }) {
    const events = onNodeEvent || onObservation || credentials || onLog ? ++lastId : 0;
    const { error, client } = native.open(
      options, receive, events, onObservation !== undefined, credentials !== undefined,
      onLog !== undefined);
    if (error !== null) throw new RedlockError(error);
    this.#handle = client;
    open.add(client);
    closeAllAtExit();
    forgotten.register(this, client);
    if (events === 0) return;
    // Callbacks often know the client: they must not keep it from being collected.
    this.callbacks =
      { node: onNodeEvent, observation: onObservation, credentials, log: onLog };
    this.events = events;
    const weak = new WeakRef(this.callbacks);
    listeners.set(events, (event, _, what) => {
      const callback = weak.deref()?.[event];
      if (event === 'observation') fencingToken(what.fencingToken);
      if (event === 'credentials') provide(callback, what);
      else if (callback !== undefined) notify(callback, what);
    });
  }

  /** Begins a hold: while there is one, the process does not end by itself. */
  hold() {
    if (this.#inFlight++ === 0) native.reference(this.#handle, true);
  }

  letGo() {
    if (--this.#inFlight === 0) native.reference(this.#handle, false);
  }

  get closed() {
    return this.#closing !== null;
  }

  throwIfClosed() {
    if (this.closed) throw closed();
  }

  /** Begins a call of the addon that answers once. `convert(result, id)` runs before later events
   *  are delivered. → {request, answer} */
  ask(method, given, convert = (result) => result) {
    if (this.#closing !== null) return { answer: Promise.reject(closed()) };
    const id = ++lastId;
    let request;
    const answer = new Promise((resolve, reject) => {
      listeners.set(id, (_, error, result) => {
        listeners.delete(id);
        this.letGo();
        if (error !== null) return reject(error);
        try {
          resolve(convert(result, id));
        } catch (mistake) {
          reject(mistake);
        }
      });
      this.hold();
      try {
        request = native[method](this.#handle, id, ...given);
      } catch (error) {
        listeners.delete(id);
        this.letGo();
        throw error;
      }
    });
    return { request, answer: traced(answer) };
  }

  /** Begins a watch: `changed(error, inspection)` until there is an error. → its request */
  watch(resource, pollInterval, changed) {
    this.throwIfClosed();
    const id = ++lastId;
    listeners.set(id, (_, error, inspection) => {
      if (error !== null) listeners.delete(id);
      changed(error, inspection);
    });
    return native.watch(this.#handle, id, resource, pollInterval);
  }

  cancel(request) {
    if (request !== undefined && open.has(this.#handle)) native.cancel(this.#handle, request);
  }

  /** Passes the events of a lease to it, and keeps it alive, until `forget`. */
  remember(id, lease, listener) {
    listeners.set(id, listener);
    this.#leases.add(lease);
  }

  forget(id, lease) {
    listeners.delete(id);
    this.#leases.delete(lease);
  }

  close() {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    for (const lease of [...this.#leases]) lease.end(closed());
    this.hold();
    try {
      return await closeHandle(this.#handle);
    } finally {
      listeners.delete(this.events);
      this.letGo();
    }
  }
}

/** For tests: the entries must not be more than those in use. */
const counts = () => ({ listeners: listeners.size, open: open.size });

module.exports = { Connection, askDeployment, notify, untilAborted, counts };
