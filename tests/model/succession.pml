/* Waiting by succession: a released lock is handed to the waiter with the smallest ticket.
 *
 * Three nodes and CLIENTS clients, each of which acquires and releases ACQUIRES times. HELD: at the
 * beginning another client holds a lease, which it then releases node by node. DOWN: the third node
 * is down all the time. Each client and node have one ordered channel, which carries asks, raises,
 * releases and leaves. So no ask can follow the release of its token: lock.pml has connections that
 * break, and OVERTAKES shows here what that would do.
 *
 * A token has no number: on a node a client's token is that of its last ask that was executed, and
 * its release is next in the channel. The model checks that the token before was released by then.
 * An answer is not a step of its own: a late answer is a win or a loss that comes late. UNREAD: an
 * answer that the client has not read when it decides; it counts as none. A notification is a bit
 * that the client may act on at any later time.
 *
 * Time: a reservation may expire at any moment, a token when it no longer counts: its attempt is
 * over, or its owner has died or hangs. The timers of a client may fire at any moment too (a late
 * message is the same as an early timer). PROMPT is the other extreme: messages take no time; when
 * nothing else can happen, patience ends, then all keys expire that nobody confirms, then the
 * alarms go off. A client sets its alarm when it is refused as the head of the queue (the key's
 * PTTL; also by an answer that comes after the round), when it gives votes back (R) and when it is
 * notified to watch (R; a watcher that finds a reservation again). A client whose attempt for want
 * of patience was lost backs off: the next time its patience is longer than R. Clients do not poll:
 * waiters that ask again every few seconds would hide the faults that the model must find.
 *
 * What can go wrong, in the words of tests/model/run:
 * 'two leases are valid at one instant': two clients hold.
 * 'a vote was counted that this round did not set': at the win, the key of a node that was counted
 *   is not the token of this round.
 * 'a waiter is never granted': nothing can happen any more, no timer is set, and a live client waits.
 * 'rounds go on and nobody is granted': with PROMPT, more than ROUNDS rounds in a row were lost.
 * 'without faults a hand-over waits for a timer': with PROMPT, a reservation of a live client expires,
 *   or an alarm goes off: that costs R.
 * 'the key of an attempt that is over was left behind': and nothing is on its way to remove it.
 * 'the queues are not in order', 'a client that began later is granted first': with ORDER, and A was
 *   queued on a quorum, its ticket raised, before B began to acquire.
 *
 * Faults: DIE (FAULTS clients at most; the connection is gone), HANG (the connection stays), REPEAT
 * (so many releases of which the answer was lost are sent again, at any time), GIVE_UP (so many
 * waiters do not want the lock any more). Everything else that is not defined by default is wrong on
 * purpose. */
#define N 3
#define QUORUM 2
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ACQUIRES
#define ACQUIRES 1
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef ROUNDS
#define ROUNDS 8
#endif
/* An attempt begins only if no channel has more requests on their way than this. */
#ifndef BACKLOG
#define BACKLOG 1
#endif

#ifdef DOWN
#define UP 2
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) }
#else
#define UP 3
#define EACH_NODE(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) }
#endif

/* A node. */
#define free 0
#define token_of(client) (1 + (client)) /* CLIENTS is the number of the first holder */
#define reserved_for(client) (8 + (client))
#define RESERVED(k) (key[k] >= 8)
#ifdef HELD
byte key[N] = token_of(CLIENTS);
#else
byte key[N];
#endif
byte high[N];   /* the highest ticket */
byte watched[N]; /* 1 + the client that was told to watch within R */

/* A client on a node. */
#define AT(client, k) ((client) * N + (k))
#define PAIRS (CLIENTS * N)
bit queued[PAIRS];
byte ticket[PAIRS];
bit notified[PAIRS];
byte again[PAIRS]; /* the client has a release that will be repeated */
#define none 0
#define vote 1
#define refused 2         /* by a reservation */
#define refused_by(owner) (3 + (owner))
byte answer[PAIRS];
/* Requests on their way, the next one in the lowest three bits. */
#define ask_new 1
#define ask 2
#define raise 3
#define give_back 4
#define give_back_quietly 5
#define release 6
#define leave 7
short way[PAIRS];

/* A client. */
#define idle 0
#define asking 1
#define waiting 2
#define held 3
#define hung 4
#define dead 5
byte phase[CLIENTS];
byte acquired[CLIENTS];
byte mine[CLIENTS];     /* the client's ticket, once it has decided on one */
bit alarm[CLIENTS];
bit by_alarm[CLIENTS];  /* the attempt */
bit backs_off[CLIENTS]; /* the last attempt for want of patience was lost: now patience is longer */
byte before[CLIENTS];   /* the clients that were queued before the attempt began */
byte rounds;            /* rounds since the last grant or fault */
byte faults, repeats, given_up;

#define c _pid /* clients are the first processes */
#define MY(field, k) field[AT(c, k)]
#define WANTS(client) (phase[client] == asking || phase[client] == waiting)
#define ALIVE(client) (phase[client] < hung)
#define REACHABLE(client) (phase[client] != dead)

/* Scratch variables: none outlives a step. */
#define nobody 15
byte h, l, i, j, m, n;
short swap;
#define CLEAR h = 0; l = 0; i = 0; j = 0; m = 0; n = 0; swap = 0

#define SIZE(requests) \
  ((requests) == 0 -> 0 : ((requests) < 8 -> 1 : ((requests) < 64 -> 2 : ((requests) < 512 -> 3 : \
   ((requests) < 4096 -> 4 : 5)))))
#define IS_ASK(request) ((request) == ask_new || (request) == ask)
#define ASKS(requests) \
  (IS_ASK((requests) & 7) || IS_ASK((requests >> 3) & 7) || IS_ASK((requests >> 6) & 7) || \
   IS_ASK((requests >> 9) & 7))
#define SEND(k, request) MY(way, k) = MY(way, k) | ((request) << (3 * SIZE(MY(way, k))))
#define ROOM(most) \
  (SIZE(MY(way, 0)) <= most && SIZE(MY(way, 1)) <= most && SIZE(MY(way, 2)) <= most)

#define COUNT(client, field, what) \
  ((field[AT(client, 0)] == what) + (field[AT(client, 1)] == what) + (field[AT(client, 2)] == what))
#define VOTES COUNT(c, answer, vote)
#define NOTICES(client) COUNT(client, notified, 1)
#define REFUSED(k) (MY(answer, k) >= refused)
/* Nodes that are down count as failed. */
#define FAILED (REFUSED(0) + REFUSED(1) + REFUSED(2) + (N - UP))

/* With PROMPT, timers in the order of their lengths, and all of them after everything else. */
#define SOME_NOTICES(client) \
  (phase[client] == waiting && NOTICES(client) > 0 && NOTICES(client) < QUORUM)
#ifdef NO_PATIENCE
#define IMPATIENT(client) false
#else
#define IMPATIENT(client) (SOME_NOTICES(client) && !backs_off[client])
#endif
/* Whether the vote was or may be counted: its round goes on, or has been won. */
#define COUNTS(k) \
  (key[k] > CLIENTS || \
   (phase[key[k] - 1] == asking || phase[key[k] - 1] == held) && answer[AT(key[k] - 1, k)] == vote)
#define TOKEN_MAY_EXPIRE(k) (key[k] != free && !RESERVED(k) && !COUNTS(k))
#ifdef NO_EXPIRY
#define MAY_EXPIRE(k) (TOKEN_MAY_EXPIRE(k))
#else
#define MAY_EXPIRE(k) (RESERVED(k) || TOKEN_MAY_EXPIRE(k))
#endif
#ifdef NO_PATIENCE
#define RINGS(client) (phase[client] == waiting && alarm[client])
#else
#define RINGS(client) \
  (phase[client] == waiting && (alarm[client] || SOME_NOTICES(client) && backs_off[client]))
#endif
#if CLIENTS == 3
#define ANY_CLIENT(what) (what(0) || what(1) || what(2))
#else
#define ANY_CLIENT(what) (what(0) || what(1))
#endif
#define EXPIRY_DUE \
  (MAY_EXPIRE(0) || MAY_EXPIRE(1) || MAY_EXPIRE(2) || watched[0] != 0 || \
   watched[1] != 0 || watched[2] != 0)
#if defined(PROMPT) && !defined(LEASES_ONLY)
#define TIMELY
#endif
#ifdef PROMPT
#define PATIENCE_ENDS timeout
#define MAY_PASS_R (timeout && !ANY_CLIENT(IMPATIENT))
#define ALARM_GOES_OFF (timeout && !ANY_CLIENT(IMPATIENT) && !EXPIRY_DUE)
#else
#define PATIENCE_ENDS true
#define MAY_PASS_R true
#define ALARM_GOES_OFF true
#endif
#define AT_AN_END (timeout && !ANY_CLIENT(IMPATIENT) && !EXPIRY_DUE && !ANY_CLIENT(RINGS))

#define WRONG(what) printf(what); assert(false)

/* Nodes are interchangeable: see lock.pml. Clients are not: their order decides between equal
 * tickets. */
#define SWAP(one, other) swap = one; one = other; other = swap
#define OF(client, k) \
  (queued[AT(client, k)] + 2 * notified[AT(client, k)] + 4 * ticket[AT(client, k)] + \
   64 * answer[AT(client, k)] + 512 * again[AT(client, k)])
#define NODE_RANK(k) (key[k] + 16 * high[k] + 256 * watched[k] + 1024 * way[k])
#define DETAIL_RANK(k) (OF(0, k) + 4096 * OF(1, k))
#define MORE_RANK(k) (way[N + k] + 32768 * queued[AT(CLIENTS - 1, k)])
#define AFTER(a, b) \
  (NODE_RANK(a) > NODE_RANK(b) || NODE_RANK(a) == NODE_RANK(b) && \
   (DETAIL_RANK(a) > DETAIL_RANK(b) || DETAIL_RANK(a) == DETAIL_RANK(b) && \
    MORE_RANK(a) > MORE_RANK(b)))
#define SWAP_OF(client, a, b) \
  SWAP(queued[AT(client, a)], queued[AT(client, b)]); \
  SWAP(ticket[AT(client, a)], ticket[AT(client, b)]); \
  SWAP(notified[AT(client, a)], notified[AT(client, b)]); \
  SWAP(again[AT(client, a)], again[AT(client, b)]); \
  SWAP(answer[AT(client, a)], answer[AT(client, b)]); \
  SWAP(way[AT(client, a)], way[AT(client, b)])
#if CLIENTS == 3
#define SWAP_OF_ALL(a, b) SWAP_OF(0, a, b); SWAP_OF(1, a, b); SWAP_OF(2, a, b)
#else
#define SWAP_OF_ALL(a, b) SWAP_OF(0, a, b); SWAP_OF(1, a, b)
#endif
#define SORT_NODES(a, b) \
  if \
  :: AFTER(a, b) -> \
     SWAP(key[a], key[b]); SWAP(high[a], high[b]); SWAP(watched[a], watched[b]); \
     SWAP_OF_ALL(a, b); \
     printf("@node %d %d\n", a + 1, b + 1) \
  :: else \
  fi
#ifdef DOWN
#define IN_ORDER d_step { SORT_NODES(0, 1); CLEAR }
#else
#define IN_ORDER d_step { SORT_NODES(0, 1); SORT_NODES(1, 2); SORT_NODES(0, 1); CLEAR }
#endif

/* ---- The node ---- */

inline find_head(k) {
  h = nobody;
  for (i : 0 .. CLIENTS - 1) {
    if
    :: queued[AT(i, k)] && (h == nobody || ticket[AT(i, k)] < ticket[AT(h, k)]) -> h = i
    :: else
    fi
  }
}

/* State of a client that a node does not know is 0, for fewer states. */
#define FORGET_ENTRY(client, k) queued[AT(client, k)] = 0

/* The client no longer watches: it has a reservation, holds the lock or leaves. */
#ifdef KEEP_WATCH
#define DROP_WATCH(client, k) skip
#else
#define DROP_WATCH(client, k) watched[k] = (watched[k] == client + 1 -> 0 : watched[k])
#endif

/* The last in the queue watches over the successor. */
inline set_watch(k) {
  l = nobody;
  for (i : 0 .. CLIENTS - 1) {
    if
    :: queued[AT(i, k)] && i != h && REACHABLE(i) &&
       (l == nobody || ticket[AT(i, k)] >= ticket[AT(l, k)]) -> l = i
    :: else
    fi
  }
#ifndef NO_WATCH
  if
  :: l != nobody && !watched[k] ->
     watched[k] = l + 1;
     printf("node %d tells client %d to watch\n", k + 1, l + 1);
     if
     :: WANTS(l) -> alarm[l] = 1
     :: else
     fi
  :: else
  fi
#endif
}

/* The key is free. */
inline pass(k) {
  do
  :: true ->
     find_head(k);
     if
     :: h == nobody -> break
     :: h != nobody && !REACHABLE(h) ->
        FORGET_ENTRY(h, k);
        printf("node %d drops client %d, which is not there\n", k + 1, h + 1)
     :: else ->
#ifndef SUCCESSOR_STAYS
        FORGET_ENTRY(h, k);
#endif
        key[k] = reserved_for(h);
        DROP_WATCH(h, k);
        printf("node %d reserves the key for client %d and notifies it\n", k + 1, h + 1);
        if
        :: ALIVE(h) -> notified[AT(h, k)] = 1
        :: else
        fi;
        set_watch(k);
        break
     fi
  od
}

inline raise_high(k, by) {
  if
  :: by > high[k] -> high[k] = by
  :: else
  fi
}

/* An old ticket is kept; a ticket in the request raises it. */
inline enqueue(k, given) {
  if
  :: !MY(queued, k) && given == 0 -> high[k]++; MY(ticket, k) = high[k]
  :: !MY(queued, k) && given != 0 -> MY(ticket, k) = given
#ifndef NO_RAISE
  :: MY(queued, k) && given > MY(ticket, k) -> MY(ticket, k) = given
#endif
  :: else
  fi;
  MY(queued, k) = 1;
  raise_high(k, MY(ticket, k))
}

/* The answer to an ask of this round; answers to earlier asks are ignored. */
#define OF_THIS_ROUND(k) ((phase[c] == asking || phase[c] == held) && !ASKS(MY(way, k)))

inline execute_vote(k) {
#ifdef RESERVATION_VOTES
  key[k] = (RESERVED(k) -> key[k] : token_of(c));
#else
  key[k] = token_of(c);
#endif
  FORGET_ENTRY(c, k);
  DROP_WATCH(c, k);
  printf("node %d votes for client %d\n", k + 1, c + 1);
  if
  :: OF_THIS_ROUND(k) -> MY(answer, k) = vote
  :: else
  fi
}

inline execute_refusal(k) {
  printf("node %d refuses client %d, ticket %d\n", k + 1, c + 1, MY(ticket, k));
  if
  :: OF_THIS_ROUND(k) && phase[c] == asking ->
#ifdef KEEP_VOTES
     if
     :: MY(answer, k) != vote ->
#endif
     if
     :: key[k] == free || RESERVED(k) -> MY(answer, k) = refused
     :: else -> MY(answer, k) = refused_by(key[k] - 1)
     fi;
#ifdef KEEP_VOTES
     :: else
     fi;
#endif
     skip
  :: else
  fi;
  /* An answer that comes late counts for this. */
  if
  :: WANTS(c) ->
     find_head(k);
     if
#ifndef NO_HEAD_ALARM
     :: h == c -> alarm[c] = 1
#endif
     :: h != c && by_alarm[c] && RESERVED(k) && key[k] != reserved_for(c) -> alarm[c] = 1
     :: else
     fi
  :: else
  fi
}

inline execute_ask(k, given) {
  if
  :: key[k] == token_of(c) ->
     WRONG("WRONG: the key of an attempt that is over was left behind\n")
  :: else
  fi;
  find_head(k);
  if
  :: key[k] == reserved_for(c) || key[k] == free && (h == c || h == nobody) -> execute_vote(k)
  :: else ->
     enqueue(k, given);
     if
#ifndef NO_PASS_IN_ASK
     :: key[k] == free -> pass(k)
#endif
     :: else
     fi;
     execute_refusal(k)
  fi
}

#ifdef RELEASE_BLINDLY
#define COMPARES(k, is_dead) (key[k] != free)
#elif defined(ONE_TOKEN)
#define COMPARES(k, is_dead) (key[k] == token_of(c))
#else
#define COMPARES(k, is_dead) (key[k] == token_of(c) && !is_dead)
#endif

/* The client has that queue position already. */
#ifdef REQUEUE_RESERVED
#define HAS_ITS_RESERVATION(k) false
#else
#define HAS_ITS_RESERVATION(k) (key[k] == reserved_for(c))
#endif

inline execute_release(k, request, is_dead) {
  printf("node %d executes the release of client %d\n", k + 1, c + 1);
  if
  :: request != release && !HAS_ITS_RESERVATION(k) ->
     /* Queued again: with the client's ticket, whatever ticket the node had given. */
     if
     :: mine[c] != 0 -> FORGET_ENTRY(c, k)
     :: else
     fi;
     enqueue(k, mine[c])
  :: else
  fi;
  if
  :: COMPARES(k, is_dead) ->
     key[k] = free;
     if
     :: request != give_back_quietly -> pass(k)
     :: else
     fi
  :: else
  fi
}

inline execute_leave(k) {
  printf("node %d executes the leave of client %d\n", k + 1, c + 1);
  FORGET_ENTRY(c, k);
  DROP_WATCH(c, k);
  if
  :: key[k] == reserved_for(c) ->
     key[k] = free;
#ifndef LEAVE_WITHOUT_PASS
     pass(k)
#endif
  :: else
  fi
}

#ifdef ORDER
inline check_order(k) {
  for (i : 0 .. CLIENTS - 1) {
    for (j : 0 .. CLIENTS - 1) {
      if
      :: i != j && (before[j] & (1 << i)) && queued[AT(i, k)] && queued[AT(j, k)] &&
         way[AT(i, k)] == 0 && way[AT(j, k)] == 0 && mine[i] != 0 && mine[j] != 0 &&
         phase[i] == waiting && phase[j] == waiting &&
         ticket[AT(i, k)] >= ticket[AT(j, k)] ->
         WRONG("WRONG: the queues are not in order\n")
      :: else
      fi
    }
  }
}
#else
#define check_order(k) skip
#endif

inline execute(k) {
  MY(way, k) != 0 ->
  m = MY(way, k) & 7;
  MY(way, k) = MY(way, k) >> 3;
  if
  :: m == ask_new -> execute_ask(k, 0)
  :: m == ask -> execute_ask(k, mine[c])
  :: m == raise && MY(queued, k) -> enqueue(k, mine[c])
  :: m == give_back || m == give_back_quietly || m == release -> execute_release(k, m, false)
  :: m == leave -> execute_leave(k)
  :: else
  fi;
  check_order(k);
  skip
}

/* The release goes over another connection than the ask before it. */
inline overtake(k) {
  IS_ASK(MY(way, k) & 7) && ((MY(way, k) >> 3) & 7) >= give_back &&
    ((MY(way, k) >> 3) & 7) <= release ->
  MY(way, k) =
    ((MY(way, k) >> 6) << 6) | ((MY(way, k) & 7) << 3) | ((MY(way, k) >> 3) & 7)
}

/* The answer was lost: the client sends the release again later. */
inline lose_answer(k) {
  repeats < REPEAT && MY(again, k) == 0 &&
    (MY(way, k) & 7) >= give_back && (MY(way, k) & 7) <= release ->
  repeats++;
  MY(again, k) = MY(way, k) & 7;
  printf("client %d will repeat the release on node %d\n", c + 1, k + 1)
}

inline repeat(k) {
  MY(again, k) != 0 && MY(way, k) == 0 ->
  m = MY(again, k);
  MY(again, k) = 0;
  printf("the release is a repeated one\n");
  execute_release(k, m, true);
  check_order(k);
  skip
}

/* ---- The client ---- */

#ifdef KEEP_VOTES
#define RESET_ANSWER(k) MY(answer, k) = (MY(answer, k) == vote -> vote : none)
#else
#define RESET_ANSWER(k) MY(answer, k) = none
#endif

inline ask_node(k) {
  RESET_ANSWER(k);
  MY(notified, k) = 0;
  if
  :: k < UP -> SEND(k, (mine[c] == 0 -> ask_new : ask))
  :: else
  fi
}

inline ask_all() {
  phase[c] = asking;
  ask_node(0); ask_node(1); ask_node(2);
#ifdef TIMELY
  rounds++;
  if
  :: rounds > ROUNDS -> WRONG("WRONG: rounds go on and nobody is granted\n")
  :: else
  fi
#endif
}

#define IN_PLACE(client, k) (queued[AT(client, k)] && ticket[AT(client, k)] == mine[client])
inline acquire() {
  phase[c] == idle && acquired[c] < ACQUIRES && ROOM(BACKLOG) ->
  acquired[c]++;
  printf("client %d begins to acquire\n", c + 1);
#ifdef ORDER
  for (i : 0 .. CLIENTS - 1) {
    if
    :: i != c && WANTS(i) && mine[i] != 0 &&
       IN_PLACE(i, 0) + IN_PLACE(i, 1) + IN_PLACE(i, 2) >= QUORUM ->
       before[c] = before[c] | (1 << i)
    :: else
    fi
  }
#endif
  ask_all()
}

inline act_on_notices() {
  phase[c] == waiting && NOTICES(c) >= QUORUM && ROOM(BACKLOG) ->
  printf("client %d was notified by a quorum and asks\n", c + 1);
  by_alarm[c] = 0; backs_off[c] = 0;
  ask_all()
}

inline lose_patience() {
  printf("client %d was notified by some and asks\n", c + 1);
  by_alarm[c] = 0;
#ifndef NO_BACKOFF
  backs_off[c] = 1;
#endif
  ask_all()
}

inline wake() {
  printf("the alarm of client %d goes off, it asks\n", c + 1);
#ifdef TIMELY
  if
  :: faults == 0 -> WRONG("WRONG: without faults a hand-over waits for a timer\n")
  :: else
  fi;
#endif
  alarm[c] = 0; by_alarm[c] = 1;
  ask_all()
}

#define HOLDS_QUORUM(owner) (COUNT(c, answer, refused_by(owner)) >= QUORUM)
#ifdef ALWAYS_QUIETLY
#define QUIETLY true
#else
#define QUIETLY \
  (HOLDS_QUORUM(0) || HOLDS_QUORUM(1) || HOLDS_QUORUM(2) || HOLDS_QUORUM(3))
#endif

inline use_ticket(k) {
  if
  :: REFUSED(k) && MY(ticket, k) > mine[c] -> mine[c] = MY(ticket, k)
  :: else
  fi
}

inline give_back_to(k) {
  if
  :: k < UP && !REFUSED(k) -> SEND(k, n)
#ifndef NO_RAISE
  :: k < UP && REFUSED(k) && MY(ticket, k) < mine[c] -> SEND(k, raise)
#endif
  :: else
  fi;
  RESET_ANSWER(k)
}

inline give_votes_back() {
  if
  :: mine[c] == 0 -> use_ticket(0); use_ticket(1); use_ticket(2)
  :: else
  fi;
#ifndef NO_GIVE_BACK_ALARM
  if
  :: VOTES > 0 -> alarm[c] = 1
  :: else
  fi;
#endif
  n = (QUIETLY -> give_back_quietly : give_back);
  phase[c] = waiting;
  printf("client %d has lost the round, its ticket is %d\n", c + 1, mine[c]);
  give_back_to(0); give_back_to(1); give_back_to(2)
}

inline lose() {
  phase[c] == asking && FAILED > N - QUORUM ->
  give_votes_back()
}

/* As lose(), with one unread answer. */
inline lose_without(k) {
  phase[c] == asking && MY(answer, k) != none && FAILED - REFUSED(k) > N - QUORUM ->
  MY(answer, k) = none;
  printf("client %d has not read the answer of node %d\n", c + 1, k + 1);
  give_votes_back()
}

#define NOT_SET(k) (MY(answer, k) == vote && key[k] != token_of(c))
inline check_votes() {
  if
  :: NOT_SET(0) || NOT_SET(1) || NOT_SET(2) ->
     WRONG("WRONG: a vote was counted that this round did not set\n")
  :: else
  fi
}

inline settle(k) {
  if
  :: k < UP && MY(answer, k) != vote -> SEND(k, leave)
  :: else
  fi;
  if
  :: MY(answer, k) != vote -> MY(answer, k) = none
  :: else
  fi;
  MY(notified, k) = 0
}

inline check_grant() {
  for (i : 0 .. CLIENTS - 1) {
    if
    :: i != c && phase[i] == held ->
       WRONG("WRONG: two leases are valid at one instant\n")
    :: else
    fi;
#ifdef ORDER
    if
    :: i != c && (before[c] & (1 << i)) && WANTS(i) ->
       WRONG("WRONG: a client that began later is granted first\n")
    :: else
    fi;
#endif
  }
}

inline come_to_an_end() {
  mine[c] = 0; alarm[c] = 0; by_alarm[c] = 0; backs_off[c] = 0; before[c] = 0;
  for (i : 0 .. CLIENTS - 1) {
    before[i] = before[i] & (255 - (1 << c))
  };
  skip
}

inline win() {
  phase[c] == asking && VOTES >= QUORUM ->
  phase[c] = held;
  rounds = 0;
  printf("client %d is granted a lease\n", c + 1);
  check_grant();
#ifdef CHECK_VOTES
  check_votes();
#endif
  settle(0); settle(1); settle(2);
  come_to_an_end()
}

inline release_node(k) {
  if
  :: k < UP -> SEND(k, release)
  :: else
  fi;
  MY(answer, k) = none
}

inline release_lease() {
  phase[c] == held && ROOM(4) ->
  phase[c] = idle;
  printf("client %d releases its lease\n", c + 1);
  release_node(0); release_node(1); release_node(2)
}

/* A notification that nobody waits for. */
inline answer_late(k) {
  MY(notified, k) && (phase[c] == idle || phase[c] == held) && SIZE(MY(way, k)) <= 3 ->
  MY(notified, k) = 0;
#ifndef IGNORE_LATE
  SEND(k, leave);
#endif
  printf("client %d does not wait for the notification of node %d\n", c + 1, k + 1)
}

inline leave_node(k) {
  MY(notified, k) = 0;
  if
  :: k < UP -> SEND(k, leave)
  :: else
  fi
}

inline give_up() {
  phase[c] == waiting && ROOM(3) && given_up < GIVE_UP ->
  given_up++;
  phase[c] = idle;
  printf("client %d gives up waiting\n", c + 1);
  leave_node(0); leave_node(1); leave_node(2);
  come_to_an_end()
}

inline forget_at(k) {
  MY(answer, k) = none; MY(notified, k) = 0; MY(again, k) = 0
}

inline die() {
  ALIVE(c) && faults < FAULTS && !(phase[c] == idle && acquired[c] == ACQUIRES) ->
  faults++; rounds = 0;
  phase[c] = dead;
  printf("client %d dies\n", c + 1);
  forget_at(0); forget_at(1); forget_at(2);
  MY(way, 0) = 0; MY(way, 1) = 0; MY(way, 2) = 0;
  come_to_an_end()
}

/* Requests that the client has sent are still executed. */
inline hang() {
#ifdef SUCCESSOR_HANGS /* only a successor hangs, for fewer states */
  phase[c] == waiting && NOTICES(c) == QUORUM && faults < FAULTS ->
#else
  (WANTS(c) || phase[c] == held) && faults < FAULTS ->
#endif
  faults++; rounds = 0;
  phase[c] = hung;
  printf("client %d hangs\n", c + 1);
  forget_at(0); forget_at(1); forget_at(2);
  alarm[c] = 0; by_alarm[c] = 0; backs_off[c] = 0
}

active [CLIENTS] proctype Client() {
end:
  do
  :: atomic {
       if
       :: d_step { acquire() }
       EACH_NODE(execute)
       :: d_step { win() }
       :: d_step { lose() }
       :: d_step { release_lease() }
       :: d_step { act_on_notices() }
       :: IMPATIENT(c) && ROOM(BACKLOG) && PATIENCE_ENDS -> d_step { lose_patience() }
       :: RINGS(c) && ROOM(BACKLOG) && ALARM_GOES_OFF -> d_step { wake() }
       EACH_NODE(answer_late)
#ifdef UNREAD
       EACH_NODE(lose_without)
#endif
#ifdef GIVE_UP
       :: d_step { give_up() }
#endif
#ifdef DIE
       :: d_step { die() }
#endif
#ifdef HANG
       :: d_step { hang() }
#endif
#ifdef OVERTAKES
       EACH_NODE(overtake)
#endif
#ifdef REPEAT
       EACH_NODE(lose_answer)
       EACH_NODE(repeat)
#endif
       fi;
       IN_ORDER
     }
  od
}

/* Spin wants timeout outside of d_step. */
#define WATCHED(k) (watched[k] != 0)
#ifdef DOWN
#define EACH_NODE_IF(holds, when, step) \
  :: holds(0) && when -> d_step { step(0) } \
  :: holds(1) && when -> d_step { step(1) }
#else
#define EACH_NODE_IF(holds, when, step) \
  :: holds(0) && when -> d_step { step(0) } \
  :: holds(1) && when -> d_step { step(1) } \
  :: holds(2) && when -> d_step { step(2) }
#endif

inline expire(k) {
#ifdef TIMELY
  if
  :: RESERVED(k) && ALIVE(key[k] - reserved_for(0)) && faults == 0 ->
     WRONG("WRONG: without faults a hand-over waits for a timer\n")
  :: else
  fi;
#endif
  key[k] = free;
  printf("node %d expires the key\n", k + 1)
}

inline end_watch(k) {
  watched[k] = 0
}

/* The first holder releases. */
inline hand_over(k) {
  key[k] == token_of(CLIENTS) ->
  key[k] = free;
  printf("node %d executes the release of the first holder\n", k + 1);
  pass(k);
  skip
}

active proctype Environment() {
end:
  do
  :: atomic {
       if
       EACH_NODE_IF(MAY_EXPIRE, MAY_PASS_R, expire)
       EACH_NODE_IF(WATCHED, MAY_PASS_R, end_watch)
#ifdef HELD
       EACH_NODE(hand_over)
#endif
       fi;
       IN_ORDER
     }
  od
}

#define LEFT_AT(client, k) \
  (key[k] == token_of(client) && way[AT(client, k)] == 0 && \
   (phase[client] == idle || phase[client] == waiting))
#define LEFT_BEHIND(client) (LEFT_AT(client, 0) || LEFT_AT(client, 1) || LEFT_AT(client, 2))

/* Checks every state. */
active proctype Checker() {
end:
  do
  :: d_step { ANY_CLIENT(LEFT_BEHIND) ->
       WRONG("WRONG: the key of an attempt that is over was left behind\n") }
  :: AT_AN_END && ANY_CLIENT(WANTS) -> d_step {
       WRONG("WRONG: a waiter is never granted\n") }
  od
}
