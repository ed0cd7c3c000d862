/* Replicated nodes: a service of three servers, one primary and two replicas, is one node, and
 * locks survive a failover. A vote counts only if it was given within a reign: a time in which one
 * server is primary and has K followers at every instant. Reigns of two servers do not overlap,
 * because a server follows one primary at a time and a primary follows nobody. A reign begins with
 * a quarantine, which covers all leases of the reigns before.
 *
 * The adversary promotes and demotes any server at any time, several at once. A replica leaves its
 * primary unnoticed: its link stays half open, and acknowledgements that it sent over the link
 * still count. A server that attaches, by full or partial sync, raises the counter `attached` of
 * its primary. A server that becomes primary disconnects its own replicas, as Redis does, and has
 * another replication id. BACK: also a primary that was a replica for a moment. STALE: clients with
 * connections of any age. RESTARTS: a server restarts as a primary; its counters begin at 0, its
 * connections end.
 *
 * A vote has four steps on the server, with any time between them: the request, the marker, WAIT
 * (how many links have acknowledged the request), INFO (attachments now). It counts if the marker
 * is that of this primary, confirmed and not in quarantine, and if
 *   acknowledged - (attachments now - attachments of the record) >= K, and now >= of the record.
 * Each attachment since the record takes at most one acknowledgement. So K of the links were there
 * at the record's instant, and until the request.
 *
 * Keepers are the clients that mark, confirm and renew records. A reign is confirmed by reading the
 * attachments and then writing record and quarantine, if the marker is still the one that was read.
 * It may be confirmed again at any time, which stands for a broken reign. To renew the record:
 * read the attachments, write, WAIT, read them again, write the first reading as the record.
 *
 * Time is that of votes.pml: a quarantine covers the rounds that began before it and are not over.
 * Without EXTEND no round ends, so a quarantine that covers one never ends in this run, and the
 * model leaves such markers out. EXTEND: client 1 extends its lease, again and again.
 *
 * Left out: what replicas store. A promoted server has lost the key (with EXTEND: it has lost the
 * key or has that of client 1), for a key that is there only excludes more; its marker is that of
 * an earlier term of its own, for the marker of another server is never its own. Replicas of
 * replicas, which do not acknowledge to the primary. A WAIT that returns fewer acknowledgements
 * than the primary has: it counts less. The time for which an acknowledgement is under way is that
 * of a WAIT that returns late. A second attempt of a client: one that fails only excludes.
 *
 * What can go wrong, in the words of tests/model/run:
 * 'two leases are valid at one instant': two clients hold.
 * 'a vote of no reign was counted' (LEMMA): when the request was executed, the server was not
 *   primary, or had not had K followers at every instant since its reign was confirmed.
 * 'two reigns overlap' (LEMMA): two servers are primary and have K followers.
 * 'an extend was counted by another reign' (MOVES): than the one that granted the lease.
 *
 * Bounds: one node of three servers, two clients, KEEPERS, PROMOTIONS besides the first primary,
 * ATTACHES besides the first two, one restart.
 *
 * What the model settles:
 * - Two leases at once without WAIT, with K - 1 acknowledgements (NO_WAIT, FEWER_ACKNOWLEDGEMENTS),
 *   without attachments, if S - 1 - K of them are tolerated (UNCOUNTED, TOLERATED), without
 *   quarantine, with the quarantine at first contact only (NO_QUARANTINE, QUARANTINE_ONCE).
 * - Two leases if the new record is a reading that came after the WAIT, as when it is renewed with
 *   a vote (READ_LATE), or if the attachments are not read again after it (READ_ONCE). The first
 *   reading can be that of an earlier vote, and the second one may differ from it, if the second
 *   one is that of the rule (MAY_MOVE: holds).
 * - Two leases if the attachments are read before WAIT (INFO_FIRST), if acknowledgements from
 *   before the request count, as for a request that writes nothing (OLD_ACKNOWLEDGEMENTS), if a
 *   marker has no owner (NO_OWNER), and after CONFIG RESETSTAT (RESETS).
 * - Exclusion does not need K acknowledgements before a reign is confirmed (only ACKNOWLEDGED waits
 *   for them; otherwise a quarantine may be in vain), nor compare-and-set (NO_CAS: holds), nor the
 *   replication id in the marker (RUN_ID_ONLY: holds), while a server that becomes primary
 *   disconnects its replicas. If it did not: two leases (KEEPS_FOLLOWERS), unless INFO tells the
 *   replication id too, and it is that of the handshake (CHECK_TERM: holds).
 * - After a failover no extend ever counts: the quarantine outlasts the lease (MOVES: holds). If
 *   extends count in a quarantine, as long as their key is there: two leases, because a SET that
 *   was executed in the quarantine of an earlier reign is counted after its end
 *   (EXTEND_IN_QUARANTINE). They may count if clients send a SET only after they have read that the
 *   quarantine is over, and an extend after they have read that the reign is confirmed
 *   (EXTEND_KNOWN: holds, for a quorum of one). */
#define SERVERS 3
#define K 1 /* SERVERS / 2: a primary and K followers are a majority */
#ifndef PROMOTIONS
#define PROMOTIONS 1
#endif
#ifndef ATTACHES
#define ATTACHES 2
#endif
#ifndef KEEPERS
#define KEEPERS 1
#endif
#define EACH_SERVER(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) }

/* --- Servers --- */
#define nobody 3
byte follows[SERVERS];   /* a primary: itself; a replica: the server that it follows, or nobody */
byte received[SERVERS];  /* the writers whose write has come over this link */
byte term[SERVERS];      /* the replication id: another one after each promotion and restart */
byte attached[SERVERS];  /* sync_full + sync_partial_ok */
byte key[SERVERS];       /* the round that set it */
byte promotions;
byte attaches;
#define PRIMARY(s) (follows[s] == (s))

/* A marker: the term of its owner, the attachments of the record, whether the reign is confirmed,
 * and the rounds that its quarantine covers. 0: there is none. */
#define MARKER(t, record, confirmed, rounds) \
  (1 + (t) + 4 * (record) + 32 * (confirmed) + 64 * (rounds))
#define TERM(m) (((m) - 1) & 3)
#define RECORD(m) ((((m) - 1) >> 2) & 7)
#define CONFIRMED(m) ((m) != 0 && ((((m) - 1) >> 5) & 1) == 1)
#define QUARANTINE(m) ((m) == 0 -> 0 : ((m) - 1) >> 6)
#define WITH_QUARANTINE(m, rounds) ((m) == 0 -> 0 : (((m) - 1) & 63) + 64 * (rounds) + 1)
#if defined(NO_OWNER) || defined(RUN_ID_ONLY)
#define OWN(m, t) ((m) != 0)
#else
#define OWN(m, t) ((m) != 0 && TERM(m) == (t))
#endif

/* Rounds: 1 and 2 are those in which the clients ask or that they have won; 4 is the extend of
 * client 1. A quarantine from now on covers `live`. */
#define ROUND(client) (1 << (client))
#define EXTENSION 4
#define OLD 8  /* a key of client 1 that was not extended */
#define OWNED(k) ((k) & (1 | EXTENSION | OLD))
byte live;

/* At the beginning server 1 is primary, the others follow it, and its reign is confirmed. */
short marker[SERVERS] = MARKER(0, 0, 1, 0); /* a copy of it is of no use */
#ifdef EXTEND
#define USABLE(rounds) true
#define MAY_EXTEND (w == 0)
#else
/* No round ends, so neither does a quarantine that covers one: its marker is never of use. */
#define USABLE(rounds) ((rounds) == 0)
#define MAY_EXTEND false
#endif

/* --- Writers: 0 and 1 lock, 2 and 3 keep the records. --- */
#define WRITERS 4
#define BIT(w) (1 << (w))
#define idle 0
#define connected 1
#define asked 2        /* the request is under way */
#define executed 3     /* the write; WAIT has not returned */
#define looked 4       /* the marker is read as well */
#define waited 5       /* WAIT has returned */
#define reading 6
#define proven 7       /* only the marker is still to be written */
#define confirming 8
#define acknowledged 9
#define counted 10
byte stage[WRITERS];
byte at[WRITERS];      /* the server */
byte known[WRITERS];   /* its term at the handshake */
byte record[WRITERS];  /* attachments: of the marker, or as a keeper has read them */
byte acked[WRITERS];   /* what WAIT returned */
byte dead[WRITERS];    /* acknowledgements over links that the follower has left, and the primary
                          still counts */
short seen[2];         /* keepers: the marker */
byte until[2];         /* clients: its quarantine */
bit held[2];
#ifdef MOVES
byte moved;            /* the term in which client 1 was granted its lease */
#endif
#ifdef EXTEND_KNOWN
bit sure[WRITERS];     /* the client has read the marker before it sent the request */
#define UNSURE(v) sure[v] = 0
#else
#define UNSURE(v) skip
#endif
#ifdef INFO_FIRST
byte early[2];
#endif
#ifdef LEMMA
bit unbroken[SERVERS] = 1; /* since the reign was confirmed */
bit good[2];           /* so it was when the request was executed */
#endif

#define w _pid
#define S at[w]
#define SENT(v) \
  (stage[v] == executed || stage[v] == looked || stage[v] == confirming)
#ifdef OLD_ACKNOWLEDGEMENTS
#define COUNTS_FOR(v, s) \
  (at[v] == (s) && (SENT(v) || stage[v] == connected || stage[v] == asked))
#else
#define COUNTS_FOR(v, s) (at[v] == (s) && SENT(v))
#endif
#define FOLLOWS(r, s) ((r) != (s) && follows[r] == (s))
#define FOLLOWER_ACKS(r) (FOLLOWS(r, S) && (received[r] & BIT(w)) != 0)
#define ACKED (dead[w] + FOLLOWER_ACKS(0) + FOLLOWER_ACKS(1) + FOLLOWER_ACKS(2))
#define FOLLOWERS(s) (FOLLOWS(0, s) + FOLLOWS(1, s) + FOLLOWS(2, s))

/* The rule: n acknowledgements, attachments now, and those of the record. */
#ifdef NO_WAIT
#define ENOUGH(n, now, then) ((now) == (then))
#elif defined(FEWER_ACKNOWLEDGEMENTS)
#define ENOUGH(n, now, then) ((now) >= (then) && (n) + (then) >= (now) + K - 1)
#elif defined(UNCOUNTED)
#define ENOUGH(n, now, then) ((n) >= K)
#elif defined(TOLERATED)
#define ENOUGH(n, now, then) ((now) >= (then) && (now) <= (then) + SERVERS - 1 - K && (n) >= K)
#else
#define ENOUGH(n, now, then) ((now) >= (then) && (n) + (then) >= (now) + K)
#endif
/* It will not be enough later if it is not now. */
#ifdef RESETS
#define HOPEFUL(n, now, then) true
#else
#define HOPEFUL(n, now, then) ENOUGH(n, now, then)
#endif

#define CLEAR(v) \
  received[0] = received[0] & ~BIT(v); received[1] = received[1] & ~BIT(v); \
  received[2] = received[2] & ~BIT(v); dead[v] = 0
#define DONE(v) \
  CLEAR(v); acked[v] = 0; record[v] = 0; stage[v] = idle; at[v] = 0; known[v] = 0; UNSURE(v)

#ifdef LEMMA
#define REIGNS(s) (PRIMARY(s) && FOLLOWERS(s) >= K)
#define LOOK(s) \
  if \
  :: !REIGNS(s) -> unbroken[s] = 0 \
  :: else \
  fi
#define LOOK_AT_REIGNS \
  LOOK(0); LOOK(1); LOOK(2); \
  if \
  :: REIGNS(0) + REIGNS(1) + REIGNS(2) > 1 -> \
     printf("WRONG: two reigns overlap\n"); assert(false) \
  :: else \
  fi
#else
#define LOOK_AT_REIGNS
#endif

/* Servers are alike, and so are clients of a kind: each state is kept in one order only. */
int swap;
#define SWAP(one, other) swap = one; one = other; other = swap
#define OTHER(x, i, j) x = ((x) == (i) -> (j) : ((x) == (j) -> (i) : (x)))
#define AT(v, s) (stage[v] != idle && at[v] == (s))
#define RANK(s) \
  (AT(0, s) + 2 * AT(1, s) + 4 * AT(2, s) + 8 * AT(3, s) + 16 * attached[s] + 128 * term[s] + \
   512 * PRIMARY(s) + 1024 * received[s] + 16384 * FOLLOWERS(s) + 65536 * marker[s])
#ifdef LEMMA
#define SWAP_UNBROKEN(i, j) SWAP(unbroken[i], unbroken[j]);
#define SWAP_GOOD SWAP(good[0], good[1]);
#else
#define SWAP_UNBROKEN(i, j)
#define SWAP_GOOD
#endif
#define MOVE(v, i, j) \
  if \
  :: stage[v] != idle -> OTHER(at[v], i, j) \
  :: else \
  fi
#define SORT_SERVERS(i, j) \
  if \
  :: RANK(i) > RANK(j) -> \
     SWAP(follows[i], follows[j]); SWAP(received[i], received[j]); SWAP(term[i], term[j]); \
     SWAP(attached[i], attached[j]); SWAP(key[i], key[j]); SWAP(marker[i], marker[j]); \
     SWAP_UNBROKEN(i, j) \
     OTHER(follows[0], i, j); OTHER(follows[1], i, j); OTHER(follows[2], i, j); \
     MOVE(0, i, j); MOVE(1, i, j); MOVE(2, i, j); MOVE(3, i, j); \
     swap = 0; printf("@server %d %d\n", i + 1, j + 1) \
  :: else \
  fi
#define WORK(v) \
  (stage[v] + 16 * at[v] + 64 * known[v] + 256 * record[v] + 2048 * acked[v] + 16384 * dead[v] + \
   131072 * (((received[0] & BIT(v)) != 0) + 2 * ((received[1] & BIT(v)) != 0) + \
             4 * ((received[2] & BIT(v)) != 0)))
#define EXCHANGED(set, one, other) \
  ((set) & ~(one | other) | (((set) & (one)) != 0 -> other : 0) | \
   (((set) & (other)) != 0 -> one : 0))
#define SWAP_WORK(i, j) \
  SWAP(stage[i], stage[j]); SWAP(at[i], at[j]); SWAP(known[i], known[j]); \
  SWAP(record[i], record[j]); SWAP(acked[i], acked[j]); SWAP(dead[i], dead[j]); \
  received[0] = EXCHANGED(received[0], BIT(i), BIT(j)); \
  received[1] = EXCHANGED(received[1], BIT(i), BIT(j)); \
  received[2] = EXCHANGED(received[2], BIT(i), BIT(j)); \
  swap = 0; printf("@client %d %d\n", i + 1, j + 1)
#ifdef INFO_FIRST
#define SWAP_EARLY SWAP(early[0], early[1]);
#else
#define SWAP_EARLY
#endif
#define SORT_CLIENTS \
  if \
  :: WORK(0) + 1048576 * held[0] > WORK(1) + 1048576 * held[1] -> \
     SWAP(held[0], held[1]); SWAP(until[0], until[1]); SWAP_GOOD SWAP_EARLY \
     live = EXCHANGED(live, 1, 2); \
     key[0] = EXCHANGED(key[0], 1, 2); key[1] = EXCHANGED(key[1], 1, 2); \
     key[2] = EXCHANGED(key[2], 1, 2); \
     SWAP_WORK(0, 1) \
  :: else \
  fi
#if KEEPERS == 2 && !defined(FEW)
#define SORT_KEEPERS \
  if \
  :: WORK(2) > WORK(3) -> SWAP(seen[0], seen[1]); SWAP_WORK(2, 3) \
  :: else \
  fi
#else
#define SORT_KEEPERS skip
#endif
#ifdef EXTEND
#define SORT_ALL SORT_SERVERS(0, 1); SORT_SERVERS(1, 2); SORT_SERVERS(0, 1); SORT_KEEPERS
#else
#define SORT_ALL \
  SORT_SERVERS(0, 1); SORT_SERVERS(1, 2); SORT_SERVERS(0, 1); SORT_CLIENTS; SORT_KEEPERS
#endif
#define IN_ORDER d_step { SORT_ALL }

/* --- Clients --- */
#ifdef EXTEND_KNOWN
/* A client sends a SET only after it has read that the quarantine of the reign is over, and an
 * extend after it has read that the reign is confirmed. Both count in that reign only. */
#define IS_KNOWN \
  (OWN(marker[S], known[w]) && CONFIRMED(marker[S]) && (held[w] || QUARANTINE(marker[S]) == 0))
#define REMEMBER \
  if \
  :: IS_KNOWN -> sure[w] = 1; record[w] = RECORD(marker[S]) \
  :: else \
  fi;
#define REMEMBERED(m) (sure[w] && RECORD(m) == record[w])
#else
#define REMEMBER
#define REMEMBERED(m) true
#endif
#define BEGIN \
  stage[w] = asked; \
  if \
  :: held[w] -> live = live | EXTENSION; printf("client %d extends\n", w + 1) \
  :: else -> live = live | ROUND(w); printf("client %d sends its SET\n", w + 1) \
  fi

inline connect(s) {
  stage[w] == idle && PRIMARY(s) && (!held[w] || MAY_EXTEND) ->
  at[w] = s; known[w] = term[s];
  printf("client %d connects to server %d\n", w + 1, s + 1);
  REMEMBER
#ifdef STALE
  stage[w] = connected
#else
  BEGIN
#endif
}

inline ask() {
  stage[w] == connected ->
  BEGIN
}

/* It goes by what it read when it connected, or reads again. */
inline remember() {
  stage[w] == connected && PRIMARY(S) && IS_KNOWN ->
  REMEMBER
}

inline execute() {
  stage[w] == asked && PRIMARY(S) && (held[w] -> OWNED(key[S]) != 0 : key[S] == 0) ->
  stage[w] = executed;
  key[S] = (held[w] -> EXTENSION : ROUND(w));
#ifdef LEMMA
  good[w] = unbroken[S];
#endif
  printf("server %d executes the request of client %d\n", S + 1, w + 1)
}

#if defined(EXTEND_IN_QUARANTINE) || defined(EXTEND_KNOWN)
#define OVER(rounds) (held[w] || (rounds) == 0)
#ifdef EXTEND_KNOWN
#define EXEMPT false
#else
#define EXEMPT held[w]
#endif
#else
#define OVER(rounds) ((rounds) == 0)
#define EXEMPT false
#endif
#ifdef INFO_FIRST /* the attachments are read before WAIT */
#define ATTACHMENTS early[w]
#else
#define ATTACHMENTS attached[S]
#endif
inline look() {
  stage[w] == executed && OWN(marker[S], known[w]) && CONFIRMED(marker[S]) &&
    USABLE(QUARANTINE(marker[S])) && REMEMBERED(marker[S]) ->
  stage[w] = looked; record[w] = RECORD(marker[S]); until[w] = QUARANTINE(marker[S]);
#ifdef INFO_FIRST
  early[w] = attached[S];
#endif
  printf("server %d answers client %d with its marker: the record is %d attachments\n", S + 1,
         w + 1, record[w])
}

inline wait_for() {
  stage[w] == looked && PRIMARY(S) && HOPEFUL(ACKED, ATTACHMENTS, record[w]) ->
  acked[w] = ACKED; CLEAR(w); stage[w] = waited;
  printf("server %d tells client %d of %d acknowledgements\n", S + 1, w + 1, acked[w])
}

/* The extend takes the place of the round before, which no longer counts. */
#define SHIFTED(set) (((set) & EXTENSION) != 0 -> (set) & ~EXTENSION | 1 : (set) & ~1)
#define WITHOUT(set) ((set) & ~EXTENSION)
#define SHIFT_MARKER(m) m = WITH_QUARANTINE(m, SHIFTED(QUARANTINE(m)))
#define STRIP_MARKER(m) m = WITH_QUARANTINE(m, WITHOUT(QUARANTINE(m)))
#define AGE(k) k = ((k) == 1 -> OLD : ((k) == EXTENSION -> 1 : (k)))
#define STRIP(k) k = ((k) == EXTENSION -> 1 : (k))

#ifdef CHECK_TERM /* INFO tells the replication id too */
#define SAME_TERM (term[S] == known[w])
#else
#define SAME_TERM true
#endif

inline count() {
  stage[w] == waited && OVER(until[w]) && ENOUGH(acked[w], ATTACHMENTS, record[w]) && SAME_TERM ->
  printf("server %d tells client %d of %d attachments: it votes\n", S + 1, w + 1, attached[S]);
#ifdef MOVES
  if
  :: !held[w] -> moved = (w == 0 -> known[w] : moved)
  :: held[w] && known[w] != moved ->
     printf("WRONG: an extend was counted by another reign\n"); assert(false)
  :: else
  fi;
#endif
  DONE(w); until[w] = 0;
#ifdef LEMMA
  if
  :: !good[w] && !EXEMPT ->
     printf("WRONG: a vote of no reign was counted\n"); assert(false)
  :: else
  fi;
  good[w] = 0;
#endif
  if
  :: held[w] ->
     live = live & ~EXTENSION;
     SHIFT_MARKER(marker[0]); SHIFT_MARKER(marker[1]); SHIFT_MARKER(marker[2]);
     SHIFT_MARKER(seen[0]); SHIFT_MARKER(seen[1]);
     until[1] = SHIFTED(until[1]);
     AGE(key[0]); AGE(key[1]); AGE(key[2]);
     printf("client %d has extended its lease\n", w + 1)
  :: else ->
     held[w] = 1;
     printf("client %d is granted a lease\n", w + 1);
     if
     :: held[1 - w] ->
        printf("WRONG: two leases are valid at one instant\n"); assert(false)
     :: else
     fi
  fi
}

inline fail_extend() {
  held[w] && stage[w] != idle ->
  DONE(w); until[w] = 0; live = WITHOUT(live);
#ifdef LEMMA
  good[w] = 0;
#endif
  STRIP_MARKER(marker[0]); STRIP_MARKER(marker[1]); STRIP_MARKER(marker[2]);
  STRIP_MARKER(seen[0]); STRIP_MARKER(seen[1]);
  until[1] = WITHOUT(until[1]);
  STRIP(key[0]); STRIP(key[1]); STRIP(key[2]);
  printf("client %d gives its extend up\n", w + 1)
}

active [2] proctype Client() {
end:
  do
  :: atomic {
       if
       EACH_SERVER(connect)
#ifdef STALE
       :: d_step { ask() }
#ifdef EXTEND_KNOWN
       :: d_step { remember() }
#endif
#endif
       :: d_step { execute() }
       :: d_step { look() }
       :: d_step { wait_for() }
       :: d_step { count() }
#if defined(EXTEND) && !defined(FEW)
       :: d_step { fail_extend() }
#endif
       fi;
       IN_ORDER
     }
  od
}

/* --- Keepers --- */
#define SEEN seen[w - 2]
#ifdef NO_QUARANTINE
#define FIRST_QUARANTINE 0
#define NEXT_QUARANTINE 0
#elif defined(QUARANTINE_ONCE)
#define FIRST_QUARANTINE live
#define NEXT_QUARANTINE (CONFIRMED(SEEN) -> live : QUARANTINE(SEEN))
#else
#define FIRST_QUARANTINE live
#define NEXT_QUARANTINE live
#endif
#ifdef NO_CAS
#define UNCHANGED true
#else
#define UNCHANGED (marker[S] == SEEN)
#endif

/* FEW: fewer steps for variants that must fail. One keeper confirms, the other one refreshes. */
#if defined(FEW) && defined(EXTEND)
#define CONFIRMS(m) (w == 2)
#define REFRESHES (w == 3)
#elif defined(FEW)
#define CONFIRMS(m) (w == 2 && !CONFIRMED(m))
#define REFRESHES (w == 3)
#else
#define CONFIRMS(m) true
#define REFRESHES true
#endif

/* A script: reads and writes in one step. */
inline mark(s) {
  stage[w] == idle && CONFIRMS(0) && PRIMARY(s) && !OWN(marker[s], term[s]) &&
    USABLE(FIRST_QUARANTINE) ->
  marker[s] = MARKER(term[s], 0, 0, FIRST_QUARANTINE);
  printf("client %d marks server %d\n", w + 1, s + 1)
}

inline begin_confirming(s) {
  stage[w] == idle && CONFIRMS(marker[s]) && PRIMARY(s) && OWN(marker[s], term[s]) ->
  at[w] = s; known[w] = term[s]; SEEN = marker[s];
#ifndef ACKNOWLEDGED
  record[w] = attached[s]; stage[w] = counted;
  printf("server %d tells client %d of %d attachments\n", s + 1, w + 1, record[w])
#else
  stage[w] = confirming;
  printf("client %d writes to server %d, to confirm its reign\n", w + 1, s + 1)
#endif
}

inline wait_to_confirm() {
  stage[w] == confirming && PRIMARY(S) && ACKED >= K ->
  CLEAR(w); stage[w] = acknowledged;
  printf("server %d tells client %d that enough follow\n", S + 1, w + 1)
}

inline read_to_confirm() {
  stage[w] == acknowledged ->
  record[w] = attached[S]; stage[w] = counted;
  printf("server %d tells client %d of %d attachments\n", S + 1, w + 1, record[w])
}

inline confirm() {
  stage[w] == counted && PRIMARY(S) && UNCHANGED && USABLE(NEXT_QUARANTINE) ->
  marker[S] = MARKER(known[w], record[w], 1, NEXT_QUARANTINE);
#ifdef LEMMA
  unbroken[S] = REIGNS(S);
#endif
  printf("client %d confirms the reign of server %d\n", w + 1, S + 1);
  DONE(w); SEEN = 0
}

#ifdef READ_LATE
#define WORTH_IT true
#else
#define WORTH_IT (attached[s] > RECORD(marker[s]))
#endif
inline begin_refresh(s) {
  stage[w] == idle && REFRESHES && PRIMARY(s) && OWN(marker[s], term[s]) &&
    CONFIRMED(marker[s]) && WORTH_IT ->
  at[w] = s; known[w] = term[s]; SEEN = marker[s]; stage[w] = reading;
#ifdef READ_LATE
  printf("client %d reads the marker of server %d\n", w + 1, s + 1)
#else
  record[w] = attached[s];
  printf("server %d tells client %d of %d attachments\n", s + 1, w + 1, record[w])
#endif
}
inline write_to_refresh() {
  stage[w] == reading && PRIMARY(S) ->
  stage[w] = executed;
  printf("client %d writes to server %d\n", w + 1, S + 1)
}

#ifdef READ_ONCE
#define NOW record[w]
#else
#define NOW attached[S]
#endif
inline wait_to_refresh() {
  stage[w] == executed && PRIMARY(S) && HOPEFUL(ACKED, NOW, RECORD(SEEN)) ->
  acked[w] = ACKED; CLEAR(w); stage[w] = waited;
  printf("server %d tells client %d of %d acknowledgements\n", S + 1, w + 1, acked[w])
}

#if defined(READ_LATE) || defined(READ_ONCE) || defined(MAY_MOVE)
#define STAYED true
#else
#define STAYED (attached[S] == record[w])
#endif
inline read_to_refresh() {
  stage[w] == waited && STAYED && ENOUGH(acked[w], NOW, RECORD(SEEN)) ->
#ifdef READ_LATE
  record[w] = attached[S];
#endif
  acked[w] = 0; stage[w] = proven;
  printf("server %d tells client %d of %d attachments\n", S + 1, w + 1, attached[S])
}

inline refresh() {
  stage[w] == proven && PRIMARY(S) && UNCHANGED ->
  marker[S] = MARKER(known[w], record[w], 1, QUARANTINE(SEEN));
  printf("client %d renews the record of server %d\n", w + 1, S + 1);
  DONE(w); SEEN = 0
}

inline give_up() {
  stage[w] != idle ->
  DONE(w); SEEN = 0;
  printf("client %d gives up\n", w + 1)
}

active [KEEPERS] proctype Keeper() {
end:
  do
  :: atomic {
       if
#ifndef FEW
       :: d_step { give_up() }
#endif
       EACH_SERVER(mark)
       EACH_SERVER(begin_confirming)
#ifdef ACKNOWLEDGED
       :: d_step { wait_to_confirm() }
       :: d_step { read_to_confirm() }
#endif
       :: d_step { confirm() }
       EACH_SERVER(begin_refresh)
       :: d_step { write_to_refresh() }
       :: d_step { wait_to_refresh() }
       :: d_step { read_to_refresh() }
       :: d_step { refresh() }
       fi;
       IN_ORDER
     }
  od
}
#undef w
#undef S

/* --- The adversary --- */
#define SEVER_FOR(v, r) \
  if \
  :: FOLLOWS(r, at[v]) && (received[r] & BIT(v)) != 0 -> dead[v]++ \
  :: else \
  fi
/* The follower leaves; the primary does not notice. */
#define SEVER(r) \
  SEVER_FOR(0, r); SEVER_FOR(1, r); SEVER_FOR(2, r); SEVER_FOR(3, r); \
  received[r] = 0
/* A server that becomes primary disconnects its replicas. */
#define RELEASE_FOR(v, s) dead[v] = (at[v] == (s) -> 0 : dead[v])
#define RELEASE_FOLLOWER(r, s) \
  if \
  :: FOLLOWS(r, s) -> follows[r] = nobody; received[r] = 0 \
  :: else \
  fi
#ifdef KEEPS_FOLLOWERS
#define RELEASE_FOLLOWERS(s)
#else
#define RELEASE_FOLLOWERS(s) \
  RELEASE_FOR(0, s); RELEASE_FOR(1, s); RELEASE_FOR(2, s); RELEASE_FOR(3, s); \
  RELEASE_FOLLOWER(0, s); RELEASE_FOLLOWER(1, s); RELEASE_FOLLOWER(2, s);
#endif
#ifdef NO_OWNER
#define TAKE_MARKER(s) marker[s] = (follows[s] < nobody -> marker[follows[s]] : marker[s]);
#else
#define TAKE_MARKER(s)
#endif

#ifdef BACK /* also a primary that was a replica for a moment */
#define MAY_PROMOTE(s) (promotions < PROMOTIONS)
#else
#define MAY_PROMOTE(s) (promotions < PROMOTIONS && !PRIMARY(s))
#endif
#define PROMOTE(s) \
  promotions++; \
  SEVER(s); \
  RELEASE_FOLLOWERS(s) \
  TAKE_MARKER(s) \
  follows[s] = s; term[s]++

inline promote(s) {
  MAY_PROMOTE(s) ->
  PROMOTE(s); key[s] = 0;
  printf("server %d becomes primary\n", s + 1);
  LOOK_AT_REIGNS
}

inline promote_with_key(s) {
  MAY_PROMOTE(s) && held[0] ->
  PROMOTE(s); key[s] = 1;
  printf("server %d becomes primary, and has the key of client 1\n", s + 1);
  LOOK_AT_REIGNS
}

inline attach(r, p) {
  r != p && PRIMARY(p) && attaches < ATTACHES ->
  attaches++;
  SEVER(r);
  follows[r] = p; attached[p]++; key[r] = 0;
  printf("server %d attaches to server %d\n", r + 1, p + 1);
  LOOK_AT_REIGNS
}
#define ATTACH_TO(p) \
  :: d_step { attach(0, p) } \
  :: d_step { attach(1, p) } \
  :: d_step { attach(2, p) }

#define ARRIVES(v, r) (BIT(v) * COUNTS_FOR(v, follows[r]))
#define ARRIVE(r) (ARRIVES(0, r) | ARRIVES(1, r) | ARRIVES(2, r) | ARRIVES(3, r))
inline receive(r) {
  follows[r] != r && (ARRIVE(r) & ~received[r]) != 0 ->
  received[r] = received[r] | ARRIVE(r);
  printf("server %d receives what server %d has\n", r + 1, follows[r] + 1)
}

#ifdef RESTARTS
byte restarts;
#define DISCONNECT(v, s) \
  if \
  :: stage[v] != idle && at[v] == (s) -> DONE(v) \
  :: else \
  fi
inline restart(s) {
  restarts < RESTARTS ->
  restarts++;
  SEVER(s);
  RELEASE_FOLLOWERS(s)
  DISCONNECT(0, s); DISCONNECT(1, s); DISCONNECT(2, s); DISCONNECT(3, s);
  seen[0] = (stage[2] == idle -> 0 : seen[0]); seen[1] = (stage[3] == idle -> 0 : seen[1]);
  follows[s] = s; term[s]++; attached[s] = 0; key[s] = 0;
  printf("server %d restarts as a primary\n", s + 1);
  LOOK_AT_REIGNS
}
#endif

#ifdef RESETS
byte resets;
inline reset(s) {
  resets < RESETS && attached[s] > 0 ->
  resets++; attached[s] = 0;
  printf("somebody resets the counters of server %d\n", s + 1)
}
#endif

inline expire(s) {
  key[s] == OLD ->
  key[s] = 0;
  printf("server %d expires a key that was not extended\n", s + 1)
}

active proctype Environment() {
end:
  do
  :: atomic {
       if
       EACH_SERVER(promote)
       ATTACH_TO(0)
       ATTACH_TO(1)
       ATTACH_TO(2)
       EACH_SERVER(receive)
#ifdef RESTARTS
       EACH_SERVER(restart)
#endif
#ifdef RESETS
       EACH_SERVER(reset)
#endif
#if defined(EXTEND) && !defined(FEW)
       EACH_SERVER(promote_with_key)
#endif
#ifdef EXTEND
       EACH_SERVER(expire)
#endif
       fi;
       IN_ORDER
     }
  od
}
