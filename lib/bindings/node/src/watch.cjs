'use strict';

const { checkedInspection } = require('./fencing.cjs');
const { showWithoutSecrets } = require('./shown.cjs');

/**
 * An asynchronous iterator over the states of a resource. A slow reader gets the newest and misses
 * those between. `convert(inspection)` makes the value that is read; undefined: there is none.
 *
 * It asks the nodes from the first `next` on, and keeps the process alive while one waits.
 */
class Watch {
  #begin;
  #connection;
  #resource;
  #convert;
  #signal;
  #request;
  #began = false;
  #newest = undefined;
  #failure = undefined;
  #over = false;
  #readers = [];
  #aborted = () => this.#end(this.#signal.reason);

  constructor(connection, resource, { pollInterval, signal }, convert) {
    this.#connection = connection;
    this.#resource = resource;
    this.#convert = convert;
    this.#signal = signal;
    this.#begin = () => connection.watch(resource, pollInterval,
      (error, inspection) => this.#changed(error, inspection));
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    return new Promise((resolve, reject) => {
      this.#start();
      this.#connection.hold();
      this.#readers.push({ resolve, reject });
      this.#serve();
    });
  }

  async return(value) {
    this.#end(undefined);
    return { value, done: true };
  }

  toJSON() {
    return { resource: this.#resource, ended: this.#over };
  }

  #start() {
    if (this.#began || this.#over) return;
    this.#began = true;
    if (this.#signal?.aborted) return this.#aborted();
    try {
      this.#request = this.#begin();
      this.#signal?.addEventListener('abort', this.#aborted, { once: true });
    } catch (error) {
      this.#end(error);
    }
  }

  #changed(error, inspection) {
    if (this.#over) return;
    if (error !== null) return this.#end(error);
    let value;
    try {
      value = this.#convert(checkedInspection(inspection));
    } catch (mistake) {
      return this.#end(mistake);
    }
    if (value === undefined) return;
    this.#newest = { value, done: false };
    this.#serve();
  }

  #end(failure) {
    if (this.#over) return;
    this.#over = true;
    this.#failure = failure;
    this.#newest = undefined;
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#connection.cancel(this.#request);
    this.#serve();
  }

  #serve() {
    while (this.#readers.length > 0 && (this.#newest !== undefined || this.#over)) {
      const { resolve, reject } = this.#readers.shift();
      this.#connection.letGo();
      if (this.#newest !== undefined) {
        resolve(this.#newest);
        this.#newest = undefined;
      } else if (this.#failure !== undefined) {
        reject(this.#failure);
        this.#failure = undefined;
      } else {
        resolve({ value: undefined, done: true });
      }
    }
  }
}
showWithoutSecrets(Watch);

module.exports = { Watch };
