/* Which nodes belong together: adoption, and changes of the members by operators that compete and
 * crash (tools/docs/design/membership.md).
 *
 * Two leases that are valid together are two rounds that were granted. All other attempts only take
 * keys and prolong quarantines, so for each run with a violation there is one in which nobody else
 * asks: two rounds are enough, of which the first can begin at any moment. Neither ends, or they
 * would not be valid together. So time has one border: what began after the first round began (a
 * quarantine, a marker) does not grow old enough in this run. A node whose quarantine began before
 * that border has left it, and votes once. votes.pml checks that a vote counts only if the marker
 * stayed the same from the handshake until after the SET; here that is one step.
 *
 * Everybody remembers markers by their incarnation: a compare-and-set works while nobody else has
 * written. So the model has no incarnations, but knows who has seen the present marker. */
#ifndef NODES
#define NODES 4
#endif
#if NODES < 4
#define IF4(text)
#else
#define IF4(text) text
#endif
#if NODES < 5
#define IF5(text)
#else
#define IF5(text) text
#endif
#if NODES < 6
#define IF6(text)
#else
#define IF6(text) text
#endif
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) } \
  IF4(:: d_step { step(3) }) \
  IF5(:: d_step { step(4) }) \
  IF6(:: d_step { step(5) })

/* Deployments: sets of nodes. D1 is there at the beginning. Operator 1 changes D1 to D2; operator 2
 * changes FROM, D1 or D2, to D3. */
#ifndef D1
#define D1 7
#endif
#ifndef D2
#define D2 11
#endif
#ifndef D3
#define D3 0
#endif
#ifndef OPERATORS
#define OPERATORS 1
#endif
#ifndef FROM
#define FROM 2
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#define BIT(k) (1 << (k))
#define SIZE(set) \
  (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1) + \
   (((set) >> 4) & 1) + (((set) >> 5) & 1))
#define MEMBERS(d) ((d) == 1 -> D1 : ((d) == 2 -> D2 : D3))
#define QUORUM(d) (SIZE(MEMBERS(d)) / 2 + 1)

#define blank 0
#define joining 1
#define voting 2 /* active */
byte state[NODES];
byte id[NODES];
bit quarantined[NODES]; /* since after the first round began */
#ifdef AGE
bit young[NODES]; /* the marker, as above */
#define NOTE_AGE(k) young[k] = begun
#define OLD_ENOUGH(k) (!young[k])
#else
#define NOTE_AGE(k) skip
#define OLD_ENOUGH(k) true
#endif
bit begun;
bit ready;

/* Operators. */
#define idle 0
#define checking 1
#define announcing 2
#define passing 3
#define verifying 4
#define opening 5
#define done 6
byte stage[2];
byte at[2];
byte seen[2]; /* nodes whose present marker the run has read or written */
bit looked[2]; /* OPERATOR_NO_CAS */

/* A client that adopts. Others adopt in one step (ADOPTERS=2). */
byte target;   /* node + 1 */
byte found;    /* the id that the others carry */
byte carriers;
byte again;    /* nodes that were read a second time, with the same marker */

byte losses;

#ifdef READ_ONCE
#define TWICE false
#else
#define TWICE true
#endif
#ifdef ADOPT_NO_CAS
#define FORGET_TARGET(k) skip
#else
#define FORGET_TARGET(k) \
  if \
  :: target == (k) + 1 || TWICE && (carriers & ~again & BIT(k)) -> \
     target = 0; found = 0; carriers = 0; again = 0 \
  :: else \
  fi
#endif
#define WRITE(k, s, d) \
  state[k] = s; id[k] = d; NOTE_AGE(k); \
  seen[0] = seen[0] & ~BIT(k); seen[1] = seen[1] & ~BIT(k); \
  FORGET_TARGET(k)

/* The two rounds. Their order matters only if the clients differ. */
#ifndef FIRST
#define FIRST 0
#endif
#define c _pid
byte round[2]; /* the id whose votes are counted */
byte votes[2];
bit taken[NODES]; /* the key belongs to a round */

#if defined(MIXED)
#define SAME_ID(k) true
#elif defined(KEEP_VOTES)
#define SAME_ID(k) (id[k] == round[c] || id[k] == round[c] + 1)
#else
#define SAME_ID(k) (id[k] == round[c])
#endif

/* GUARD_OFF: client 1 counts votes of nodes that forgot, except BY_CHANGE: it always obeys the
 * quarantine of a node that a change has brought in. */
#ifdef GUARD_OFF
bit by_change[NODES];
#define BY_CHANGE(k, yes) by_change[k] = yes
#ifdef IGNORE_CHANGES
#define OBEYS(k) (c == 1)
#else
#define OBEYS(k) (c == 1 || by_change[k])
#endif
#else
#define BY_CHANGE(k, yes) skip
#define OBEYS(k) true
#endif
#ifdef BLANK_COUNTS
#define BLANK_VOTES(k) (c == 0 && state[k] == blank && (MEMBERS(round[c]) & BIT(k)))
#else
#define BLANK_VOTES(k) false
#endif
#define VOTES_HERE(k) \
  (state[k] == voting && SAME_ID(k) && !(quarantined[k] && OBEYS(k)) || BLANK_VOTES(k))

inline begin_round(d) {
  round[c] == 0 && MEMBERS(d) != 0 && (begun || c == FIRST) ->
  round[c] = d; begun = 1;
  printf("client %d asks under D%d\n", c + 1, d)
}

inline vote(k) {
  round[c] != 0 && votes[c] < BIT(7) && VOTES_HERE(k) && !taken[k] && !(votes[c] & BIT(k)) ->
  taken[k] = 1;
  votes[c] = votes[c] | BIT(k);
  printf("node %d votes for client %d\n", k + 1, c + 1);
  if
  :: SIZE(votes[c]) >= QUORUM(round[c]) ->
     printf("client %d is granted a lease under D%d\n", c + 1, round[c]);
     votes[c] = votes[c] | BIT(7);
     if
     :: (votes[1 - c] & BIT(7)) ->
        printf("WRONG: two leases are valid at one instant\n"); assert(false)
     :: else
     fi
  :: else
  fi
}

active [2] proctype Client() {
  ready;
end:
  do
  :: atomic {
       if
       :: d_step { begin_round(1) }
       :: d_step { begin_round(2) }
       :: d_step { begin_round(3) }
       EACH_NODE(vote)
       fi
     }
  od
}
#undef c

#define o (_pid - 2)
#define K at[o]
#define GIVEN (o == 0 -> 1 : FROM)
#define WANTED (o + 2)
#define LEAVING (MEMBERS(GIVEN) & ~MEMBERS(WANTED))
#define COMING (MEMBERS(WANTED) & ~MEMBERS(GIVEN))
#define STAYING (MEMBERS(WANTED) & MEMBERS(GIVEN))

#define TO_NEXT(set) \
  do \
  :: K < NODES && !((set) & BIT(K)) -> K++ \
  :: else -> break \
  od
#define FIRST_OF(set) K = 0; TO_NEXT(set)
#define NEXT_OF(set) K++; TO_NEXT(set)
#define STOP stage[o] = idle; K = 0; seen[o] = 0; looked[o] = 0

#define CARRIES(k) (id[k] == WANTED)
#define SOME_CARRY \
  (CARRIES(0) || CARRIES(1) || CARRIES(2) \
   IF4(|| CARRIES(3)) IF5(|| CARRIES(4)) IF6(|| CARRIES(5)))

inline start() {
  stage[o] == idle ->
  if
  :: SOME_CARRY -> stage[o] = announcing; printf("operator %d resumes D%d\n", o + 1, WANTED)
  :: else ->
     stage[o] = checking; FIRST_OF(STAYING);
     printf("operator %d begins D%d\n", o + 1, WANTED)
  fi
}

inline check() {
  stage[o] == checking && state[K] == voting && id[K] == GIVEN && OLD_ENOUGH(K) ->
  printf("operator %d finds node %d fit\n", o + 1, K + 1);
  NEXT_OF(STAYING);
  if
  :: K == NODES -> stage[o] = announcing; K = 0
  :: else
  fi
}

inline announce() {
  stage[o] == announcing ->
  FIRST_OF(COMING);
  if
  :: K == NODES -> stage[o] = passing; FIRST_OF(STAYING)
  :: K < NODES && (state[K] == blank || state[K] == joining && id[K] == WANTED) ->
     WRITE(K, joining, WANTED); seen[o] = seen[o] | BIT(K);
#ifdef EARLY_QUARANTINE
     quarantined[K] = begun;
#endif
     printf("operator %d: node %d is joining D%d\n", o + 1, K + 1, WANTED);
     stage[o] = passing; FIRST_OF(STAYING)
  :: K < NODES && state[K] == voting && id[K] == WANTED -> stage[o] = done; K = 0; seen[o] = 0
  :: else -> STOP
  fi
}

#define MAY_WRITE(k) \
  (state[k] == blank || state[k] == voting && (id[k] == GIVEN || id[k] == WANTED))
#ifdef NO_VERIFY
#define AFTER_PASS stage[o] = opening; K = 0
#else
#define AFTER_PASS stage[o] = verifying; FIRST_OF(MEMBERS(WANTED))
#endif
/* The writes of another run of the same change are kept, so that runs do not disturb each
 * other. */
#define PUT \
  if \
  :: state[K] == voting && id[K] == WANTED -> seen[o] = seen[o] | BIT(K) \
  :: else -> \
     WRITE(K, voting, WANTED); seen[o] = seen[o] | BIT(K); \
     printf("operator %d: node %d is D%d\n", o + 1, K + 1, WANTED) \
  fi

inline pass() {
  stage[o] == passing ->
#ifdef OPERATOR_NO_CAS
  if
  :: !looked[o] && MAY_WRITE(K) ->
     looked[o] = 1; printf("operator %d reads node %d: D%d\n", o + 1, K + 1, id[K])
  :: looked[o] ->
     looked[o] = 0;
#else
  if
  :: MAY_WRITE(K) ->
#endif
     PUT;
     NEXT_OF(STAYING);
     if
     :: K == NODES -> AFTER_PASS
     :: else
     fi
  :: else -> STOP
  fi
}

inline verify() {
  stage[o] == verifying ->
  if
  :: seen[o] & BIT(K) ->
     printf("operator %d verifies node %d\n", o + 1, K + 1);
     NEXT_OF(MEMBERS(WANTED));
     if
     :: K == NODES -> stage[o] = opening; K = 0
     :: else
     fi
  :: else -> stage[o] = announcing; K = 0
  fi
}

inline open() {
  stage[o] == opening ->
  FIRST_OF(COMING);
  if
  :: K == NODES -> stage[o] = done; K = 0; seen[o] = 0
  :: K < NODES && (seen[o] & BIT(K)) ->
     WRITE(K, voting, WANTED);
#ifdef NEW_NO_QUARANTINE
     quarantined[K] = 0;
#elif !defined(EARLY_QUARANTINE)
     quarantined[K] = begun;
#endif
     BY_CHANGE(K, 1);
     printf("operator %d: node %d is D%d, in quarantine\n", o + 1, K + 1, WANTED);
     stage[o] = done; K = 0; seen[o] = 0
  :: else -> STOP
  fi
}

inline crash() {
  stage[o] != idle && stage[o] != done ->
  printf("operator %d crashes\n", o + 1);
  STOP
}

#if OPERATORS > 0
active [OPERATORS] proctype Operator() {
  ready;
end:
  do
  :: atomic {
       if
       :: d_step { start() }
       :: d_step { check() }
       :: d_step { announce() }
       :: d_step { pass() }
       :: d_step { verify() }
       :: d_step { open() }
#ifdef CRASH
       :: d_step { crash() }
#endif
       fi
     }
  od
}
#endif

/* FLUSHALL, a restart, a role that changed: the next handshake begins a quarantine and writes a
 * blank marker. */
inline lose(k) {
  losses < LOSSES ->
  losses++;
#ifdef TRUST_ID
  if
  :: (D1 & BIT(k)) -> WRITE(k, voting, 1)
  :: else -> WRITE(k, blank, 0)
  fi;
#else
  WRITE(k, blank, 0);
#endif
#ifdef NO_QUARANTINE
  quarantined[k] = 0;
#else
  quarantined[k] = begun;
#endif
  BY_CHANGE(k, 0);
  taken[k] = 0;
  printf("node %d loses its data\n", k + 1)
}

/* First the blank marker, then those of q others, then the same ones again, then the
 * compare-and-set: so there was one moment at which q others carried the id while the node was
 * blank. OLD_READINGS: reads the others' markers first. ALIAS: the node is taken for a member under
 * another name. */
#ifdef OLD_READINGS
#define READINGS_FIRST (carriers != 0)
#define MAY_READ(k) (target == 0)
#else
#define READINGS_FIRST true
#define MAY_READ(k) (target != 0 && target != (k) + 1)
#endif
inline find_blank(k) {
  target == 0 && state[k] == blank && READINGS_FIRST ->
  target = k + 1;
  printf("a client finds node %d blank\n", k + 1)
}
inline read_other(k) {
  MAY_READ(k) && state[k] == voting && !(carriers & BIT(k)) && (found == 0 || found == id[k]) &&
    (found == 0 || SIZE(carriers) < QUORUM(found)) ->
  carriers = carriers | BIT(k); found = id[k];
  printf("a client reads node %d: D%d\n", k + 1, id[k])
}
#ifdef ALL_OTHERS
#define ENOUGH \
  (SIZE(carriers) >= QUORUM(found) || \
   SIZE(carriers & MEMBERS(found)) >= SIZE(MEMBERS(found)) - 1)
#else
#define ENOUGH (SIZE(carriers) >= QUORUM(found))
#endif
#ifdef OWN_LIST
#define LISTED(k) (D1 & BIT(k))
#elif defined(ALIAS)
#define LISTED(k) true
#else
#define LISTED(k) (MEMBERS(found) & BIT(k))
#endif
inline read_again(k) {
  TWICE && found != 0 && ENOUGH && (carriers & ~again & BIT(k)) ->
  again = again | BIT(k);
  printf("a client reads node %d again: D%d\n", k + 1, id[k])
}
/* Another client adopts, in one step. */
#define CARRIER(k, d) (state[k] == voting && id[k] == d)
#define CARRIERS(d) \
  (CARRIER(0, d) + CARRIER(1, d) + CARRIER(2, d) \
   IF4(+ CARRIER(3, d)) IF5(+ CARRIER(4, d)) IF6(+ CARRIER(5, d)))
#define ADOPTABLE(k, d) \
  (state[k] == blank && (MEMBERS(d) & BIT(k)) && CARRIERS(d) >= QUORUM(d))
byte x;
inline adopt_at_once(k) {
  ADOPTABLE(k, 1) || ADOPTABLE(k, 2) ->
  x = (ADOPTABLE(k, 1) -> 1 : 2);
  WRITE(k, voting, x); quarantined[k] = begun; x = 0;
  printf("another client adopts node %d into D%d\n", k + 1, id[k])
}
inline adopt() {
  target != 0 && found != 0 && ENOUGH && (again == carriers || !TWICE) && LISTED(target - 1) ->
  x = target - 1;
  WRITE(x, voting, found); quarantined[x] = begun;
  printf("a client adopts node %d into D%d\n", x + 1, id[x]);
  x = 0; target = 0; found = 0; carriers = 0; again = 0
}
inline stop_adoption() {
  target != 0 || found != 0 -> target = 0; found = 0; carriers = 0; again = 0
}

active proctype Environment() {
  d_step {
    do
    :: x < NODES ->
       if
       :: (D1 & BIT(x)) -> state[x] = voting; id[x] = 1
       :: else
       fi;
       x++
    :: else -> break
    od;
    x = 0;
    ready = true
  }
end:
  do
  :: atomic {
       if
       :: false -> skip
#if LOSSES > 0
       EACH_NODE(lose)
#endif
#ifdef ADOPTERS
       EACH_NODE(find_blank)
       EACH_NODE(read_other)
       EACH_NODE(read_again)
#if ADOPTERS == 2
       EACH_NODE(adopt_at_once)
#endif
       :: d_step { adopt() }
       :: d_step { stop_adoption() }
#endif
       fi
     }
  od
}
