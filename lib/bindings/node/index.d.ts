// All times are milliseconds, and may be fractions of them: durations (Infinity: for ever), and
// instants by the clock of `now`.
//
// The `code` of every refused argument is 'invalid_argument'. The error is a TypeError if this file
// refuses the argument, too: a value of a wrong type, or an option that does not exist. It is a
// RedlockError for any other value that is not allowed, such as a negative time, NaN, or a TTL above
// the longest one.

// `await using` needs TypeScript 5.2 or later and "esnext.disposable" in the compiler's option
// `lib`. Everything else needs neither: these declarations repeat that lib's and @types/node's.
// AbortSignal is that of @types/node or of the lib "dom".
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

// face: texts
/** Why a call failed. */
export type ErrorCode = 'held' | 'split' | 'unavailable' | 'expired' | 'excluded' | 'not_holder'
  | 'cancelled' | 'closed' | 'forked' | 'would_block' | 'invalid_argument' | 'limit_reached'
  | 'no_memory' | 'internal' | 'unknown' | 'lost';
/** The answer of one node in one round. */
export type Vote = 'pending' | 'granted' | 'refused' | 'timeout' | 'unreachable' | 'error'
  | 'excluded' | 'unknown';
/** As LockKind. 'writer': somebody waits, and new holds are refused meanwhile. */
export type HolderKind = 'exclusive' | 'shared' | 'owned' | 'interval' | 'reserved' | 'other'
  | 'writer' | 'unknown';
/** The kind of lock that is stored for a resource. */
export type LockKind = 'none' | 'exclusive' | 'shared' | 'owned' | 'interval' | 'reserved' | 'other'
  | 'unknown';
/** The state of a resource. */
export type LockState = 'free' | 'held' | 'split' | 'indeterminate' | 'unknown';
/** The state of a lock in a list. 'minority': left behind on too few nodes to be held. */
export type ListedLockState = 'held' | 'split' | 'minority' | 'indeterminate' | 'reserved' | 'free'
  | 'unknown';
/** The kind of a change in the state of a node. */
export type NodeEventKind = 'up' | 'down' | 'protocol' | 'excluded' | 'undelivered' | 'learned'
  | 'paused' | 'warning' | 'counters-reset' | 'unknown';
/** 'debug': an idle connection ended, or was made again; 'info': up; 'warning': everything else. */
export type EventLevel = 'debug' | 'info' | 'warning' | 'unknown';
/** The kind of an observation. */
export type ObservationKind = 'acquire-began' | 'acquire-ended' | 'hold-began' | 'hold-ended'
  | 'lease-lost' | 'unknown';
/** How a hold ended; 'open': it has not. */
export type HoldEnd = 'open' | 'released' | 'detached' | 'lost' | 'closed' | 'unknown';
/** What INFO of a server says that it is. */
export type Role = 'unknown' | 'master' | 'replica' | 'sentinel';
/** The membership of a node. Later versions of the library can have further states. */
export type MemberState = 'member' | 'joining' | 'opening' | 'blank' | 'unmarked' | 'removed'
  | 'unreachable';
// face: end

/** The reason why a node refused a request: who or what has the resource there. */
export interface Holder {
  readonly kind: HolderKind;
  /** Exclusive: the stored token. */
  readonly token: string | null;
  /** Owned: the name of the owner. */
  readonly owner: string | null;
}

/** One node's part in a round. Durations are null where they are not known. */
export interface NodeVote {
  /** As configured, without the password. */
  readonly url: string;
  readonly vote: Vote;
  readonly roundTrip: number | null;
  /** Refused: the reason, if the node gives one. */
  readonly holder: Holder | null;
  /** Refused: the rest of the holder's TTL. */
  readonly remaining: number | null;
  /** Timeout, unreachable, error, excluded: why. */
  readonly message: string;
}

/** The round that decided a call. */
export interface Round {
  readonly quorum: number;
  readonly ttl: number;
  readonly elapsed: number;
  /** Left of the lease at the decision. */
  readonly remaining: number;
  /** Release of a shared or owned hold: holds that remain. */
  readonly holdsLeft: number | null;
  /** In the order in which the nodes were configured. */
  readonly votes: readonly NodeVote[];
}

/** The error of every call that fails, except an argument of a wrong type, which is a TypeError with
 *  the code 'invalid_argument', and an aborted signal, whose reason it is. */
export class RedlockError extends Error {
  /** 'lost' is the package's own: the deadline passed without a renewal. */
  readonly code: ErrorCode;
  /** What people call the holder; empty: not known, see `nameHolders`. */
  readonly holderName: string;
  /** The last round; null if nothing was sent. */
  readonly round: Round | null;
  /** `round.votes`, or none. */
  readonly votes: readonly NodeVote[];
}

/** A string is the exclusive lock on the resource of this name. */
export type Target =
  | string
  | { kind?: 'exclusive'; resource: string; interval?: number }
  | { kind: 'shared'; resource: string }
  | { kind: 'owned'; resource: string; owner: string }
  | { kind: 'permit'; resource: string; permits: number; interval?: number }
  | { kind: 'allOf'; resources: readonly string[]; interval?: number };

/** Any number of holders, while nobody has the exclusive lock. */
export function shared(resource: string): Target;
/** Any number of holders that name the same owner. */
export function owned(resource: string, owner: string): Target;
/** One of so many permits of a semaphore. */
export function permit(
  resource: string, permits: number, options?: { interval?: number }): Target;
/** Several resources, all or none. */
export function allOf(resources: readonly string[], options?: { interval?: number }): Target;
/** Once per interval: nobody acquires the resource again until `interval`, a year at most, has
 *  passed since it was acquired, even if it is released at once. */
export function interval(resource: string, interval: number): Target;

export interface NodeEvent {
  readonly kind: NodeEventKind;
  /** Its position in `nodes`; past the end: a member that they do not name. */
  readonly node: number;
  readonly url: string;
  readonly message: string;
  readonly level: EventLevel;
  /** How often it happened: 1, except in the summaries of `onLog`. */
  readonly times: number;
}

/** An acquire call or a hold that began or ended, for tracing. */
export interface Observation {
  readonly kind: ObservationKind;
  /** acquire-ended: why no lease was granted. */
  readonly failure: ErrorCode | null;
  /** Names the call and its lease within one client. */
  readonly call: bigint;
  readonly at: number;
  readonly resource: string;
  readonly token: string;
  readonly fencingToken: number | null;
  readonly end: HoldEnd;
}

/** Everything but `nodes` has a default: that of the C++ ClientOptions of the same name. */
export interface ClientOptions {
  /** redis://[user[:password]@]host[:port][/db], rediss://, unix:// */
  nodes: readonly string[];
  // face: options of clients
  /** How many votes make a lock: at least a majority of the nodes. Default: a majority. */
  quorum?: number;
  /** The name of this client for people, in inspections and refusals. Default: `user@host:pid
   *  program`. */
  name?: string;
  /** The ACL user of nodes whose URL names none. Default: none. */
  user?: string;
  /** The password of nodes whose URL has none. Default: none. */
  password?: string;
  /** A file whose first line is the password of nodes whose URL has none. It is read again at each
   *  connection to a node. Not together with `password` or a function that provides credentials.
   *  Default: none. */
  passwordFile?: string;
  /** The longest TTL that this deployment allows. Default: 30000. */
  maxTtl?: number;
  /** Whether calls that do not wait also name the holder if they fail, for one more round trip.
   *  Default: false. */
  nameHolders?: boolean;
  /** A text before the names of resources on the nodes, so that teams can share nodes. It ends with
   *  a colon, as team: does. Names in calls and results are without it. Default: none. */
  prefix?: string;
  tls?: {
    /** CA certificates for rediss:// (PEM). Default: the system's. */
    caFile?: string;
    /** The client's own certificate for rediss:// (PEM). Default: none. */
    certificateFile?: string;
    /** The private key of that certificate (PEM). Default: none. */
    keyFile?: string;
    /** The name that certificates of rediss:// nodes must have, for URLs without ?server_name=NAME.
     *  Default: the host of the URL. */
    serverName?: string;
  };
  node?: {
    /** How long the first attempt to connect to a node may take. After each attempt that took
     *  longer, the limit doubles, up to eight times. Default: the longest time for an answer. */
    connectTimeout?: number;
    /** The least time that a node has for an answer. The limit follows the measured round trip.
     *  Default: 250. */
    shortestTimeout?: number;
    /** The most time that a node has for an answer. Default: 1000. */
    longestTimeout?: number;
    /** Whether nodes that can compare and delete without a script do. Default: true. */
    plainCommands?: boolean;
  };
  guards?: {
    /** How long a node that restarted without its data has no vote. Default: the max TTL and a
     *  margin. */
    quarantine?: number;
    /** How far a node's clock may be from the median of all clocks before the node loses its vote.
     *  Default: 1000. */
    clockBound?: number;
    /** Whether nodes that may have forgotten locks have no vote. Default: true. */
    restart?: boolean;
    /** Whether nodes whose clock stepped forward have no vote. Default: true. */
    clock?: boolean;
    /** A node that restarted with its data keeps its vote if it writes every command to disk
     *  (appendfsync always). Default: false. */
    trustDurable?: boolean;
  };
  // face: end
  onNodeEvent?: (event: NodeEvent) => void;
  onObservation?: (observation: Observation) => void;
  /** Asked at each new connection to a node whose URL has no password, for passwords that are
   *  rotated and for tokens. The time it takes is part of the time to connect. If it throws, this
   *  attempt to connect fails. */
  credentials?: CredentialsProvider;
  /** The node events for a log, which stays short: the first of a kind, node and level at once, the
   *  others in one summary a minute, and when the client is closed. */
  onLog?: (event: NodeEvent) => void;
}

export interface Credentials {
  /** Default: that of the URL, or else of the options. */
  user?: string;
  password: string;
}

/** Returns the password, or the user and the password. `url` is without them. */
export type CredentialsProvider =
  (url: string) => Credentials | string | Promise<Credentials | string>;

export interface TryOptions {
  // face: options of calls
  /** How long the nodes keep the lock unless it is extended. Default: 10000. */
  ttl?: number;
  /** Whether the lease is extended in the background until it is released. Default: true. */
  renew?: boolean;
  /** The lease is never valid for longer than this after it was granted. Default: Infinity. */
  maxHold?: number;
  /** After that many renewals the lease expires. Default: Infinity. */
  maxRenewals?: number;
  /** Whether the lease gets a fencing token. Default: false. */
  fencing?: boolean;
  /** Gives this expiry, from 3 ms to the max TTL, to a key that blocks and has none. Default: such
   *  a key blocks until somebody deletes it. */
  orphanTtl?: number;
  /** The name of this lease's holder, for people. Default: the client's. */
  name?: string;
  // face: end
  /** With `renew`: only a third of the TTL is left. */
  onAtRisk?: (remaining: number) => void;
  /** Rejects the call with the signal's reason. */
  signal?: AbortSignal;
}

export type AdoptOptions =
  Pick<TryOptions, 'ttl' | 'renew' | 'maxHold' | 'maxRenewals' | 'onAtRisk'>;

export interface AcquireOptions extends TryOptions {
  /** How long to keep trying. Default: Infinity. 0: one attempt. */
  wait?: number;
}

/** A granted lock. It is released by `release`, at the end of `using`, when the client is closed,
 *  and when the process exits, but never by the garbage collector. */
export class Lease {
  private constructor();
  /** Of a permit, its name: 'jobs#3'. Of several, the first one. */
  readonly resource: string;
  readonly resources: readonly string[];
  readonly token: string;
  /** To send along with every write that the lock protects. null without `fencing`. */
  readonly fencingToken: number | null;
  /** Compares the clock with the deadline at every call. */
  readonly valid: boolean;
  /** The time until the deadline; 0 if it has passed or the lease has ended. */
  readonly remaining: number;
  /** The deadline, by the clock of `now`; 0 after its release. */
  readonly validUntil: number;
  /** Aborted, with a RedlockError, when the deadline passes without a renewal, and when the client
   *  is closed. Not by `release`. */
  readonly lost: AbortSignal;
  /** Throws a RedlockError unless the lease is valid: for each step that cannot be undone. */
  throwIfInvalid(): void;
  /** Asks for `ttl` from now on. Default: the TTL of the acquire. */
  extend(ttl?: number): Promise<Round>;
  /** Makes a writer's lease (of a name) a reader's (of `shared`), without a gap: readers that wait
   *  come in at once, and the deadline and the fencing token stay. It is a reader's from the call
   *  on, also after `unavailable`: then the next renewal, or another call, sees to the rest of the
   *  nodes. There is no way back. Fails with `invalid_argument` for a lease of several resources,
   *  of an owner, of a permit or with an interval. */
  downgrade(): Promise<Round>;
  /** Fails with `not_holder` if it had expired. The lease ends in any case. Later calls are the
   *  first one. Nobody needs to await it: only a `not_holder` of a lease that was valid at the call
   *  is an unhandled rejection, because nothing else has said that it was lost. */
  release(): Promise<Round>;
  /** Ends renewal and ownership and leaves the lock on the nodes until its TTL has passed: for
   *  another owner, of any process, who calls `adopt` with what is returned. Fails with `lost` if
   *  the lease is already lost, and with `not_holder` after a release. */
  detach(): DetachedLease;
  /** For JSON.stringify, and what console.log shows: everything but the token. */
  toJSON(): LeaseJSON;
  /** For `await using`: releases, and fails if the lease was lost before. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A lease in a log. */
export interface LeaseJSON {
  readonly resource: string;
  readonly resources: readonly string[];
  readonly fencingToken: number | null;
  readonly valid: boolean;
  readonly remaining: number;
  readonly validUntil: number;
}

/** The lease of a call with `fencing: true`. */
export interface FencedLease extends Lease {
  /** To send along with every write that the lock protects. It grows with every lease, and stays
   *  below 2^53: a safe integer. */
  readonly fencingToken: number;
}

/** The client that a released lock is passed on to. `name` is empty if it is not known. */
export interface NextClient {
  readonly id: string;
  readonly name: string;
}

export interface NodeInspection {
  readonly url: string;
  readonly kind: LockKind;
  /** Exclusive: the stored token. */
  readonly holder: string | null;
  /** Owned: the name of the owner. */
  readonly owner: string | null;
  readonly holderName: string;
  readonly holds: number;
  readonly waiters: number;
  readonly tokens: readonly string[];
  readonly names: readonly string[];
  readonly next: NextClient | null;
  readonly remaining: number | null;
  /** The last one that the node acknowledged; null: none. */
  readonly fencingToken: number | null;
  /** How long the node has no vote for new leases. */
  readonly quarantine: number;
  /** Why nothing is known of this node; empty if it answered. */
  readonly error: string;
}

/** The locks on a resource over all nodes. A snapshot. */
export interface Inspection {
  readonly state: LockState;
  readonly kind: LockKind;
  /** Exclusive: the token on most nodes. */
  readonly holder: string | null;
  /** Owned: the name of the owner on most nodes. */
  readonly owner: string | null;
  readonly holderName: string;
  readonly waiters: number;
  readonly next: NextClient | null;
  readonly quorum: number;
  /** Locks that operators broke. `time`: since 1970. */
  readonly broken: readonly { time: number; token: string; by: string }[];
  readonly nodes: readonly NodeInspection[];
}

export interface ListedLock {
  readonly resource: string;
  readonly kind: LockKind;
  readonly state: ListedLockState;
  /** Exclusive, but no semaphore: the token on most nodes. */
  readonly holder: string | null;
  /** Owned: the name of the owner on most nodes. */
  readonly owner: string | null;
  readonly holds: number;
  readonly permits: number | null;
  readonly remaining: number | null;
  readonly waiters: number;
  readonly nodes: number;
  /** The holder's name for people; null: not known. */
  readonly holderName: string | null;
}

/** The part of one node in the list. */
export interface ListedNode {
  /** Without the password. */
  readonly url: string;
  /** Why it did not answer; empty if it did. */
  readonly error: string;
  /** Keys that it did not show. */
  readonly unread: number;
  /** It has more keys than `keysPerNode`. */
  readonly stoppedEarly: boolean;
}

export interface LockList {
  /** Sorted by resource. */
  readonly locks: readonly ListedLock[];
  readonly nodes: readonly ListedNode[];
  readonly quorum: number;
  readonly answered: number;
  /** A quorum of nodes answered, and these showed all of their keys. */
  readonly complete: boolean;
}

export interface ListOptions {
  /** A glob as Redis has it. Default: all resources. */
  pattern?: string;
  /** How many keys of each node are read. */
  keysPerNode?: number;
}

/** The releases that could not be delivered, by node. */
export interface CloseReport {
  readonly undelivered: readonly {
    url: string;
    releases: number;
    /**
     * How long at most keys stay there: milliseconds from the end of the client, or, with
     * `mayWriteLate`, from when the node has executed what it has received.
     */
    left: number;
    /** A node that hangs can still write a key when it goes on. */
    mayWriteLate: boolean;
  }[];
}

export interface WatchOptions {
  /** How often nodes are asked that do not notify the client. */
  pollInterval?: number;
  /** Ends the watch: the iterator throws the signal's reason. */
  signal?: AbortSignal;
}

export interface ElectionOptions {
  /** The name that observers see. */
  candidate?: string;
  /** A leader that dies is replaced within this time. Default: 10000. */
  ttl?: number;
  pollInterval?: number;
  /** Leadership is about to be lost. */
  onAtRisk?: (remaining: number) => void;
}

export interface CampaignOptions {
  /** How long to wait until elected. Default: Infinity. 0: asks once. */
  wait?: number;
  signal?: AbortSignal;
}

export interface Leader {
  /** Empty if the leader gave no name. */
  readonly candidate: string;
  readonly token: string;
}

/** Being the leader: a lease that is renewed in the background. */
export class Leadership {
  private constructor();
  readonly lease: FencedLease;
  /** Larger than that of every leader elected before: send it along with every write. */
  readonly term: number;
  readonly valid: boolean;
  readonly lost: AbortSignal;
  resign(): Promise<Round>;
  /** For JSON.stringify, and what console.log shows: without the token. */
  toJSON(): { term: number; valid: boolean; lease: LeaseJSON };
  [Symbol.asyncDispose](): Promise<void>;
}

export class Election {
  private constructor();
  readonly name: string;
  /** Waits until elected. */
  campaign(options?: CampaignOptions): Promise<Leadership>;
  /** Campaigns, works, and resigns when the work is done: see `Client.using`. */
  lead<T>(work: (leadership: Leadership, signal: AbortSignal) => T | Promise<T>): Promise<T>;
  lead<T>(options: CampaignOptions | undefined,
    work: (leadership: Leadership, signal: AbortSignal) => T | Promise<T>): Promise<T>;
  /** null: there is none. Fails with `unavailable` if too few nodes answered. */
  leader(): Promise<Leader | null>;
  /** The leader, first at once and then after every change. */
  observe(options?: WatchOptions): AsyncIterableIterator<Leader | null>;
}

/** A lock on its way to another owner. Its text is one word of printable ASCII characters: a secret
 *  as the token is, and for one owner only. Neither JSON nor console.log shows it: pass on
 *  `String(detached)`. */
export class DetachedLease {
  /** Of a text that `detach` made, by any of the libraries. */
  constructor(text: string);
  readonly text: string;
  readonly token: string;
  readonly resources: readonly string[];
  readonly resource: string;
  readonly fencingToken: number | null;
  /** The text. */
  toString(): string;
  /** Without the text and the token. */
  toJSON(): { resource: string; resources: readonly string[]; fencingToken: number | null };
}

export type Work<T, L extends Lease = Lease> = (lease: L, signal: AbortSignal) => T | Promise<T>;

/** Of one deployment. Any number of calls may be in flight. */
export class Client {
  private constructor();
  /** Connects in the background. */
  static create(options: ClientOptions): Promise<Client>;
  /** Waits until the lock is granted, for as long as `wait` allows. */
  acquire(resource: Target, options: AcquireOptions & { fencing: true }): Promise<FencedLease>;
  acquire(resource: Target, options?: AcquireOptions): Promise<Lease>;
  /** Asks once. null: it is held, or contenders divided the nodes. */
  tryAcquire(
    resource: Target, options: TryOptions & { fencing: true }): Promise<FencedLease | null>;
  tryAcquire(resource: Target, options?: TryOptions): Promise<Lease | null>;
  /** Acquires, works, and releases. The lease is renewed meanwhile, unless `renew` is false.
   *  `signal` is aborted when the lease is lost, and by the signal of the options. Fails if the
   *  lease was lost before the work had ended, even if the work succeeded. */
  using<T>(resource: Target, work: Work<T>): Promise<T>;
  using<T>(resource: Target, options: AcquireOptions & { fencing: true },
    work: Work<T, FencedLease>): Promise<T>;
  using<T>(resource: Target, options: AcquireOptions | undefined, work: Work<T>): Promise<T>;
  /** Makes a lease of what `detach` returned, here or in another process: asks for the TTL from now
   *  on, and fails with `not_holder` unless a quorum still had the lock. It keeps its fencing
   *  token, or has a larger one if another client asked for one since. */
  adopt(detached: DetachedLease | string, options?: AdoptOptions): Promise<Lease>;
  // By a token that was detached or came from another process.
  // face: calls by a token
  /** Extends the lock, of whatever kind it is, to `ttl` from now on; of several resources, all or
   *  none. A permit is named by its resource, 'jobs#3'. */
  extend(resource: Target, token: string, ttl?: number): Promise<Round>;
  /** Makes a writer's lock a reader's, as `downgrade` of a lease does. */
  downgrade(resource: string, token: string): Promise<Round>;
  /** Releases the lock; of several resources, those that the token still holds. */
  release(resource: Target, token: string): Promise<Round>;
  /** Breaks somebody's lock, for an operator: the nodes remember who did it. For `delay` after that
   *  (0: no time), nobody can acquire the resource. Others who share the lock keep their holds. */
  breakLock(resource: string, token: string, options?: { delay?: number }): Promise<Round>;
  // face: end
  /** Whether the token holds the resource now. */
  ownership(resource: string, token: string): Promise<boolean>;
  inspect(resource: string): Promise<Inspection>;
  /** First at once and then after every change. A slow reader gets the newest. */
  watch(resource: string, options?: WatchOptions): AsyncIterableIterator<Inspection>;
  election(name: string, options?: ElectionOptions): Election;
  /** The locks that the nodes store. */
  list(options?: ListOptions): Promise<LockList>;
  /** The metrics of this client, in the text format of Prometheus. Each sample also has `labels`. */
  prometheus(labels?: Readonly<Record<string, string>>): Promise<string>;
  /** For JSON.stringify, and what console.log shows: no password, and URLs without the user. */
  toJSON(): { nodes: readonly string[]; name?: string; prefix?: string; closed: boolean };
  /** Ends every call with `closed`, releases every lease, and waits for the answers, at most one
   *  node time limit. */
  close(): Promise<CloseReport>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One node's facts about itself. */
export interface NodeCheck {
  /** Without the password. */
  readonly url: string;
  /** Why it is not reachable, or reports nothing. */
  readonly problem: string;
  readonly roundTrip: number;
  /** Of Redis; for a fork, the version that it is compatible with. */
  readonly version: string;
  /** 'Redis', 'Valkey'; empty: it did not say. */
  readonly server: string;
  /** Its own version. */
  readonly serverVersion: string;
  readonly role: Role;
  readonly runId: string;
  readonly uptime: number | null;
  /** 'none', 'rdb', 'aof everysec', … */
  readonly persistence: string;
  readonly maxmemoryPolicy: string;
  /** Bytes. */
  readonly usedMemory: number | null;
  /** Bytes; 0: no limit. */
  readonly maxMemory: number | null;
  /** From the median of all nodes: negative, if its clock is behind. */
  readonly clockOffset: number | null;
  /** By its own marker alone. */
  readonly membership: MemberState;
  /** Its URL by its own marker; clients can use another one. */
  readonly member: string;
  /** How many are attached to it. */
  readonly replicas: number;
  /** How long it has no vote for new leases; Infinity: the quarantine has no expiry. */
  readonly quarantine: number;
  readonly reachable: boolean;
  /** It writes every command to disk before it answers. */
  readonly durable: boolean;
  readonly cluster: boolean;
  readonly loading: boolean;
  /** It belongs to a deployment. */
  readonly marked: boolean;
  /** It was restarted since its marker was written. */
  readonly restarted: boolean;
  /** null: it is no replicated node, or its primary did not say. */
  readonly reign: ReignCheck | null;
}

/** The reign of a replicated node's primary. A node votes while a majority of its servers has
 *  followed its primary without a break. */
export interface ReignCheck {
  /** As many as its URL says. */
  readonly servers: number;
  readonly stands: boolean;
  /** Empty: it stands. */
  readonly whyNot: string;
  /** Since a client saw a majority follow; null: none has. */
  readonly confirmedFor: number | null;
  /** How many replicas acknowledged a write. */
  readonly acknowledged: number;
  /** How many replicas have to. */
  readonly needed: number;
  /** How often replicas have attached since the last record. */
  readonly attached: number;
  /** The primary first. */
  readonly seen: readonly ServerCheck[];
}

/** A server of a replicated node, as the node's primary reports it. */
export interface ServerCheck {
  /** '10.0.0.7:6379'; empty: not known. */
  readonly address: string;
  readonly primary: boolean;
  /** Of a replica, as Redis says it, such as 'online'; of the primary: empty. */
  readonly state: string;
  /** Of the replication: how far it has come. */
  readonly offset: number;
  /** Bytes that the replica has not acknowledged. */
  readonly behind: number;
  /** Since the replica's last acknowledgement; null: not known. */
  readonly lag: number | null;
}

/** Something that is wrong. */
export interface Finding {
  /** The node's URL; several are separated by ', '. */
  readonly node: string;
  /** 'not-durable', as `quorum-lock doctor` shows it. */
  readonly kind: string;
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
}

export interface DeploymentCheck {
  /** In the order of the options; members that the options do not name follow. */
  readonly nodes: readonly NodeCheck[];
  /** Empty: nothing is wrong. */
  readonly findings: readonly Finding[];
  /** How long until locks are granted; 0: now; Infinity: not before a quarantine without end is
   *  deleted; null: too few members were found. */
  readonly grantedIn: number | null;
}

/** The membership of a node, by its own marker and those of the others. */
export interface Member {
  /** At which it was asked, without user and password. */
  readonly url: string;
  readonly state: MemberState;
  /** Unreachable: why. */
  readonly problem: string;
  /** The id in its marker. */
  readonly deployment: string;
  /** How long it has no vote for new leases; Infinity: the quarantine has no expiry. */
  readonly quarantine: number;
  /** Its URL by its own marker; clients can use another one. */
  readonly member: string;
  /** A replicated node: the address of its primary; empty: it is none, or not known. */
  readonly primary: string;
}

export interface Membership {
  /** The id; empty: no node belongs to a deployment. */
  readonly deployment: string;
  /** URLs, sorted. */
  readonly members: readonly string[];
  /** The members, and the other nodes that were asked. */
  readonly nodes: readonly Member[];
  /** The longest lease. */
  readonly maxTtl: number;
  /** Arguments of `quorum-lock` that resume an unfinished change; empty: there is none. */
  readonly resume: string;
}

/** The next step of a change. */
export interface ChangeProgress {
  /** 'waiting': for `left`, or for the node; 'writing': the node's marker is written next. */
  readonly kind: 'waiting' | 'writing';
  readonly node: string;
  /** For people. */
  readonly what: string;
  readonly left: number | null;
}

export interface ChangeOptions {
  /** How long to wait for a node in the midst of a change. Default: 10000. */
  patience?: number;
  /** Ends the call, which rejects with the signal's reason. The same call resumes the change. */
  signal?: AbortSignal;
  onProgress?: (progress: ChangeProgress) => void;
}

export interface BootstrapOptions extends ChangeOptions {
  /** The nodes have lost their data. Default: false. */
  afterLoss?: boolean;
}

/** The deployment as a whole, for operators. Each call makes connections of its own by the options
 *  of a client, of whose callbacks it uses `credentials` only, and runs on a thread of Node's pool.
 *  A problem of a node is a finding, not an error. */
export interface Deployment {
  /** Asks every node for its facts, and changes nothing. */
  check(options: ClientOptions): Promise<DeploymentCheck>;
  /** Opens a deployment: marks every node as a member. It does not ask before it replaces a
   *  deployment that has other members. Fails with `unavailable`, `held`. */
  bootstrap(options: ClientOptions, change?: BootstrapOptions): Promise<DeploymentCheck>;
  /** Changes nothing. */
  members(options: ClientOptions): Promise<Membership>;
  /** Replaces a node while clients run. The same call resumes a change that ended early. Fails with
   *  `unavailable`. */
  replaceMember(options: ClientOptions, leaving: string, entering: string,
    change?: ChangeOptions): Promise<Membership>;
  /** As `replaceMember`. */
  addMember(options: ClientOptions, entering: string, change?: ChangeOptions): Promise<Membership>;
  /** As `replaceMember`. */
  removeMember(
    options: ClientOptions, leaving: string, change?: ChangeOptions): Promise<Membership>;
  /** The locks that the nodes store. Changes nothing. */
  listLocks(options: ClientOptions, which?: ListOptions): Promise<LockList>;
}
export const deployment: Deployment;

/** The clock of deadlines: milliseconds since the machine was started, those while it was suspended
 *  included. Neither Date.now() nor performance.now(). */
export function now(): number;
/** The version of the library. */
export const version: string;
