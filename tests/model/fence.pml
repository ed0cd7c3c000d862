/* Fencing tokens are unique and have the order of the leases (tools/docs/design/fencing-tokens.md;
 * invariant 2 of ARCHITECTURE.md).
 *
 * On a node, in one pipeline that is not atomic: (1) SET NX; (2) read last = max(F, floor);
 * (3) F := max(F, f), also if the SET was refused; (4) read the key. It acknowledges f if (1) was
 * granted, last < f, and (4) is still ours; it is behind if only last < f fails.
 * q acknowledgements of one number make it the token. Otherwise the client takes a larger number
 * and asks the nodes on which the lock is its own to raise F by an atomic script (if the key is
 * still mine and F < f', F := f'), as often as necessary.
 *
 * No clock is trusted: a key may vanish at any moment and a proposal is any number, so there is no
 * time here. A request is executed at any later time or never; a late answer is a grant that comes
 * late, and a lost answer is a grant that never comes.
 *
 * Two attempts are modelled, amid any number of others. The assertions are about pairs of leases,
 * so two are enough; of the others only this matters: they take keys that have vanished (as if our
 * SET came late), and raise F. F[k] here is what these two attempts have left on node k, a lower
 * bound of what is really there: it says who cannot acknowledge; that a node which could does not,
 * for what others left, is a step that is never taken. If F has expired, the floor is not below it:
 * so the model needs no expiry of F. Steps that only make F larger are left out, because a smaller
 * F allows more: (3) after a refused SET or on a node that is behind, and what is executed of a
 * number that was given up.
 *
 * Checked when a lease is granted:
 *  unique  no other lease has its token;
 *  began   it is larger than the tokens of all leases that were granted before this attempt began;
 *  held    if the key is still there on q of the nodes that acknowledged, it is larger than the
 *          tokens of all leases that were granted before. A client that is granted a lease before its
 *          deadline has these keys, unless a clock leaps: so this is the order of the grants under
 *          sane clocks.
 * SHORT is the short form, under the restart guard: (3) says itself whether F was below f, and F is
 * all that it sees. So F may be forgotten here: the floor is raised to it first, at any moment, as a
 * clock that leaps would have it. Behind (4) the floor is read, and the node acknowledges f if that
 * is below f too.
 * Without the condition of the last one (LITERAL) it is wrong: all answers may be under way to a
 * client whose keys are gone already while another one is granted a lease, with a larger token. */
#define N 3
#define QUORUM 2
/* The largest number. Two attempts that raise once need four, to have every order. */
#ifndef TOP
#define TOP 4
#endif

byte F[N];
byte owner[N];  /* the key's attempt, plus 1; 0: none that is modelled */

#define idle 0
#define asking 1
#define raising 2
#define granted 3
byte phase[2];
byte asked[2];  /* the number whose acknowledgements are counted */
bit later[2];   /* the other attempt was granted before this one began */

/* The progress of an attempt on a node. */
#define unasked 0
#define set 1           /* (1) was granted */
#define compared 2      /* (2) was below f */
#define raised 3        /* (3) */
#define behind 4        /* the lock is ours, the number is not */
#define acknowledged 5  /* (4), or the script: acknowledged, which is final */
#define gone 6          /* this node no longer has a vote */
#define kept 7          /* SHORT: (4) is ours, the floor after it is unknown */
byte step[2 * N];

/* Attempts are the first processes. */
#define a _pid
#define STEP(k) step[a * N + (k)]
#define OURS(k) (owner[k] == a + 1)
#define OPEN (phase[a] == asking || phase[a] == raising)

/* A node that restarts without its data is in quarantine; when that ends, the floor is its own
 * clock. As long as all clocks are apart by less than the quarantine, that is above all numbers
 * from before the restart. The model assumes that, and FORGETFUL, without a floor, breaks it. */
#ifdef RESTART
#define QUARANTINED(k) (quarantined[k])
byte restarts;
bit quarantined[N];
byte before[N];  /* the largest number from before the restart */
#else
#define QUARANTINED(k) false
#endif
#ifdef FORGETFUL
#define FLOOR(k) 0
#else
#define FLOOR(k) before[k]
#endif

#ifdef SHORT
byte floor[N];  /* not below any number that the node forgot */
#endif

/* The planted faults. */
#ifdef NON_STRICT
#define BELOW(k) (F[k] <= asked[a])
#elif defined(SHORT)
#define BELOW(k) (F[k] < asked[a] && floor[k] < asked[a])
#else
#define BELOW(k) (F[k] < asked[a])
#endif
#ifdef SET_LAST
#define BEFORE_SET raised
#define BEFORE_COMPARE unasked
#define BEFORE_CONFIRM set
#define LOST_WITH_KEY(step) (step == set)
#elif defined(FLOOR_AHEAD)
#define BEFORE_SET compared
#define BEFORE_COMPARE unasked
#define BEFORE_CONFIRM raised
#define LOST_WITH_KEY(step) (step == set || step == raised)
#else
#define BEFORE_SET unasked
#define BEFORE_COMPARE set
#define BEFORE_CONFIRM raised
#define LOST_WITH_KEY(step) (step >= set && step <= raised)
#endif
#if defined(FLOOR_UNREAD) || defined(FLOOR_AHEAD)
#define FLOOR_BELOW(k) true
#elif defined(SHORT)
#define FLOOR_BELOW(k) (floor[k] < asked[a])
#endif
#ifdef NO_FINAL_READ
#undef LOST_WITH_KEY
#define LOST_WITH_KEY(step) false
#define CONFIRMED(k) true
#else
#define CONFIRMED(k) OURS(k)
#endif
#ifdef UNCONDITIONAL_WRITE_BACK
#define ACCEPTS(k) true
#elif defined(UNCOUNTED_WRITE_BACK)
#define ACCEPTS(k) OURS(k)
#else
#define ACCEPTS(k) (OURS(k) && BELOW(k))
#endif

#ifdef COUNTERS
#define PROPOSES(f) true
#else
#define PROPOSES(f) (f <= TOP)
#endif

/* The client takes any larger number at any moment: the order depends on nothing that nodes
 * answered. So a node that turns out to be behind has no step of its own until it is asked again.
 * EXACT, for planted faults: nodes are behind by what these two attempts left, and a client takes
 * the largest number answered, plus one, once the lock is its own on q nodes and the number before
 * cannot win. So no counterexample is due to a client that is worse than necessary. */
#ifdef EXACT
byte told[2];
#define LARGEST (told[a] > asked[a] -> told[a] : asked[a])
#define TELL(k) told[a] = (told[a] > F[k] -> told[a] : F[k])
#define MAY_TAKE(f) \
  (f == LARGEST + 1 && COUNT(acknowledged) < QUORUM && \
   (phase[a] == asking && COUNT(behind) + COUNT(acknowledged) >= QUORUM || \
    phase[a] == raising && told[a] >= asked[a]))
#else
#define MAY_TAKE(f) (f > asked[a])
#endif

#define EACH_NODE(action) \
  :: d_step { action(0) } \
  :: d_step { action(1) } \
  :: d_step { action(2) }

#define COUNT(state) ((STEP(0) == state) + (STEP(1) == state) + (STEP(2) == state))
#define STILL(k) (STEP(k) == acknowledged && OURS(k))
#define STILL_HELD (STILL(0) + STILL(1) + STILL(2) >= QUORUM)

inline begin(f) {
  phase[a] == idle && PROPOSES(f) ->
  phase[a] = asking;
  asked[a] = f;
  later[a] = (phase[1 - a] == granted);
  printf("attempt %d begins with %d\n", a + 1, f)
}

inline execute_set(k) {
  OPEN && STEP(k) == BEFORE_SET && owner[k] == 0 && !QUARANTINED(k) ->
  owner[k] = a + 1;
  STEP(k) = set;
  printf("node %d: SET of attempt %d, granted\n", k + 1, a + 1)
}

inline compare(k) {
  phase[a] == asking && STEP(k) == BEFORE_COMPARE && !QUARANTINED(k) && BELOW(k) ->
  STEP(k) = compared;
  printf("node %d: attempt %d reads %d\n", k + 1, a + 1, F[k])
}

#ifdef EXACT
inline fall_behind(k) {
  phase[a] == asking && STEP(k) == BEFORE_COMPARE && !QUARANTINED(k) && !BELOW(k) ->
  STEP(k) = behind;
  TELL(k);
  printf("node %d: attempt %d reads %d, and is behind\n", k + 1, a + 1, F[k])
}
#endif

inline leave(k) {
  phase[a] == asking && STEP(k) == compared && !QUARANTINED(k) ->
  STEP(k) = raised;
  F[k] = (F[k] > asked[a] -> F[k] : asked[a]);
  printf("node %d: attempt %d leaves %d\n", k + 1, a + 1, F[k])
}

inline confirm(k) {
  phase[a] == asking && STEP(k) == BEFORE_CONFIRM && CONFIRMED(k) ->
#ifdef SHORT
  STEP(k) = kept;
  printf("node %d: the key is still that of attempt %d\n", k + 1, a + 1)
#else
  STEP(k) = acknowledged;
  printf("node %d: acknowledges %d to attempt %d\n", k + 1, asked[a], a + 1)
#endif
}

#ifdef SHORT
/* (3) of the short form, with the answer 1. */
inline exceed(k) {
  phase[a] == asking && STEP(k) == set && !QUARANTINED(k) && F[k] < asked[a] ->
  STEP(k) = raised;
  F[k] = asked[a];
  printf("node %d: attempt %d leaves %d, above all that is there\n", k + 1, a + 1, F[k])
}

inline read_floor(k) {
  phase[a] == asking && STEP(k) == kept && FLOOR_BELOW(k) ->
  STEP(k) = acknowledged;
  printf("node %d: acknowledges %d to attempt %d, the floor is %d\n", k + 1, asked[a], a + 1, \
         floor[k])
}

/* For the variant that reads the floor before the SET. */
inline read_floor_ahead(k) {
  phase[a] == asking && STEP(k) == unasked && !QUARANTINED(k) && floor[k] < asked[a] ->
  STEP(k) = compared;
  printf("node %d: attempt %d reads the floor, %d\n", k + 1, a + 1, floor[k])
}

inline forget_number(k) {
  F[k] != 0 ->
  floor[k] = (floor[k] > F[k] -> floor[k] : F[k]);
  F[k] = 0;
  printf("node %d raises its floor to %d and forgets what is not above\n", k + 1, floor[k])
}
#define FLOOR_RANK(k) (floor[k])
#define SWAP_FLOOR(i, j) SWAP(floor[i], floor[j])
#define FORGET_FLOOR(k) floor[k] = 0
/* The node's marker has changed: it loses its vote. */
#define LOSE_VOTE(k) \
  if \
  :: step[k] == kept -> step[k] = gone \
  :: else \
  fi; \
  if \
  :: step[N + k] == kept -> step[N + k] = gone \
  :: else \
  fi
#else
#define FLOOR_RANK(k) 0
#define SWAP_FLOOR(i, j) skip
#define FORGET_FLOOR(k) skip
#define LOSE_VOTE(k) skip
#endif

/* For the variant in which each node counts and the largest of q counters is the token. */
inline count(k) {
  phase[a] == asking && STEP(k) == set && F[k] < TOP ->
  F[k]++;
  asked[a] = (asked[a] > F[k] -> asked[a] : F[k]);
  STEP(k) = acknowledged;
  printf("node %d: counts %d for attempt %d\n", k + 1, F[k], a + 1)
}

inline win() {
  OPEN && COUNT(acknowledged) >= QUORUM ->
  phase[a] = granted;
  printf("attempt %d is granted a lease with token %d\n", a + 1, asked[a]);
  if
  :: phase[1 - a] == granted && asked[1 - a] == asked[a] ->
     printf("WRONG: two leases have one token\n"); assert(false)
  :: phase[1 - a] == granted && asked[1 - a] > asked[a] && later[a] ->
     printf("WRONG: a lease that was granted before this attempt began has a larger token\n");
     assert(false)
  :: phase[1 - a] == granted && asked[1 - a] > asked[a] && STILL_HELD ->
     printf("WRONG: a lease that was granted before has a larger token, and this one its keys\n");
     assert(false)
#ifdef LITERAL
  :: phase[1 - a] == granted && asked[1 - a] > asked[a] ->
     printf("WRONG: a lease that was granted before has a larger token\n"); assert(false)
#endif
  :: else
  fi;
  STEP(0) = gone; STEP(1) = gone; STEP(2) = gone
}

inline ask_again(k) {
  if
  :: STEP(k) == unasked
  :: STEP(k) != unasked && OURS(k) -> STEP(k) = behind
  :: else -> STEP(k) = gone
  fi
}

inline raise(f) {
  f <= TOP && OPEN && MAY_TAKE(f) ->
  phase[a] = raising;
  asked[a] = f;
  ask_again(0); ask_again(1); ask_again(2);
  printf("attempt %d asks again, for %d\n", a + 1, asked[a])
}

#ifdef EXACT
inline refuse_script(k) {
  phase[a] == raising && STEP(k) == behind && OURS(k) && !BELOW(k) && told[a] < F[k] ->
  TELL(k);
  printf("node %d: attempt %d is behind, for %d is there\n", k + 1, a + 1, F[k])
}
#endif

inline execute_script(k) {
  phase[a] == raising && STEP(k) != acknowledged && ACCEPTS(k) ->
  F[k] = (F[k] > asked[a] -> F[k] : asked[a]);
  STEP(k) = acknowledged;
  printf("node %d: acknowledges %d to attempt %d\n", k + 1, asked[a], a + 1)
}

/* For the same variant: an attempt that failed. */
inline count_for_others(k) {
  F[k] < TOP ->
  F[k]++;
  printf("node %d: counts %d for others\n", k + 1, F[k])
}

#ifdef RESTART
inline restart(k) {
  restarts < RESTART ->
  restarts++;
  F[k] = 0; owner[k] = 0; quarantined[k] = 1;
  FORGET_FLOOR(k);
  LOSE_VOTE(k);
  before[k] = (asked[0] > asked[1] -> asked[0] : asked[1]);
  printf("node %d restarts without its data\n", k + 1)
}

inline readmit(k) {
  quarantined[k] ->
  quarantined[k] = 0;
  F[k] = FLOOR(k);
  before[k] = 0;
  printf("node %d ends its quarantine and takes %d for its floor\n", k + 1, F[k])
}
#define SWAP_MEMORY(i, j) SWAP(quarantined[i], quarantined[j]); SWAP(before[i], before[j])
#define MEMORY_RANK(k) (quarantined[k] + 2 * before[k])
#else
#define SWAP_MEMORY(i, j) skip
#define MEMORY_RANK(k) 0
#endif

inline vanish(k) {
  owner[k] != 0 ->
  printf("node %d loses the key of attempt %d\n", k + 1, owner[k]);
  owner[k] = 0
}

/* Attempts are interchangeable, and so are nodes: see lock.pml. State that no longer matters is
 * forgotten. */
#define FORGET(attempt, k) \
  if \
  :: owner[k] != attempt + 1 && \
     (LOST_WITH_KEY(step[attempt * N + k]) \
      || phase[attempt] == raising && step[attempt * N + k] == behind) -> \
     step[attempt * N + k] = gone \
  :: phase[attempt] == raising && step[attempt * N + k] >= set && \
     step[attempt * N + k] <= raised -> step[attempt * N + k] = behind \
  :: phase[attempt] == granted && owner[k] == attempt + 1 -> \
     owner[k] = 0; printf("node %d loses the key of attempt %d\n", k + 1, attempt + 1) \
  :: else \
  fi
int swap;
#define SWAP(one, other) swap = one; one = other; other = swap
#define NODE_RANK(k) (owner[k] + 4 * F[k] + 32 * step[k] + 256 * step[N + k] \
   + 2048 * MEMORY_RANK(k) + 65536 * FLOOR_RANK(k))
#define SORT_NODES(i, j) \
  if \
  :: NODE_RANK(i) > NODE_RANK(j) -> \
     SWAP(owner[i], owner[j]); SWAP(F[i], F[j]); \
     SWAP(step[i], step[j]); SWAP(step[N + i], step[N + j]); SWAP_MEMORY(i, j); SWAP_FLOOR(i, j); \
     swap = 0; printf("@node %d %d\n", i + 1, j + 1) \
  :: else \
  fi
#define TIDY_UP \
  d_step { \
    FORGET(0, 0); FORGET(0, 1); FORGET(0, 2); FORGET(1, 0); FORGET(1, 1); FORGET(1, 2); \
    SORT_NODES(0, 1); SORT_NODES(1, 2); SORT_NODES(0, 1) \
  }

active [2] proctype Attempt() {
end:
  do
  :: atomic {
       if
#ifdef COUNTERS
       :: d_step { begin(0) }
       EACH_NODE(count)
#else
       :: d_step { begin(1) }
       :: d_step { begin(2) }
       :: d_step { begin(3) }
       :: d_step { begin(4) }
#ifdef SHORT
       EACH_NODE(exceed)
       EACH_NODE(read_floor)
#ifdef FLOOR_AHEAD
       EACH_NODE(read_floor_ahead)
#endif
#else
       EACH_NODE(compare)
       EACH_NODE(leave)
#endif
       EACH_NODE(confirm)
       :: d_step { raise(2) }
       :: d_step { raise(3) }
       :: d_step { raise(4) }
       EACH_NODE(execute_script)
#ifdef EXACT
       EACH_NODE(fall_behind)
       EACH_NODE(refuse_script)
#endif
#endif
       EACH_NODE(execute_set)
       :: d_step { win() }
       fi;
       TIDY_UP
     }
  od
}

active proctype Surroundings() {
end:
  do
  :: atomic {
       if
       EACH_NODE(vanish)
#ifdef SHORT
       EACH_NODE(forget_number)
#endif
#ifdef RESTART
       EACH_NODE(restart)
       EACH_NODE(readmit)
#endif
#ifdef COUNTERS
       EACH_NODE(count_for_others)
#endif
       fi;
       TIDY_UP
     }
  od
}
