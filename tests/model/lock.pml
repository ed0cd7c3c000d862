/* Exclusive leases exclude each other, and no key is left behind (ARCHITECTURE: invariants 1 and
 * 4).
 *
 * N nodes, two clients that acquire, extend and release for ever. Time is discrete and relative
 * (what is left of a key, of a lease, of a quarantine), so that runs are unbounded although the
 * state space is finite. Time passes between any two steps: a client that is paused or has crashed
 * takes no step, and a late message is a step that comes late.
 *
 * A SET that was sent is executed at any later time or never. An answer is not a step of its own: a
 * late answer is a grant that comes late, and a lost answer is an attempt that is given up, which
 * may happen at any time.
 *
 * Clocks: a node's clock may gain DRIFT ticks over a TTL, so that a key or a quarantine ends up to
 * DRIFT early. A slow clock keeps keys longer, which excludes more.
 *
 * Parts: EXTEND (ONE_EXTENDS: only one client does), RESTART (nodes lose their data; RESTARTS: at
 * most that often), BREAK (connections break with a SET unanswered). Everything else that is not
 * defined by default is wrong on purpose, one thing at a time. All are listed in
 * tests/model/run. */
#define N 3
#ifndef QUORUM
#define QUORUM 2
#endif
#ifndef TTL
#define TTL 3
#endif
#define DRIFT 1

/* The quarantine: when it has passed on the node's own clock, every lease that the node may have
 * forgotten has ended. */
#ifdef NO_GUARD
#define QUARANTINE 0
#else
#define QUARANTINE (TTL + DRIFT)
#endif

/* Deadline: start of the granting round + TTL - drift. */
#ifdef NO_DRIFT
#define VALIDITY(elapsed) (TTL - (elapsed))
#elif defined(FROM_LAST_REPLY)
#define VALIDITY(elapsed) (TTL - DRIFT)
#else
#define VALIDITY(elapsed) (TTL - DRIFT - (elapsed))
#endif

byte owner[N];       /* the client whose token the key holds, plus 1; 0: none */
byte left[N];        /* ticks until it expires, on a node whose clock is right */
byte quarantine[N];  /* ticks until the node has a vote again */

/* A client. Its token is fresh for every attempt; the number can be used again because an attempt
 * ends only when nothing of it is left, which is asserted. */
#define idle 0
#define asking 1
#define held 2
#define clearing 3
byte phase[2];
byte elapsed[2];  /* since the round began: an attempt's, later an extend's */
byte valid[2];    /* ticks until the deadline: the client believes in its lease while it is not 0 */
bit extending[2];
#ifdef ONE_EXTENDS
#define EXTENDERS 1
#else
#define EXTENDERS 2
#endif
#ifdef RESTARTS /* at most RESTARTS restarts; otherwise any number */
byte restarts;
#define MAY_RESTART (restarts < RESTARTS)
#define COUNT_RESTART restarts++
#else
#define MAY_RESTART true
#define COUNT_RESTART skip
#endif

/* The state of a client's request on its way to a node, or on it. */
#define clean 0      /* nothing, and nothing can come */
#define sent 1       /* a SET that was not executed yet */
#define granted 2    /* the vote is ours, or the node was repaired */
#define excluded 3   /* the key is ours, but the node was in quarantine */
#define behind 4     /* the SET, and the release after it on the same connection */
#define stranded 5   /* the SET on a connection that broke; the release is owed */
#define releasing 6  /* the release alone: the SET was executed or cannot be any more */
#define stray 7      /* the SET alone, which the client believes undone: never, unless on purpose */
byte way[2 * N];

#define c _pid /* clients are the first processes */
#define WAY(k) way[c * N + (k)]

/* The extend of this round to a node. */
#define none 0
#define asked 1
#define had 2      /* the key was ours, now it lives longer */
#define without 3  /* the key was not ours, or nobody knows: no vote */
#define twice 4    /* asked, after the extend of a round that was given up */
byte extend[2 * N];
#define EXTEND_TO(k) extend[c * N + (k)]

/* Nobody gives an attempt up or releases: a counterexample that needs neither is found sooner. */
#ifdef CALM
#define MAY_STOP false
#else
#define MAY_STOP true
#endif

#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) }

/* State that no longer matters is forgotten, for fewer states: that a release is or was owed, if
 * there is nothing to release and no extend on its way that could change that. */
#define FORGET(client, k) \
  if \
  :: owner[k] != client + 1 && \
     (phase[client] == held && way[client * N + k] == granted \
      || way[client * N + k] == releasing && extend[client * N + k] == none) -> \
     way[client * N + k] = clean \
  :: else \
  fi

/* Nodes are interchangeable, and so are clients: of all states that differ only in their numbering,
 * one is explored. The output lets tests/model/run give each process one name throughout a
 * counterexample. */
int swap;
#define SWAP(one, other) swap = one; one = other; other = swap
/* All fields of a node, and what each client has there. */
#define NODE_RANK(k) \
  (owner[k] + 4 * left[k] + 16 * quarantine[k] + 128 * way[k] + 1024 * extend[k] \
   + 8192 * way[N + k] + 65536 * extend[N + k])
#define SORT_NODES(i, j) \
  if \
  :: NODE_RANK(i) > NODE_RANK(j) -> \
     SWAP(owner[i], owner[j]); SWAP(left[i], left[j]); SWAP(quarantine[i], quarantine[j]); \
     SWAP(way[i], way[j]); SWAP(way[N + i], way[N + j]); \
     SWAP(extend[i], extend[j]); SWAP(extend[N + i], extend[N + j]); \
     swap = 0; printf("@node %d %d\n", i + 1, j + 1) \
  :: else \
  fi
#define CLIENT_RANK(client) \
  (phase[client] + 4 * valid[client] + 16 * elapsed[client] + 64 * extending[client])
#define SWAP_OWNER(k) owner[k] = (owner[k] == 0 -> 0 : 3 - owner[k])
#define SORT_CLIENTS \
  if \
  :: CLIENT_RANK(0) > CLIENT_RANK(1) -> \
     SWAP(phase[0], phase[1]); SWAP(valid[0], valid[1]); SWAP(elapsed[0], elapsed[1]); \
     SWAP(extending[0], extending[1]); \
     SWAP(way[0], way[N]); SWAP(way[1], way[N + 1]); SWAP(way[2], way[N + 2]); \
     SWAP(extend[0], extend[N]); SWAP(extend[1], extend[N + 1]); SWAP(extend[2], extend[N + 2]); \
     SWAP_OWNER(0); SWAP_OWNER(1); SWAP_OWNER(2); \
     swap = 0; printf("@client 1 2\n") \
  :: else \
  fi
#ifdef ONE_EXTENDS /* then the clients are not interchangeable */
#define IN_ORDER SORT_NODES(0, 1); SORT_NODES(1, 2); SORT_NODES(0, 1)
#else
#define IN_ORDER SORT_CLIENTS; SORT_NODES(0, 1); SORT_NODES(1, 2); SORT_NODES(0, 1)
#endif

#define TIDY_UP \
  d_step { \
    FORGET(0, 0); FORGET(0, 1); FORGET(0, 2); FORGET(1, 0); FORGET(1, 1); FORGET(1, 2); \
    IN_ORDER \
  }

#define VOTES ((WAY(0) == granted) + (WAY(1) == granted) + (WAY(2) == granted))
#define HAD ((EXTEND_TO(0) == had) + (EXTEND_TO(1) == had) + (EXTEND_TO(2) == had))

inline ask() {
  phase[c] == idle -> /* nothing of an earlier attempt is left */
  phase[c] = asking;
  WAY(0) = sent; WAY(1) = sent; WAY(2) = sent;
  printf("client %d sends its SETs\n", c + 1)
}

/* SET NX PX; possibly long after the client has lost interest. */
inline execute_set(k) {
  WAY(k) == sent || WAY(k) == behind || WAY(k) == stranded || WAY(k) == stray ->
  if
  :: owner[k] == 0 ->
     owner[k] = c + 1; left[k] = TTL;
     printf("node %d executes the SET of client %d: granted\n", k + 1, c + 1);
     if
     :: WAY(k) == sent && phase[c] == asking && quarantine[k] > 0 -> WAY(k) = excluded
     :: WAY(k) == sent && !(phase[c] == asking && quarantine[k] > 0) -> WAY(k) = granted
     :: WAY(k) == stray -> WAY(k) = clean
     :: else -> WAY(k) = releasing
     fi
  :: else ->
     printf("node %d executes the SET of client %d: refused\n", k + 1, c + 1);
     if
     :: WAY(k) == behind || WAY(k) == stranded -> WAY(k) = releasing
     :: else -> WAY(k) = clean
     fi
  fi
}

inline count_no_more(k) {
  if
  :: WAY(k) == excluded -> WAY(k) = granted
  :: else
  fi
}

inline win() {
  phase[c] == asking && VOTES >= QUORUM && VALIDITY(elapsed[c]) > 0 ->
  phase[c] = held;
  valid[c] = VALIDITY(elapsed[c]);
  elapsed[c] = 0;
  count_no_more(0); count_no_more(1); count_no_more(2);
  printf("client %d is granted a lease, valid for %d\n", c + 1, valid[c])
}

/* A release goes to every node that granted or did not answer, down the same connection. */
inline clear_node(k) {
  if
  :: WAY(k) == sent -> WAY(k) = behind
  :: WAY(k) == granted || WAY(k) == excluded -> WAY(k) = releasing
  /* The node refused, but an extend on its way may give it the key. */
  :: WAY(k) == clean && (EXTEND_TO(k) == asked || EXTEND_TO(k) == twice) -> WAY(k) = releasing
  :: else
  fi;
  if
  :: EXTEND_TO(k) == had || EXTEND_TO(k) == without -> EXTEND_TO(k) = none
  :: else
  fi
}

inline clear() {
  phase[c] = clearing;
  valid[c] = 0; elapsed[c] = 0; extending[c] = 0;
  clear_node(0); clear_node(1); clear_node(2)
}

inline abandon_node(k) {
  if
  :: WAY(k) == sent -> WAY(k) = stray
  :: else -> WAY(k) = clean
  fi
}

/* An attempt is lost, is too late or is given up by the caller: at any time. */
inline lose() {
  phase[c] == asking && MAY_STOP ->
  printf("client %d gives its attempt up\n", c + 1);
#ifdef NO_RELEASE_ON_FAILURE
  phase[c] = clearing; elapsed[c] = 0;
  abandon_node(0); abandon_node(1); abandon_node(2)
#else
  clear()
#endif
}

/* A release, also of a lease that is over: a client that was paused releases late. */
inline release() {
  phase[c] == held && MAY_STOP ->
  printf("client %d releases its lease\n", c + 1);
  clear()
}

#ifdef RELEASE_OVERTAKES
#define OVERTAKES true
#else
#define OVERTAKES false
#endif

/* Compare and delete. A connection carries its requests in order; a connection that replaces a
 * broken one first kills it, with everything that it still carries. */
inline execute_release(k) {
  WAY(k) == releasing || OVERTAKES && WAY(k) == stranded ->
  if
  :: owner[k] == c + 1 -> owner[k] = 0; left[k] = 0
  :: else
  fi;
  printf("node %d executes the release of client %d\n", k + 1, c + 1);
  if
  :: WAY(k) == stranded -> WAY(k) = stray
  :: else -> WAY(k) = clean
  fi;
  EXTEND_TO(k) = none
}

inline break_connection(k) {
  WAY(k) == behind ->
  WAY(k) = stranded;
  printf("client %d loses its connection to node %d, the SET unanswered\n", c + 1, k + 1)
}

/* CLIENT KILL ID on the new connection: the SET of the old one cannot be executed any more. */
inline kill_connection(k) {
  WAY(k) == stranded ->
  WAY(k) = releasing;
  printf("client %d has its old connection to node %d killed\n", c + 1, k + 1)
}

inline settle() {
  phase[c] == clearing && (WAY(0) == clean || WAY(0) == stray) &&
    (WAY(1) == clean || WAY(1) == stray) && (WAY(2) == clean || WAY(2) == stray) ->
  phase[c] = idle;
  printf("client %d has nothing left on the nodes\n", c + 1)
}

inline forget_answer(client, k) {
  if
  :: extend[client * N + k] == had || extend[client * N + k] == without ->
     extend[client * N + k] = none
  :: else
  fi
}

inline end_extend(client) {
  extending[client] = 0;
  elapsed[client] = 0;
  forget_answer(client, 0); forget_answer(client, 1); forget_answer(client, 2)
}

inline extend_node(k) {
  if
  :: EXTEND_TO(k) == asked || EXTEND_TO(k) == twice -> EXTEND_TO(k) = twice
  :: else -> EXTEND_TO(k) = asked
  fi
}

/* Only before the deadline, and not in the tick in which the last round began. */
inline begin_extend() {
  phase[c] == held && valid[c] > 0 && valid[c] < VALIDITY(0) && !extending[c] && c < EXTENDERS ->
  extending[c] = 1;
  elapsed[c] = 0;
  extend_node(0); extend_node(1); extend_node(2);
  printf("client %d extends\n", c + 1)
}

/* Which answers count for an extend. A key on a node in quarantine was put there after the node
 * forgot, by a repair or by a late SET: it is a new vote, which the guard forbids. An attempt of
 * somebody else may have been granted the vote that was forgotten, not know of the restart, and
 * win with it later (COUNT_QUARANTINED). If every client knew of a restart before it counted a
 * vote of the time before (NOTICE), these answers could be counted; but nothing informs a client
 * that is paused or cut off. */
#ifdef COUNT_QUARANTINED
#define MAY_COUNT(k) true
#else
#define MAY_COUNT(k) (quarantine[k] == 0)
#endif

/* After the SET, if that is still on its way on this connection. */
inline execute_extend(k) {
  (EXTEND_TO(k) == asked || EXTEND_TO(k) == twice) && WAY(k) != sent && WAY(k) != behind &&
    WAY(k) != stranded ->
  if
  :: owner[k] == c + 1 ->
     left[k] = TTL;
     if
     :: EXTEND_TO(k) == twice -> EXTEND_TO(k) = asked
     :: EXTEND_TO(k) == asked && !extending[c] -> EXTEND_TO(k) = none
     :: else -> EXTEND_TO(k) = (MAY_COUNT(k) -> had : without)
     fi;
     printf("node %d executes the extend of client %d: had the key\n", k + 1, c + 1)
  :: owner[k] == 0 ->
     owner[k] = c + 1; left[k] = TTL;
     WAY(k) = (WAY(k) == releasing -> releasing : granted);
#ifdef COUNT_REPAIRED
     EXTEND_TO(k) = (EXTEND_TO(k) == twice -> asked : (extending[c] -> had : none));
#else
     EXTEND_TO(k) = (EXTEND_TO(k) == twice -> asked : (extending[c] -> without : none));
#endif
     printf("node %d executes the extend of client %d: repaired\n", k + 1, c + 1)
  :: else ->
     EXTEND_TO(k) = (EXTEND_TO(k) == twice -> asked : (extending[c] -> without : none));
     printf("node %d executes the extend of client %d: refused\n", k + 1, c + 1)
  fi
}

inline win_extend() {
  extending[c] && HAD >= QUORUM && valid[c] > 0 ->
  if
  :: VALIDITY(elapsed[c]) > valid[c] -> valid[c] = VALIDITY(elapsed[c])
  :: else
  fi;
  printf("client %d has extended its lease, valid for %d\n", c + 1, valid[c]);
  end_extend(c)
}

/* Releases nothing. Requests on their way stay on their way. */
inline fail_extend() {
  extending[c] ->
  printf("client %d gives its extend up\n", c + 1);
  end_extend(c)
}

active [2] proctype Client() {
end:
  do
  :: atomic {
       if
       :: d_step { ask() }
       EACH_NODE(execute_set)
       :: d_step { win() }
       :: d_step { lose() }
       :: d_step { release() }
       EACH_NODE(execute_release)
       :: d_step { settle() }
#ifdef BREAK
       EACH_NODE(break_connection)
       EACH_NODE(kill_connection)
#endif
#ifdef EXTEND
       :: d_step { begin_extend() }
       EACH_NODE(execute_extend)
       :: d_step { win_extend() }
       :: d_step { fail_extend() }
#endif
       fi;
       TIDY_UP
     }
  od
}

/* An answer that comes after the end of the quarantine counts. */
inline end_quarantine(k) {
  quarantine[k] = 0;
  if
  :: way[k] == excluded -> way[k] = granted
  :: else
  fi;
  if
  :: way[N + k] == excluded -> way[N + k] = granted
  :: else
  fi
}

inline pass_time_on(k) {
  if
  :: left[k] > 1 -> left[k]--
  :: left[k] == 1 -> left[k] = 0; owner[k] = 0
  :: else
  fi;
  if
  :: quarantine[k] > 1 -> quarantine[k]--
  :: quarantine[k] == 1 -> end_quarantine(k)
  :: else
  fi
}

inline pass_time_of(client) {
  if
  :: (phase[client] == asking || extending[client]) && elapsed[client] < TTL &&
     VALIDITY(elapsed[client]) > 0 -> elapsed[client]++
  :: else
  fi;
  if
  :: valid[client] > 1 -> valid[client]--
  :: valid[client] == 1 -> valid[client] = 0; end_extend(client)
  :: else
  fi
}

inline pass_time() {
  true ->
  pass_time_on(0); pass_time_on(1); pass_time_on(2);
  pass_time_of(0); pass_time_of(1);
  printf("a tick passes\n")
}

inline expire_early(k) {
  owner[k] != 0 && left[k] <= DRIFT ->
  owner[k] = 0; left[k] = 0;
  printf("node %d expires the key, its clock runs ahead\n", k + 1)
}

inline readmit_early(k) {
  quarantine[k] > 0 && quarantine[k] <= DRIFT ->
  end_quarantine(k);
  printf("node %d ends its quarantine, its clock runs ahead\n", k + 1)
}

/* A request on its way to the server process is lost with it; an answer that was given is not, and
 * the client counts on it as long as it does not NOTICE. */
inline lose_requests(k, client) {
#ifdef NOTICE
  if
  :: phase[client] == asking -> way[client * N + k] = clean
  :: else
  fi;
#endif
  if
  :: way[client * N + k] != granted && way[client * N + k] != excluded ->
     way[client * N + k] = clean
  :: else
  fi;
  if
  :: extend[client * N + k] == asked || extend[client * N + k] == twice ->
     extend[client * N + k] = (extending[client] -> without : none)
  :: else
  fi
}

inline restart(k) {
  MAY_RESTART ->
  COUNT_RESTART;
  owner[k] = 0; left[k] = 0; quarantine[k] = QUARANTINE;
  lose_requests(k, 0); lose_requests(k, 1);
  printf("node %d restarts without its data\n", k + 1)
}

active proctype Environment() {
end:
  do
  :: atomic {
       if
       :: d_step { pass_time() }
       EACH_NODE(expire_early)
#ifdef RESTART
       EACH_NODE(restart)
       EACH_NODE(readmit_early)
#endif
       fi;
       TIDY_UP
     }
  od
}

#define LEFT_BEHIND(client) \
  (phase[client] == idle \
   && (owner[0] == client + 1 || owner[1] == client + 1 || owner[2] == client + 1))

/* Checks every state. */
active proctype Checker() {
end:
  do
  :: d_step { valid[0] > 0 && valid[1] > 0 ->
       printf("WRONG: two leases are valid at one instant\n"); assert(false) }
  :: d_step { LEFT_BEHIND(0) || LEFT_BEHIND(1) ->
       printf("WRONG: the key of an attempt that is over was left behind\n"); assert(false) }
  od
}
