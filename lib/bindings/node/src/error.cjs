'use strict';

/** Why a call failed. */
class RedlockError extends Error {
  constructor({ code, message, holderName = '', round = null }) {
    super(message);
    this.code = code;
    this.holderName = holderName;
    this.round = round;
  }

  get votes() {
    return this.round === null ? [] : this.round.votes;
  }
}
Object.defineProperty(RedlockError.prototype, 'name', { value: 'RedlockError' });

/** A mistake in the arguments of a call: a TypeError or a RangeError, with the code that the
 *  library uses for mistakes. */
const invalid = (message, Kind = TypeError) =>
  Object.assign(new Kind(message), { code: 'invalid_argument' });

const closed = () => new RedlockError({ code: 'closed', message: 'the client is closed' });

module.exports = { RedlockError, closed, invalid };
