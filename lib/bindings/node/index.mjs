// `import` and `require` load one module: a lease of one is a Lease of the other.
import quorumRedlock from './index.cjs';

export const {
  Client, Lease, DetachedLease, Election, Leadership, RedlockError,
  deployment, shared, owned, permit, allOf, interval,
  now, version,
} = quorumRedlock;
export default quorumRedlock;
