/* A vote counts only with its marker (tools/docs/design/membership.md). Two clients use the nodes
 * of one deployment, which forget while connections stay. Changes of the deployment are in
 * members.pml.
 *
 * Time: a key, a lease and a quarantine last for some time after a round began. So it is enough to
 * know which rounds are still before their deadline: a key may be gone, and a quarantine is over,
 * once all rounds that began earlier are over. The delay of a paused client or of a message is a
 * step that is taken late. A round that is over leaves nothing: a key that stays longer excludes
 * more.
 *
 * Markers are only compared with each other. So the model has no incarnations, but knows which
 * clients remember the present one. */
#define NODES 3
#define QUORUM 2
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) }

/* Rounds: 1 and 2 are those in which the clients ask or that they have won; 4 and 8 are their
 * extends. */
#define ROUND(client) (1 << (client))
#define EXTEND_OF(client) (4 << (client))
byte live;

byte owner[NODES];      /* of the key: client + 1 */
bit weak[NODES];        /* it was not extended, and may expire */
byte waits[NODES];      /* the quarantine of the present marker lasts as long as these rounds */
bit marked[NODES] = 1;  /* there is a marker */
byte losses;
#ifndef LOSSES
#define LOSSES 1
#endif

/* The client's memory of a node since its handshake. */
#define AT(client, k) ((client) * NODES + (k))
bit same[2 * NODES] = 1; /* the marker that is there, or was there before it was lost */
byte until[2 * NODES];  /* its quarantine */
bit met[2 * NODES] = 1;  /* the client had its handshake with the node */

/* The client's requests on their way. */
#define none 0
#define asked 1
#define looked 2    /* AHEAD: the marker was read before the SET */
#define executed 3  /* the marker is still to be read */
#define counted 4
#define repaired 5
byte set[2 * NODES];
byte extend[2 * NODES];
bit kept[2 * NODES];

#define idle 0
#define asking 1
#define held 2
byte phase[2];

#define c _pid
#define MY(field, k) field[AT(c, k)]
#define EXTENDS(client) ((live & EXTEND_OF(client)) != 0)

#ifdef AT_INTERVALS /* the marker as it was last read, at any earlier time */
#define MARKER_FITS(k) MY(met, k)
#elif defined(NO_INCARNATION) /* run_id, id and state are the same again */
#define MARKER_FITS(k) (marked[k] && MY(met, k))
#else
#define MARKER_FITS(k) (marked[k] && MY(same, k))
#endif
#ifdef NOT_BEHIND_EXTENDS
#define EXTEND_FITS(k) true
#else
#define EXTEND_FITS(k) MARKER_FITS(k)
#endif

/* The marker differs from the remembered one now; without incarnations, nobody can see that. */
#define NOT_SAME(k) same[AT(0, k)] = 0; same[AT(1, k)] = 0

/* Nodes are alike; see lock.pml. */
int swap;
#define SWAP(one, other) swap = one; one = other; other = swap
#define OF(client, k) \
  (same[AT(client, k)] + 2 * met[AT(client, k)] + 4 * kept[AT(client, k)] + \
   8 * set[AT(client, k)] + 64 * extend[AT(client, k)])
#define NODE_RANK(k) \
  (OF(0, k) + 512 * OF(1, k) + 262144 * (owner[k] + 4 * weak[k] + 8 * marked[k] + 16 * waits[k]))
#define SWAP_OF(client, i, j) \
  SWAP(same[AT(client, i)], same[AT(client, j)]); SWAP(met[AT(client, i)], met[AT(client, j)]); \
  SWAP(kept[AT(client, i)], kept[AT(client, j)]); SWAP(set[AT(client, i)], set[AT(client, j)]); \
  SWAP(extend[AT(client, i)], extend[AT(client, j)]); \
  SWAP(until[AT(client, i)], until[AT(client, j)])
#define SORT_NODES(i, j) \
  if \
  :: NODE_RANK(i) > NODE_RANK(j) -> \
     SWAP(owner[i], owner[j]); SWAP(weak[i], weak[j]); SWAP(waits[i], waits[j]); \
     SWAP(marked[i], marked[j]); SWAP_OF(0, i, j); SWAP_OF(1, i, j); \
     swap = 0; printf("@node %d %d\n", i + 1, j + 1) \
  :: else \
  fi
#define IN_ORDER d_step { SORT_NODES(0, 1); SORT_NODES(1, 2); SORT_NODES(0, 1) }

inline ask() {
  phase[c] == idle ->
  phase[c] = asking; live = live | ROUND(c);
  MY(set, 0) = asked; MY(set, 1) = asked; MY(set, 2) = asked;
  printf("client %d sends its SETs\n", c + 1)
}

inline meet(k) {
  !MY(met, k) || !marked[k] || !MY(same, k) || MY(until, k) != waits[k] ->
  if
  :: !marked[k] ->
     marked[k] = 1;
#ifdef NO_QUARANTINE
     waits[k] = 0;
#else
     waits[k] = live;
#endif
     NOT_SAME(k);
     printf("client %d marks node %d anew\n", c + 1, k + 1)
  :: else
  fi;
#ifndef KEPT_WITHOUT_INCARNATION
  if
  :: !MY(same, k) -> MY(kept, k) = 0
  :: else
  fi;
#endif
  MY(met, k) = 1; MY(same, k) = 1; MY(until, k) = waits[k];
  printf("client %d reads the marker of node %d\n", c + 1, k + 1)
}

inline look(k) {
  phase[c] == asking && MY(set, k) == asked && MARKER_FITS(k) && MY(until, k) == 0 ->
  MY(set, k) = looked;
  printf("node %d answers with the marker to client %d\n", k + 1, c + 1)
}

#ifdef AHEAD
#define BEFORE_SET looked
#define AFTER_SET counted
#else
#define BEFORE_SET asked
#define AFTER_SET executed
#endif
inline execute_set(k) {
  phase[c] != idle && MY(set, k) == BEFORE_SET && owner[k] == 0 ->
  owner[k] = c + 1; weak[k] = 0; MY(set, k) = AFTER_SET;
#ifdef AHEAD
  MY(kept, k) = 1;
#endif
  printf("node %d executes the SET of client %d\n", k + 1, c + 1)
}

/* Reads the marker after the SET. The SET is a vote only if the quarantine is over when the answer
 * is read. */
inline read_marker(k) {
  phase[c] != idle && MY(set, k) == executed && MARKER_FITS(k) && MY(until, k) == 0 ->
  MY(set, k) = counted; MY(kept, k) = 1;
  printf("node %d votes for client %d\n", k + 1, c + 1)
}

#define VOTES(field) \
  ((MY(field, 0) == counted) + (MY(field, 1) == counted) + (MY(field, 2) == counted))

inline win() {
  phase[c] == asking && VOTES(set) >= QUORUM ->
  phase[c] = held;
  printf("client %d is granted a lease\n", c + 1);
  if
  :: phase[1 - c] == held ->
     printf("WRONG: two leases are valid at one instant\n"); assert(false)
  :: else
  fi
}

#ifndef EXTENDERS
#define EXTENDERS 1
#endif
inline begin_extend() {
  phase[c] == held && !EXTENDS(c) && c < EXTENDERS ->
  live = live | EXTEND_OF(c);
  MY(extend, 0) = asked; MY(extend, 1) = asked; MY(extend, 2) = asked;
  printf("client %d extends\n", c + 1)
}

inline execute_extend(k) {
  EXTENDS(c) && MY(extend, k) == asked && (owner[k] == 0 || owner[k] == c + 1) ->
  if
  :: owner[k] == 0 ->
     MY(extend, k) = repaired;
     printf("node %d executes the extend of client %d: repaired\n", k + 1, c + 1)
  :: else ->
     MY(extend, k) = executed;
     printf("node %d executes the extend of client %d: had the key\n", k + 1, c + 1)
  fi;
  owner[k] = c + 1; weak[k] = 0
}

inline read_answer(k) {
  EXTENDS(c) &&
    (MY(extend, k) == repaired && MY(kept, k) ||
     MY(extend, k) == executed && EXTEND_FITS(k) && (MY(until, k) == 0 || MY(kept, k))) ->
  if
  :: MY(extend, k) == repaired ->
     MY(kept, k) = 0; MY(extend, k) = none;
     printf("client %d reads that node %d did not have its key\n", c + 1, k + 1)
  :: else ->
     MY(extend, k) = counted;
     printf("node %d counts for the extend of client %d\n", k + 1, c + 1)
  fi
}

#define DROP(set, rounds) set = set & ~(rounds)
#define DROP_ROUNDS(k, rounds) \
  DROP(waits[k], rounds); DROP(until[AT(0, k)], rounds); DROP(until[AT(1, k)], rounds)
/* The extend takes the place of the round before, which no longer counts. */
#define SHIFT(set) \
  set = ((set & EXTEND_OF(c)) != 0 -> \
    (set & ~(EXTEND_OF(c)) | ROUND(c)) : (set & ~(ROUND(c))))
#define SHIFT_ROUNDS(k) SHIFT(waits[k]); SHIFT(until[AT(0, k)]); SHIFT(until[AT(1, k)])
#define WEAKEN(k) \
  if \
  :: owner[k] == c + 1 && !(MY(extend, k) == counted || MY(extend, k) == executed || \
     MY(extend, k) == repaired) -> weak[k] = 1 \
  :: else \
  fi; \
  MY(extend, k) = none

inline win_extend() {
  EXTENDS(c) && VOTES(extend) >= QUORUM ->
  SHIFT_ROUNDS(0); SHIFT_ROUNDS(1); SHIFT_ROUNDS(2);
  live = live & ~(EXTEND_OF(c));
  WEAKEN(0); WEAKEN(1); WEAKEN(2);
  printf("client %d has extended its lease\n", c + 1)
}

/* Unanswered requests are lost. */
inline fail_extend() {
  EXTENDS(c) ->
  DROP_ROUNDS(0, EXTEND_OF(c)); DROP_ROUNDS(1, EXTEND_OF(c)); DROP_ROUNDS(2, EXTEND_OF(c));
  live = live & ~(EXTEND_OF(c));
  MY(extend, 0) = none; MY(extend, 1) = none; MY(extend, 2) = none;
  printf("client %d gives its extend up\n", c + 1)
}

active [2] proctype Client() {
end:
  do
  :: atomic {
       if
       :: d_step { ask() }
       EACH_NODE(meet)
#ifdef AHEAD
       EACH_NODE(look)
#else
       EACH_NODE(read_marker)
#endif
       EACH_NODE(execute_set)
       :: d_step { win() }
#ifdef EXTEND
       :: d_step { begin_extend() }
       EACH_NODE(execute_extend)
       EACH_NODE(read_answer)
       :: d_step { win_extend() }
       :: d_step { fail_extend() }
#endif
       fi;
       IN_ORDER
     }
  od
}

/* FLUSHALL, or a change of the role and back: connections stay. */
inline lose(k) {
  losses < LOSSES && marked[k] ->
  losses++;
  owner[k] = 0; weak[k] = 0; waits[k] = 0; marked[k] = 0;
  NOT_SAME(k);
  printf("node %d loses its data\n", k + 1)
}

inline vanish(k) {
  owner[k] != 0 && weak[k] ->
  owner[k] = 0; weak[k] = 0;
  printf("node %d expires a key that was not extended\n", k + 1)
}

active proctype Environment() {
end:
  do
  :: atomic {
       if
       EACH_NODE(lose)
#ifdef EXTEND
       EACH_NODE(vanish)
#endif
       fi;
       IN_ORDER
     }
  od
}
