/* A node that forgot comes back as another one (tools/docs/design/membership.md).
 *
 * Each member of a deployment has an admission, which is drawn anew whenever its node is taken
 * back. The list on a node has the admissions of all members, which only rise. Votes count together
 * only if their lists are the same, word for word, and a server is a member of a list only if its
 * own admission is in it. So a name that leads to two servers (3a, and 3b behind the same name for
 * others), or data that are put back as they once were, cannot vote with what has replaced them.
 *
 * Two rounds are enough, and time has one border, as in members.pml. Server 4 is node 3b: client 1
 * and adopter 1 see servers 1, 2 and 3; client 2 and adopter 2 see 1, 2 and 4. */
#ifndef LOSSES
#define LOSSES 1
#endif
#define SERVERS 4
#define NAMES 3
#define QUORUM 2
#define NAME(s) ((s) == 3 -> 2 : (s))
#define BIT(k) (1 << (k))
#define SIZE(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1) + (((set) >> 3) & 1))
#ifdef RESTORE
#define VIEW(who) 7
#else
#define VIEW(who) ((who) == 0 -> 7 : 11)
#endif
#define EACH_SERVER(step) \
  :: d_step { step(0) } \
  :: d_step { step(1) } \
  :: d_step { step(2) } \
  :: d_step { step(3) }

bit active_[SERVERS];         /* else blank */
byte list[12];                /* server s has the admission of name n in list[3 * s + n] */
byte drawn[SERVERS] = 0;      /* the incarnation of a blank marker */
byte last_drawn = 1;
bit quarantined[SERVERS];     /* in quarantine since after the first round began */
bit taken[SERVERS];
bit begun;
bit ready;
byte losses;
#ifdef RESTORE
bit back[SERVERS];            /* was taken back */
#define BACK(s) back[s] = 1
#else
#define BACK(s) skip
#endif

#define L(s, n) list[3 * (s) + (n)]
/* An admission: the number of admissions before it, and the incarnation of the blank marker. */
#define OF(admission, marker) ((admission) % 4 == (marker))
#define NEXT(admission, marker) (((admission) / 4 + 1) * 4 + (marker))
#define MAX(x, y) ((x) > (y) -> (x) : (y))

/* Adopters: the blank server + 1, the list they make, the servers that were seen to have it, and
 * whether these were enough. */
byte target[2];
byte wanted[6];
byte seen[2];
bit enough[2];
#define W(a, n) wanted[3 * (a) + (n)]

#define WRITTEN(s) \
  seen[0] = seen[0] & ~BIT(s); seen[1] = seen[1] & ~BIT(s); \
  if \
  :: target[0] == (s) + 1 -> FORGET(0) \
  :: else \
  fi; \
  if \
  :: target[1] == (s) + 1 -> FORGET(1) \
  :: else \
  fi
#define FORGET(a) \
  target[a] = 0; seen[a] = 0; enough[a] = 0; W(a, 0) = 0; W(a, 1) = 0; W(a, 2) = 0

/* The two rounds. */
byte round[6];
byte votes[2];
#define c _pid
#define R(n) round[3 * c + (n)]

#ifdef MIXED
#define SAME(s) true
#else
#define SAME(s) (L(s, 0) == R(0) && L(s, 1) == R(1) && L(s, 2) == R(2))
#endif

inline vote(s) {
  ready && (VIEW(c) & BIT(s)) && active_[s] && !quarantined[s] && !taken[s] && votes[c] < BIT(7) &&
    !(votes[c] & BIT(s)) && (votes[c] == 0 || SAME(s)) ->
  begun = 1;
  if
  :: votes[c] == 0 -> R(0) = L(s, 0); R(1) = L(s, 1); R(2) = L(s, 2)
  :: else
  fi;
  taken[s] = 1;
  votes[c] = votes[c] | BIT(s);
  printf("node %d votes for client %d\n", s + 1, c + 1);
  if
  :: SIZE(votes[c]) >= QUORUM ->
     printf("client %d is granted a lease\n", c + 1);
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
       EACH_SERVER(vote)
       fi
     }
  od
}
#undef c

#define a (_pid - 2)
#define B (target[a] - 1)

inline choose(s) {
  target[a] == 0 && (VIEW(a) & BIT(s)) && !active_[s] ->
  target[a] = s + 1;
  printf("adopter %d finds node %d blank\n", a + 1, s + 1)
}

/* The server gets the list that the adopter makes, with the later admissions of its own list. If
 * its own admission would change, it no longer belongs to the deployment. */
byte join[3];
byte s1;
#define JOIN(n) join[n] = MAX(L(s, n), W(a, n))
#ifdef OVERWRITE
#define STAYS(s) true
#else
#define STAYS(s) (join[NAME(s)] == L(s, NAME(s)))
#endif
/* How often two adopters that see different blank servers can outbid each other. */
#ifndef BIDS
#define BIDS 2
#endif
#define MAY_BID(n) (join[n] / 4 < BIDS || OF(join[n], drawn[B]))
#ifdef SAME_ADMISSION
#define ADMIT(n)
#else
#define ADMIT(n) \
  if \
  :: join[n] != 0 && OF(join[n], drawn[B]) \
  :: else -> join[n] = NEXT(join[n], drawn[B]) \
  fi
#endif
#ifdef EARLY
#define NEEDED (QUORUM - 1)
#else
#define NEEDED QUORUM
#endif
inline raise(s) {
  target[a] != 0 && !enough[a] && (VIEW(a) & BIT(s)) && active_[s] && NAME(s) != NAME(B) &&
    !(seen[a] & BIT(s)) ->
  JOIN(0); JOIN(1); JOIN(2);
  if
  :: STAYS(s) && MAY_BID(NAME(B)) ->
     ADMIT(NAME(B));
     if
     :: join[0] != W(a, 0) || join[1] != W(a, 1) || join[2] != W(a, 2) ->
        W(a, 0) = join[0]; W(a, 1) = join[1]; W(a, 2) = join[2]; seen[a] = 0
     :: else
     fi;
     if
     :: join[0] != L(s, 0) || join[1] != L(s, 1) || join[2] != L(s, 2) ->
        L(s, 0) = join[0]; L(s, 1) = join[1]; L(s, 2) = join[2];
        WRITTEN(s);
        printf("adopter %d gives node %d the list %d %d %d\n", a + 1, s + 1, join[0], join[1],
               join[2])
     :: else
     fi;
     /* The adopter that writes the list has read it. */
     seen[a] = seen[a] | BIT(s);
     if
     :: SIZE(seen[a]) >= NEEDED -> enough[a] = 1
     :: else
     fi
  :: else
  fi;
  join[0] = 0; join[1] = 0; join[2] = 0
}

inline admit() {
  enough[a] ->
  s1 = B;
  L(s1, 0) = W(a, 0); L(s1, 1) = W(a, 1); L(s1, 2) = W(a, 2);
  active_[s1] = 1;
#ifdef NO_QUARANTINE
  quarantined[s1] = 0;
#else
  quarantined[s1] = begun;
#endif
  drawn[s1] = 0;
  BACK(s1);
  printf("adopter %d takes node %d back\n", a + 1, s1 + 1);
  WRITTEN(s1);
  s1 = 0
}
inline stop() { target[a] != 0 -> FORGET(a) }

active [2] proctype Adopter() {
  ready;
end:
  do
  :: atomic {
       if
       EACH_SERVER(choose)
       EACH_SERVER(raise)
       :: d_step { admit() }
       :: d_step { stop() }
       fi
     }
  od
}
#undef a

inline lose(s) {
  losses < LOSSES && active_[s] ->
  losses++;
  active_[s] = 0; taken[s] = 0;
  L(s, 0) = 0; L(s, 1) = 0; L(s, 2) = 0;
  last_drawn++; drawn[s] = last_drawn;
  quarantined[s] = begun;
  WRITTEN(s);
  printf("node %d loses its data\n", s + 1)
}

/* A node that was taken back gets its first data again, with the marker that they had. This does
 * not happen within a round that began before: its votes would be those of a node that never
 * changed. */
#define OVER(who) (votes[who] == 0 || (votes[who] & BIT(7)))
#ifdef RESTORE
inline restore(s) {
  s < 3 && active_[s] && back[s] && OVER(0) && OVER(1) ->
  back[s] = 0;
  L(s, 0) = 0; L(s, 1) = 0; L(s, 2) = 0;
  taken[s] = 0; quarantined[s] = 0;
  WRITTEN(s);
  printf("node %d has its old data again\n", s + 1)
}
#endif

active proctype Environment() {
  d_step {
    active_[0] = 1; active_[1] = 1; active_[2] = 1;
    drawn[3] = 1;
    ready = true
  }
end:
  do
  :: atomic {
       if
       EACH_SERVER(lose)
#ifdef RESTORE
       EACH_SERVER(restore)
#endif
       fi
     }
  od
}
