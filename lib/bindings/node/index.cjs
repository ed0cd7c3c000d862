'use strict';

const { Client } = require('./src/client.cjs');
const { deployment } = require('./src/deployment.cjs');
const { Lease } = require('./src/lease.cjs');
const { DetachedLease } = require('./src/detached.cjs');
const { Election, Leadership } = require('./src/election.cjs');
const { RedlockError } = require('./src/error.cjs');
const { shared, owned, permit, allOf, interval } = require('./src/target.cjs');
const { now, version } = require('./src/native.cjs');

module.exports = {
  Client, Lease, DetachedLease, Election, Leadership, RedlockError,
  deployment, shared, owned, permit, allOf, interval,
  now, version,
};
