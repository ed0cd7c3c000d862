/* How a deployment is opened: by `bootstrap`, and by the clients when all members are blank
 * (tools/docs/design/membership.md). Every opener does the same: reads the markers of all nodes of
 * its own list; takes the id that is active, or else the first joining id of the same list, or else
 * a fresh one; makes the others join it, also if they are joining for another list; verifies that
 * all markers are as it read or wrote them; and makes them active. Every writing is a
 * compare-and-set. After a failed writing or a crash, the opener begins again. Clients wait before
 * they overwrite a node that joins for another list. Time is not modelled: here they may do it at
 * any moment. If all nodes are joining one id that names them all, the opener goes on with that id.
 *
 * NAMES: openers 1 and 2 have different names for the same nodes: to each, the id of the other is
 * of another list.
 *
 * Two rounds and one border of time, as in members.pml. Adoption is one step.
 *
 * BEFORE: a deployment that is there already, on the nodes of PRESENT. BOOTSTRAP: its nodes may be
 * made to join something else if no locks are there, and if the list leaves out fewer than q of its
 * members. CALM checks that opening comes to an end: from some moment on nothing is lost, and one
 * opener is alone. It must never end without having written, unless a quorum is active.
 *
 * NEW: `bootstrap` finds the deployment open, and the operator says that the nodes were new when
 * clients met them, which is true here. It ends the quarantine of each node that was opened and has
 * been in quarantine since it was met. Here a quarantine that began before the border may last for
 * any time. `why` is the cause of the quarantine. met: the node had no marker. opened: the node had
 * no marker, and one opener drew the id after it had read the node, marked the node and made it
 * active, while nobody else wrote there. */
#ifndef OPENERS
#define OPENERS 2
#endif
#define NODES 4
#ifndef LIST1
#define LIST1 7
#endif
#ifndef LIST2
#define LIST2 11
#endif
#ifndef LIST3
#define LIST3 7
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
/* D4 is the deployment of before. */
#ifndef PRESENT
#define PRESENT 7
#endif
#define LIST(o) ((o) == 0 -> LIST1 : ((o) == 1 -> LIST2 : LIST3))
#define MEMBERS(d) ((d) == 4 -> PRESENT : LIST((d) - 1))
#define SIZE(set) \
  (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1))
#define QUORUM(d) (SIZE(MEMBERS(d)) / 2 + 1)
#define BIT(k) (1 << (k))
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) } \
  :: d_step { step(3) }
#define blank 0
#define joining 1
#define voting 2
#ifdef NEW
#define none 0
#define met 1
#define opened 2
byte why[NODES];
bit young[NODES];
#define SINCE_MET(k) (quarantined[k] && why[k] != none)
#define BEGIN_QUARANTINE(k, reason) \
  why[k] = (reason); quarantined[k] = 1; young[k] = begun
#define END_QUARANTINE(k) quarantined[k] = 0; young[k] = 0; why[k] = none
#define KEPT(k) (SINCE_MET(k) -> met : none)
#ifdef ANYBODY_OPENS
#define OPENED(k) (SINCE_MET(k) -> opened : none)
#else
#define OPENED(k) (SINCE_MET(k) -> (drawn[o] -> opened : met) : none)
#endif
bit drawn[OPENERS];
byte reader, shown, unchanged, open_id;
bit lifts;
#define UNREAD(k) ; unchanged = unchanged & ~BIT(k)
#else
#define BEGIN_QUARANTINE(k, reason) quarantined[k] = begun
#define UNREAD(k)
#endif
byte state[NODES], id[NODES];
bit quarantined[NODES], taken[NODES];
bit begun, ready, calm, wrote;
byte round[2], votes[2];
byte losses;
byte stage[OPENERS], at[OPENERS], seen[OPENERS], aim[OPENERS];
bit act[OPENERS];
byte x;
#if OPENERS == 3
#define UNSEE(k) \
  seen[0] = seen[0] & ~BIT(k); seen[1] = seen[1] & ~BIT(k); seen[2] = seen[2] & ~BIT(k)
#elif OPENERS == 2
#define UNSEE(k) seen[0] = seen[0] & ~BIT(k); seen[1] = seen[1] & ~BIT(k)
#else
#define UNSEE(k) seen[0] = seen[0] & ~BIT(k)
#endif
#define WRITE(k, s, d) state[k] = s; id[k] = d; UNSEE(k) UNREAD(k)

#define c _pid
inline begin_round(d) {
#ifdef CALM
  false ->
#endif
  ready && round[c] == 0 && (begun || c == 0) ->
  round[c] = d; begun = 1; printf("client %d asks under D%d\n", c + 1, d)
}
inline vote(k) {
  round[c] != 0 && state[k] == voting && id[k] == round[c] && !quarantined[k] && !taken[k] &&
    !(votes[c] & BIT(k)) ->
  taken[k] = 1; votes[c] = votes[c] | BIT(k);
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
end: do
  :: atomic { if
    :: d_step { begin_round(1) }
    :: d_step { begin_round(2) }
#if OPENERS == 3
    :: d_step { begin_round(3) }
#endif
#ifdef BEFORE
    :: d_step { begin_round(4) }
#endif
    EACH_NODE(vote)
    fi }
  od
}
#undef c
#define o (_pid - 2)
#define K at[o]
#define MINE LIST(o)
#define TO_NEXT do :: K < NODES && !(MINE & BIT(K)) -> K++ :: else -> break od
#define FIRST_OF K = 0; TO_NEXT
#define NEXT_OF K++; TO_NEXT
#define GOOD(k) (!(LIST1 & BIT(k)) || state[k] == voting)
#define IS(k, d) (state[k] == voting && id[k] == d)
#define HAVE(d) (IS(0, d) + IS(1, d) + IS(2, d) + IS(3, d))
#define WELL \
  (GOOD(0) && GOOD(1) && GOOD(2) && GOOD(3) || \
   HAVE(1) >= QUORUM(1) || HAVE(2) >= QUORUM(2) || HAVE(3) >= QUORUM(3))
#define STOP stage[o] = 0; K = 0; seen[o] = 0; aim[o] = 0; act[o] = 0; \
  if \
  :: calm && o == 0 && !wrote && !(WELL) -> \
     printf("WRONG: an opener ends without progress, and the deployment stays closed\n"); \
     assert(false) \
  :: else \
  fi
#ifdef NO_CAS
#define UNTOUCHED(k) true
#else
#define UNTOUCHED(k) (seen[o] & BIT(k))
#endif
#ifdef NAMES
#define SAMELIST(d) (MEMBERS(d) == MINE && ((d) - 1 == o || (d) == 4))
#else
#define SAMELIST(d) (MEMBERS(d) == MINE)
#endif
/* If an end is promised, the wait has shown that no other opener is at work. */
#if defined(CALM) && defined(NAMES)
#define UNDISTURBED (stage[1 - o] == 0)
#define CALM_MAY_BEGIN (stage[0] == 0 && stage[1] == 0)
#else
#define UNDISTURBED true
#define CALM_MAY_BEGIN (stage[0] == 0)
#endif
#ifdef FOREIGN_STOPS
#define MAY_OVERWRITE(k) false
#else
#define MAY_OVERWRITE(k) (state[k] == joining && !SAMELIST(id[k]) && UNDISTURBED)
#endif
#define IN_MINE(k, what) ((MINE & BIT(k)) && (what))
#define CARRIES(k, d) \
  (!(MINE & BIT(k)) || (seen[o] & BIT(k)) && state[k] != blank && id[k] == (d))
#define ALL_CARRY(d) \
  (MEMBERS(d) == MINE && CARRIES(0, d) && CARRIES(1, d) && CARRIES(2, d) && CARRIES(3, d))
#define CARRIED_BY_ALL (ALL_CARRY(1) -> 1 : (ALL_CARRY(2) -> 2 : (ALL_CARRY(3) -> 3 : 0)))
/* Whether the node is active for another list of the same nodes. */
#define FOREIGN(k) \
  (state[k] == voting && id[k] != 4 && MEMBERS(id[k]) == MINE && !SAMELIST(id[k]))
#define ANY_FOREIGN \
  (IN_MINE(0, FOREIGN(0)) || IN_MINE(1, FOREIGN(1)) || \
   IN_MINE(2, FOREIGN(2)) || IN_MINE(3, FOREIGN(3)))
inline begin() {
  stage[o] == 0 && (!calm || o == 0) ->
  stage[o] = 1; wrote = 0; FIRST_OF;
  printf("opener %d begins\n", o + 1)
}
#ifdef BOOTSTRAP
#define MAY_CLOSE(k) \
  (SIZE(MEMBERS(id[k]) & ~MINE) < QUORUM(id[k]) && !SAMELIST(id[k]))
#else
#define MAY_CLOSE(k) false
#endif
#ifdef TWO_STOP
#define TWO_JOIN (aim[o] != 0 && aim[o] != id[K])
#else
#define TWO_JOIN false
#endif
inline scan() {
  stage[o] == 1 ->
  seen[o] = seen[o] | BIT(K);
  printf("opener %d reads node %d: %d D%d\n", o + 1, K + 1, state[K], id[K]);
  if
  :: state[K] == blank -> NEXT_OF
  :: state[K] == voting && SAMELIST(id[K]) && id[K] != 4 && !(act[o] && aim[o] != id[K]) ->
     act[o] = 1; aim[o] = id[K]; NEXT_OF
  :: state[K] == joining && SAMELIST(id[K]) && id[K] != 4 && !TWO_JOIN ->
     if :: aim[o] == 0 -> aim[o] = id[K] :: else fi; NEXT_OF
  :: MAY_OVERWRITE(K) || FOREIGN(K) -> NEXT_OF
  :: state[K] == voting && (id[K] == 4 || !SAMELIST(id[K])) && MAY_CLOSE(K) && !taken[K] ->
     NEXT_OF
  :: else -> STOP
  fi;
  if
  :: stage[o] == 1 && K == NODES ->
     stage[o] = 2; FIRST_OF;
#ifdef NEW
     drawn[o] = (aim[o] == 0);
#endif
     if
     :: CARRIED_BY_ALL != 0 -> aim[o] = CARRIED_BY_ALL
     :: CARRIED_BY_ALL == 0 && ANY_FOREIGN -> STOP
     :: CARRIED_BY_ALL == 0 && !(ANY_FOREIGN) && aim[o] == 0 -> aim[o] = o + 1
     :: else
     fi;
#ifdef ACTIVE_STOPS
     if :: act[o] -> STOP :: else fi
#endif
  :: else
  fi
}
#ifdef NO_VERIFY
#define AFTER_JOIN 4
#else
#define AFTER_JOIN 3
#endif
#define ON(next) NEXT_OF; if :: K == NODES -> FIRST_OF; stage[o] = next :: else fi
inline join() {
  stage[o] == 2 ->
  if
  :: !UNTOUCHED(K) -> STOP
  :: UNTOUCHED(K) && id[K] == aim[o] -> ON(AFTER_JOIN)
  :: UNTOUCHED(K) && id[K] != aim[o] ->
     wrote = 1;
#ifdef ONE_PHASE
     WRITE(K, voting, aim[o]);
#ifndef NO_QUARANTINE
     quarantined[K] = begun;
#endif
#else
     WRITE(K, joining, aim[o]);
#endif
     seen[o] = seen[o] | BIT(K);
     printf("opener %d: node %d is joining D%d\n", o + 1, K + 1, aim[o]);
     ON(AFTER_JOIN)
  fi
}
inline verify() {
  stage[o] == 3 ->
  if
  :: seen[o] & BIT(K) -> printf("opener %d verifies node %d\n", o + 1, K + 1); ON(4)
  :: else -> STOP
  fi
}
inline activate() {
  stage[o] == 4 ->
  if
  :: !UNTOUCHED(K) -> STOP
  :: else ->
     if
     :: state[K] == joining && id[K] == aim[o] || !(seen[o] & BIT(K)) ->
        WRITE(K, voting, aim[o]); seen[o] = seen[o] | BIT(K); wrote = 1;
#if defined(NEW)
        BEGIN_QUARANTINE(K, OPENED(K));
#elif !defined(NO_QUARANTINE)
        BEGIN_QUARANTINE(K, none);
#endif
        printf("opener %d: node %d is D%d\n", o + 1, K + 1, aim[o])
     :: else
     fi;
     ON(5);
     if
     :: stage[o] == 5 -> stage[o] = 0; K = 0; seen[o] = 0; aim[o] = 0; act[o] = 0
     :: else
     fi
  fi
}
inline crash() {
  stage[o] != 0 && !calm ->
  stage[o] = 0; K = 0; seen[o] = 0; aim[o] = 0; act[o] = 0;
  printf("opener %d crashes\n", o + 1)
}
active [OPENERS] proctype Opener() {
  ready;
end: do
  :: atomic { if
    :: d_step { begin() }
    :: d_step { scan() }
    :: d_step { join() }
    :: d_step { verify() }
    :: d_step { activate() }
    :: d_step { crash() }
    fi }
  od
}
inline lose(k) {
  losses < LOSSES && !calm ->
  losses++; WRITE(k, blank, 0); BEGIN_QUARANTINE(k, met); taken[k] = 0;
  printf("node %d loses its data\n", k + 1)
}
#define ADOPTABLE(k, d) (state[k] == blank && (MEMBERS(d) & BIT(k)) && HAVE(d) >= QUORUM(d))
inline adopt(k) {
  ADOPTABLE(k, 1) || ADOPTABLE(k, 2) || ADOPTABLE(k, 3) || ADOPTABLE(k, 4) ->
  x = (ADOPTABLE(k, 1) -> 1 : (ADOPTABLE(k, 2) -> 2 : (ADOPTABLE(k, 3) -> 3 : 4)));
  WRITE(k, voting, x); BEGIN_QUARANTINE(k, KEPT(k)); x = 0;
  printf("node %d is adopted\n", k + 1)
}
#ifdef NEW
inline expire(k) {
  quarantined[k] && !young[k] ->
  END_QUARANTINE(k); printf("the quarantine of node %d ends\n", k + 1)
}
#endif
active proctype Environment() {
  d_step {
#ifdef BEFORE
    do
    :: x < NODES ->
       if
       :: (PRESENT & BIT(x)) -> state[x] = voting; id[x] = 4
       :: else
       fi;
       x++
    :: else -> break
    od;
    x = 0;
#endif
#ifdef NEW
    do
    :: x < NODES ->
       if
       :: (LIST1 & BIT(x)) -> BEGIN_QUARANTINE(x, met)
       :: else
       fi;
       x++
    :: else -> break
    od;
    x = 0;
#endif
    ready = true
  }
end: do
  :: atomic { if
    :: false -> skip
#ifdef NEW
    EACH_NODE(expire)
#endif
#if LOSSES > 0
    EACH_NODE(lose)
#endif
    EACH_NODE(adopt)
#ifdef CALM
    :: d_step { !calm && CALM_MAY_BEGIN -> calm = 1 }
#endif
    fi }
  od
}
#ifdef NEW
#ifdef LIFT_ADOPTED
#define LIFTABLE(k) SINCE_MET(k)
#else
#define LIFTABLE(k) (quarantined[k] && why[k] == opened)
#endif
#ifdef LIFT_NO_CAS
#define AS_READ(k) true
#else
#define AS_READ(k) (unchanged & BIT(k))
#endif
#define LIFT_TO_NEXT \
  do :: reader < NODES && !(LIST1 & BIT(reader)) -> reader++ :: else -> break od
#define LIFT_STOP lifts = 0; reader = 0; shown = 0; unchanged = 0; open_id = 0
inline survey() {
  lifts == 0 ->
  if
  :: reader == 0 -> LIFT_TO_NEXT; open_id = id[reader]
  :: else
  fi;
  if
  :: state[reader] != voting || id[reader] != open_id -> LIFT_STOP
  :: else ->
     printf("the lifter reads node %d\n", reader + 1);
     unchanged = unchanged | BIT(reader);
     if
     :: LIFTABLE(reader) -> shown = shown | BIT(reader)
     :: else
     fi;
     reader++; LIFT_TO_NEXT;
     if
     :: reader == NODES && shown != 0 -> lifts = 1; reader = 0; LIFT_TO_NEXT
     :: reader == NODES && shown == 0 -> LIFT_STOP
     :: else
     fi
  fi
}
inline lift() {
  lifts == 1 ->
  if
  :: (shown & BIT(reader)) && AS_READ(reader) ->
     WRITE(reader, state[reader], id[reader]); END_QUARANTINE(reader);
     printf("the lifter ends the quarantine of node %d\n", reader + 1)
  :: else
  fi;
  reader++; LIFT_TO_NEXT;
  if
  :: reader == NODES -> LIFT_STOP
  :: else
  fi
}
inline die() {
  lifts == 1 || reader > 0 -> LIFT_STOP; printf("the lifter crashes\n")
}
active proctype Lifter() {
  ready;
end: do
  :: atomic { if
    :: d_step { survey() }
    :: d_step { lift() }
    :: d_step { die() }
    fi }
  od
}
#endif
