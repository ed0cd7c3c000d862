/* A lease that is handed on while requests of its owner are under way (tools/docs/design/by-token.md,
 * Requests that arrive late). The owner renews: it asks the nodes to extend the key, and sends a
 * repair to nodes that lack it. At any moment it hands the lease on, or dies: then it sends nothing
 * more, and its requests arrive at any time, or never. From then on, the key expires on any node at
 * any time. The new owner adopts the lease with q nodes that have the key, repairs the others, and
 * can release it. Another client is granted the lock when q nodes are free, leaves its larger
 * fencing number on them, and releases the lock. The new owner takes a still larger number if one
 * of its q nodes has another one than its own.
 *
 * LOSSES: how many keys nodes lose while the owner renews. UNGRANTED: there is no other client, and
 * the release is checked. RENEWALS_REPAIR: each request of a renewal repairs. UNCHECKED: the new
 * owner keeps its number. */
#define NODES 3
#define Q 2
#ifndef LOSSES
#define LOSSES 2
#endif
#define SIZE(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))
#define BIT(k) (1 << (k))
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) }
#define nothing 0
#define the_token 1
#define anothers 2
#define extend 1
#define repair 2
byte key[NODES] = the_token;
byte sent[NODES]; /* what the owner has under way to the node */
byte had, gone;   /* what nodes have answered in the owner's round */
bit handed_on;
byte losses;
byte taken, got; /* by the other client, by the new owner */
byte larger;     /* nodes that have the other client's number */
bit granted, adopted;
byte released;
#define WITH_TOKEN \
  ((key[0] == the_token -> 1 : 0) + (key[1] == the_token -> 1 : 0) + (key[2] == the_token -> 1 : 0))

inline ask(k) {
  !handed_on && sent[k] == nothing && !((had | gone) & BIT(k)) ->
  sent[k] = extend; printf("the owner asks node %d to extend\n", k + 1)
}
inline execute_extend(k) {
  sent[k] == extend -> sent[k] = nothing;
  if
  :: key[k] == the_token -> had = had | BIT(k); printf("node %d extends the key\n", k + 1)
  :: key[k] == nothing ->
#ifdef RENEWALS_REPAIR
     key[k] = the_token; printf("node %d sets the key that it lacks\n", k + 1);
#else
     printf("node %d lacks the key\n", k + 1);
#endif
     gone = gone | BIT(k)
  :: key[k] == anothers -> printf("node %d has the key of another client\n", k + 1)
  fi;
  if
  :: handed_on -> had = 0; gone = 0
  :: else
  fi
}
inline give_back(k) {
  !handed_on && (gone & BIT(k)) && sent[k] == nothing && SIZE(gone) <= NODES - Q ->
  gone = gone & ~BIT(k); sent[k] = repair; printf("the owner repairs node %d\n", k + 1)
}
inline execute_repair(k) {
  sent[k] == repair -> sent[k] = nothing;
  if
  :: key[k] == nothing -> key[k] = the_token; printf("node %d is repaired\n", k + 1)
  :: else -> printf("node %d needs no repair\n", k + 1)
  fi;
  check_release()
}
inline lose(k) {
  !handed_on && losses < LOSSES && key[k] == the_token && WITH_TOKEN > Q - 1 ->
  losses++; key[k] = nothing; printf("node %d loses the key\n", k + 1)
}
inline expire(k) {
  handed_on && !adopted && key[k] == the_token && !(got & BIT(k)) ->
  key[k] = nothing; printf("the key expires on node %d\n", k + 1)
}
inline take(k) {
  !granted && handed_on && key[k] == nothing ->
  key[k] = anothers; taken = taken | BIT(k); larger = larger | BIT(k);
  printf("node %d votes for the other client\n", k + 1);
  if
  :: SIZE(taken) >= Q -> granted = 1; printf("the other client is granted a lease\n")
  :: else
  fi
}
inline give_up(k) {
  key[k] == anothers -> key[k] = nothing; taken = taken & ~BIT(k);
  printf("the other client releases node %d\n", k + 1)
}
inline adopt(k) {
  handed_on && !adopted && key[k] == the_token && !(got & BIT(k)) ->
  got = got | BIT(k); printf("node %d extends the key for the new owner\n", k + 1);
  if
  :: SIZE(got) >= Q -> adopted = 1; printf("the new owner has the lease\n");
#ifndef UNCHECKED
     if
     :: got & larger -> printf("the new owner takes a larger fencing number\n")
     :: !(got & larger) ->
#endif
     if
     :: granted -> printf("WRONG: a lease that was granted before has a larger token\n"); assert(false)
     :: else
     fi
#ifndef UNCHECKED
     fi
#endif
  :: else
  fi
}
/* The new owner's release has reached all nodes: late requests must leave a quorum free. */
inline check_release() {
  if
  :: released == 7 && NODES - WITH_TOKEN < Q ->
     printf("WRONG: late requests undo the release of the new owner on a majority\n"); assert(false)
  :: else
  fi
}
inline repair_again(k) {
  adopted && !(released & BIT(k)) && key[k] == nothing ->
  key[k] = the_token; printf("the new owner repairs node %d\n", k + 1)
}
inline release(k) {
  adopted && !(released & BIT(k)) ->
  released = released | BIT(k);
  if
  :: key[k] == the_token -> key[k] = nothing
  :: else
  fi;
  printf("the new owner releases node %d\n", k + 1);
  check_release()
}

active proctype world() {
end:
  do
  EACH_NODE(ask)
  EACH_NODE(execute_extend)
  EACH_NODE(give_back)
  EACH_NODE(execute_repair)
  EACH_NODE(lose)
  EACH_NODE(expire)
  EACH_NODE(adopt)
#ifdef UNGRANTED
  EACH_NODE(repair_again)
  EACH_NODE(release)
#else
  EACH_NODE(take)
  EACH_NODE(give_up)
#endif
  :: d_step { !handed_on && (had | gone) -> had = 0; gone = 0; printf("the owner begins a new round\n") }
  :: d_step { !handed_on -> handed_on = 1; had = 0; gone = 0; printf("the owner hands the lease on\n") }
  od
}
