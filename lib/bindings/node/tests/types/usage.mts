// What users of the declarations write, and what the compiler has to refuse: with and without the
// lib of disposables.
import {
  Client, Election, Lease, Leadership, RedlockError, allOf, deployment, interval, now, owned, permit, shared,
  version,
} from 'quorum-redlock';
import type {
  AcquireOptions, ClientOptions, CloseReport, DeploymentCheck, ErrorCode, EventLevel, FencedLease, HoldEnd, Holder, HolderKind,
  Inspection, LeaseJSON, ListedLockState, LockKind, LockList, LockState, NodeEventKind, ObservationKind, Round, Target,
  TryOptions, Vote,
} from 'quorum-redlock';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
const is = <T extends true>(..._: T[]): void => {};

const options: ClientOptions = {
  nodes: ['redis://10.0.0.1'], name: 'types', prefix: 'team:',
  guards: { clockBound: 0.5 },
  onNodeEvent: ({ kind }) => { is<Same<typeof kind, NodeEventKind>>(); },
  onLog: ({ level, times }) => {
    is<Same<typeof level, EventLevel>>();
    is<Same<typeof times, number>>();
  },
  onObservation: ({ kind, at, end, failure, fencingToken }) => {
    is<Same<typeof fencingToken, number | null>>();
    is<Same<typeof kind, ObservationKind>>();
    is<Same<typeof at, number>>();
    is<Same<typeof end, HoldEnd>>();
    is<Same<typeof failure, ErrorCode | null>>();
  },
  credentials: async (url) => ({ user: 'locker', password: url }),
};
export const byFile: ClientOptions = { nodes: [], passwordFile: '/run/secrets/redis' };

export async function use(signal: AbortSignal): Promise<void> {
  const client: Client = await Client.create(options);
  const targets: Target[] =
    ['x', shared('x'), owned('x', 'me'), permit('x', 3), allOf(['x', 'y']), interval('x', 1_000)];
  const terms: AcquireOptions = { ttl: 1_000, wait: Infinity, fencing: true, signal };
  for (const target of targets) await (await client.acquire(target, terms)).release();

  const once: TryOptions = { ttl: 1_000, onAtRisk: (remaining) => remaining.toFixed(3) };
  const lease: Lease | null = await client.tryAcquire('x', once);
  if (lease === null) return;
  is<Same<typeof lease.validUntil, number>>();
  is<Same<typeof lease.remaining, number>>();
  const left: number = lease.validUntil - now();
  const number: number | null = lease.fencingToken;
  lease.lost.addEventListener('abort', () => {});
  const shown: LeaseJSON = lease.toJSON();
  is<Same<typeof shown.fencingToken, number | null>>();
  const round: Round = await lease.extend(left);
  is<Same<Awaited<ReturnType<Lease['downgrade']>>, Round>>();
  is<Same<(typeof round.votes)[0]['vote'], Vote>>();
  is<Same<(typeof round.votes)[0]['holder'], Holder | null>>();
  is<Same<Holder['kind'], HolderKind>>();
  await lease[Symbol.asyncDispose]();

  const result: number = await client.using('x', terms, async (held, lost) => {
    held.throwIfInvalid();
    return lost.aborted ? 0 : Number(number);
  });
  // With `fencing: true` there is a number; otherwise the compiler asks what to do without one.
  const fenced: FencedLease = await client.acquire('x', { fencing: true, wait: 1_000 });
  is<Same<typeof fenced.fencingToken, number>>();
  const tried = await client.tryAcquire('x', { fencing: true });
  is<Same<typeof tried, FencedLease | null>>();
  const won: number = await client.using('x', { fencing: true, signal }, (held) => {
    is<Same<typeof held.fencingToken, number>>();
    return held.fencingToken;
  });
  const plain: Lease[] = [
    fenced, await client.acquire('x'), await client.acquire('x', { fencing: false }),
    await client.acquire('x', { fencing: won > 0 }),
  ];
  is<Same<(typeof plain)[0]['fencingToken'], number | null>>();
  await client.using('x', (held) => is<Same<typeof held.fencingToken, number | null>>());
  const inspection: Inspection = await client.inspect('x');
  is<Same<typeof inspection.state, LockState>>();
  is<Same<typeof inspection.kind, LockKind>>();
  is<Same<(typeof inspection.nodes)[0]['fencingToken'], number | null>>();
  is<Same<typeof inspection.holder, string | null>>();
  is<Same<Awaited<ReturnType<Client['breakLock']>>, Round>>();
  await client.breakLock('x', 'token', { delay: 1_000 });
  const list: LockList = await client.list({ pattern: 'x/*' });
  is<Same<(typeof list.locks)[0]['state'], ListedLockState>>();
  for await (const { state } of client.watch('x', { signal })) if (state === 'held') break;

  const election: Election = client.election('x', { candidate: version });
  const leadership: Leadership = await election.campaign({ wait: result });
  is<Same<typeof leadership.lease.fencingToken, number>>();
  await leadership[Symbol.asyncDispose]();
  const term: number = await election.lead(({ term: won }) => won);
  for await (const leader of election.observe()) if (leader?.candidate === String(term)) break;
  const report: CloseReport = await client.close();
  is<Same<typeof report.undelivered[0]['left'], number>>();
  await client[Symbol.asyncDispose]();
}

export async function operate(signal: AbortSignal): Promise<number> {
  const check: DeploymentCheck = await deployment.check(options);
  is<Same<typeof check.grantedIn, number | null>>();
  is<Same<(typeof check.nodes)[0]['clockOffset'], number | null>>();
  await deployment.bootstrap(options, { afterLoss: true, patience: 1_000, signal });
  const { members, nodes } = await deployment.replaceMember(options, 'a', 'b', {
    signal, onProgress: ({ kind, left }) => {
      is<Same<typeof kind, 'waiting' | 'writing'>>();
      is<Same<typeof left, number | null>>();
    },
  });
  await deployment.addMember(options, members[0]);
  await deployment.removeMember(options, nodes[0].url);
  // @ts-expect-error: of bootstrap alone
  await deployment.removeMember(options, 'a', { afterLoss: true });
  const list: LockList = await deployment.listLocks(options, { keysPerNode: 1_000 });
  return list.nodes[0].unread;
}

export function why(error: unknown): string {
  if (!(error instanceof RedlockError)) return String(error);
  switch (error.code) {
    case 'held': return error.holderName;
    case 'unavailable': return error.votes.map(({ url, vote }) => `${url}: ${vote}`).join();
    // @ts-expect-error: the code of no error
    case 'hold': return '';
    default: return error.message;
  }
}

export function refused(client: Client, lease: Lease, inspection: Inspection): void {
  // @ts-expect-error: an option that is not known
  void client.acquire('x', { tll: 1_000 });
  // @ts-expect-error: a duration is a number
  void client.acquire('x', { ttl: '10s' });
  // @ts-expect-error: a state that does not exist
  void (inspection.state === 'hold');
  // @ts-expect-error: without fencing there may be no number
  void client.using('x', { ttl: 1_000 }, ({ fencingToken }): number => fencingToken);
  // @ts-expect-error: leases come from clients
  void new Lease();
  // @ts-expect-error: of the lease, and not to be set
  lease.token = '';
}
