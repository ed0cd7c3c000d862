#include "quorum-lock/verb_table.hpp"

namespace redlock::cli {
namespace {

constexpr OptionText globals[] = {
    {"nodes", "URL[,URL...]",
     "The nodes: redis://[user[:password]@]host[:port][/db], rediss://... (TLS), "
     "unix:///path[?db=n] or host[:port][/db]; may be repeated"},
    {"config", "FILE",
     "TOML file with these options under the same names, e.g. nodes = [\"...\"], and a table for "
     "each "
     "verb with its own: see config. The command line wins over the environment, the environment "
     "over the file"},
    {"local", "N",
     "Start 1 to 15 private redis-server processes for the length of this command and use them; no "
     "other user of this machine can reach them"},
    {"quorum", "Q", "Votes that make a lock; default: a majority of the nodes"},
    {"name", "TEXT",
     "What people call this process in inspections and refusals; default: user@host:pid program. "
     "In "
     "elect, the name of the candidate; default: host and process"},
    {"user", "NAME", "ACL user for nodes whose URL names none; default: the user default"},
    {"password-file", "FILE", "File whose first line is the password for nodes whose URL has none"},
    {"cacert", "FILE", "CA certificates for rediss:// (PEM); default: the system's"},
    {"cert", "FILE", "Client certificate for rediss:// (PEM)"},
    {"key", "FILE", "Private key of --cert (PEM)"},
    {"timeout", "DURATION", "How long one node may take to answer; default 1s"},
    {"connect-timeout", "DURATION",
     "How long the first attempt to connect to a node may take; the next has twice as long after "
     "each that took too long, up to eight times; default: --timeout"},
    {"max-ttl", "DURATION", "Longest TTL that this deployment allows; default 30s"},
    {"restart-guard", "DURATION|off",
     "How long a node that restarted, or that no client has met yet, has no vote; not below the "
     "max TTL; default: the max TTL. Alone, it sets the max TTL too. See bootstrap"},
    {"durable", "",
     "A node that restarted with its data keeps its vote if it writes every command to disk "
     "(appendfsync always)"},
    {"clock-bound", "DURATION",
     "How far a node's clock may be from the others' before it has no vote; default 1s"},
    {"json", "", "One JSON object on standard output, nothing else there"},
    {"quiet", "",
     "Print only the token (acquire), the report of a verb that changes nothing, or else nothing; "
     "on standard error only errors"},
    {"verbose", "",
     "Report on standard error what happens to the nodes; with --json as a JSON object a line"},
};

constexpr OptionText run_options[] = {
    {"ttl", "DURATION", "How long a crash blocks others; renewed while COMMAND runs; default 10s"},
    {"wait", "DURATION|forever", "How long to wait for the lock; default 30s, 0s: one attempt"},
    {"max-hold", "DURATION", "Never hold the lock longer than this; COMMAND is ended before"},
    {"max-renewals", "K", "Renew at most K times, then COMMAND is ended"},
    {"kill-after", "DURATION",
     "Longest time between SIGTERM and SIGKILL when the lock is lost; default: so that the command "
     "is "
     "gone before the lock ends"},
    {"fencing", "", "Give COMMAND a number that grows with every lease: QUORUM_LOCK_FENCING_TOKEN"},
    {"orphan-ttl", "DURATION",
     "Give a key that holds the lock and has no expiry this TTL, at most --max-ttl; others are not "
     "touched"},
    {"shared", "", "Hold as a reader: many readers, or one writer, in turn"},
    {"permits", "K", "Hold one of K permits; COMMAND finds its name in QUORUM_LOCK_PERMIT"},
    {"owner", "NAME", "Hold for this owner: every caller that names it is granted the lock too"},
    {"at-least", "DURATION",
     "Nobody else acquires RESOURCE for this time after it was acquired, even if COMMAND ends "
     "sooner; at most 8760h"},
    {"adopt", "TOKEN",
     "Acquire nothing: take over the lock whose token acquire printed, or which a program has "
     "detached: the whole text of that. It is extended first, and COMMAND runs only if a quorum "
     "still had it. Not for a lock that somebody renews. Name RESOURCE as for acquire; and for a "
     "token also --shared, --owner or --permits"},
    {"fencing-token", "N",
     "With --adopt TOKEN: the fencing token that acquire printed, for COMMAND"},
    {"metrics-file", "FILE",
     "Write metrics to FILE every 5 s and at the end, for node_exporter's textfile collector"},
    {"metrics-listen", "HOST:PORT",
     "Answer GET /metrics there, for Prometheus; PORT 0: any, printed on standard error"},
    {"metrics-required", "",
     "Do not run COMMAND if --metrics-listen cannot listen; otherwise that is a warning"},
};

constexpr OptionText elect_options[] = {
    {"ttl", "DURATION", "A leader that dies is replaced within this time; default 10s"},
    {"wait", "DURATION|forever",
     "How long to wait for being elected; default: forever. With --observe: until there is a "
     "leader, which is printed"},
    {"kill-after", "DURATION", "As in run"},
    {"observe", "", "Only report the leader, at once and after every change; see --wait"},
    {"metrics-file", "FILE", "As in run"},
    {"metrics-listen", "HOST:PORT", "As in run"},
    {"metrics-required", "", "As in run"},
};

constexpr OptionText acquire_options[] = {
    {"ttl", "DURATION", "How long the lock stays unless extended or released; default 10s"},
    {"wait", "DURATION|forever", "How long to wait for the lock; default: one attempt"},
    {"fencing", "", "Also get a number that grows with every lease, for storage that checks it"},
    {"shared", "", "As in run: a reader's hold"},
    {"permits", "K", "One of K permits; which one, is printed"},
    {"owner", "NAME", "As in run: a hold of this owner"},
    {"at-least", "DURATION",
     "Nobody else acquires RESOURCE for this time, unless the token is released; at most 8760h"},
    {"orphan-ttl", "DURATION",
     "Give a key that holds the lock and has no expiry this TTL, at most --max-ttl; others are not "
     "touched"},
};

constexpr OptionText extend_options[] = {
    {"token", "T", "The token that acquire printed"},
    {"ttl", "DURATION", "How long the lock stays, from now on; never shortens"},
    {"permits", "K", "RESOURCE is a semaphore: find the token among its K permits"},
};
constexpr OptionText downgrade_options[] = {{"token", "T", "The token that acquire printed"}};
constexpr OptionText release_options[] = {
    {"token", "T", "The token that acquire printed"},
    {"permits", "K", "RESOURCE is a semaphore: find the token among its K permits"},
};
constexpr OptionText inspect_options[] = {{"permits", "K", "Show the K permits of a semaphore"}};
constexpr OptionText limit_option = {"limit", "KEYS",
                                     "How many keys of each node to go through; default 10000"};
constexpr OptionText list_verb_options[] = {
    {"watch", "", "List again every second, until a signal; on a terminal in the same place"},
    limit_option};
constexpr OptionText top_options[] = {limit_option};
constexpr OptionText bootstrap_options[] = {
    {"after-loss", "", "The nodes seem new, but have lost their data"}};

constexpr OptionText break_options[] = {
    {"yes", "", "Do not ask"},
    {"delay", "DURATION",
     "Nobody can acquire RESOURCE for this time then; at most --max-ttl; default: anybody can at "
     "once"}};

constexpr OptionText bench_options[] = {
    {"mode", "MODE",
     "What to measure: cycle (acquire, then release; default), handoff (one lock that processes "
     "hand over to each other), market (sellers and buyers of items, kept consistent by WATCH, by "
     "one lock, by a lock per item), cohort (threads that share one Mutex, alone and beside "
     "another client), crowd (many clients with connections of their own that wait for one lock), "
     "faults (cycles while nodes of its own are killed or stopped, and how soon calls fail once a "
     "majority is), or family (cycles of each kind of lock, without guards, with them, and "
     "fenced)"},
    {"in-flight", "LIST", "Locks in flight at once; default 1,16,64; faults and family: 1,64"},
    {"nodes-count", "LIST", "How many of the nodes to use; default 1,3,5, crowd: 3"},
    {"duration", "DURATION",
     "Of one repetition of one side; default 2s, market and crowd: 5s, faults: 1s, family: 500ms"},
    {"repetitions", "R", "The figures are medians of so many; default 5"},
    {"async", "", "Drive the asynchronous interface on its loop (default)"},
    {"blocking", "", "Drive the blocking interface from as many threads as locks in flight"},
    {"guards", "", "Also compare without guards, with all guards, and with fencing tokens"},
    {"scripts", "",
     "Also compare plain commands (DELIFEQ) with scripts, where the nodes know both; with --local "
     "also what they cost the nodes"},
    {"contenders", "LIST",
     "handoff: processes that want the lock; default 2,8,32. cohort: threads; default 1,8,64. "
     "crowd: clients; default 8,16,32,64,125,250,500,1000"},
    {"hold", "DURATION", "handoff and crowd: how long each holds it; default 1ms, crowd: 2ms"},
    {"hand-overs", "K", "handoff: how many in one repetition; default 2000"},
    {"reentry", "",
     "handoff: only with contenders that ask again at once; default: this and --drain"},
    {"drain", "",
     "handoff: only with contenders that queue up together, are served in turn, and then queue up "
     "again"},
    {"floor", "", "Interleave a program without lock logic and show the ratio to it"},
    {"peers", "",
     "cycle: interleave other Redlock clients, too: node-redlock and redlock-universal, which npm "
     "installs into the user's cache, and a sequential one"},
    {"html", "FILE", "cycle: write a page with plots and all figures"},
    {"ports", "FIRST-LAST",
     "Where the servers that it starts may listen on 127.0.0.1; default: any free ports"},
};

constexpr OptionText chaos_options[] = {
    {"clients", "C", "How many contenders, each a process; 1 to 32, default 4"},
    {"duration", "DURATION", "2s to 1h, default 15s; then everybody must get every lock once more"},
    {"faults", "LIST",
     "What to break: kill, pause, partition, clock, restart, slow, role; default: all"},
    {"seed", "S", "Repeats the schedule of the faults; default: any"},
    {"ports", "FIRST-LAST",
     "Where servers, and links to them, may listen on 127.0.0.1; default: any free ports"},
    {"html", "FILE", "Write a page that draws the leases over the faults"},
    {"keep", "FOLDER", "Leave the histories there; after a violation they are always left"},
    {"check", "FOLDER", "Run nothing, judge the histories that a run has left"},
    {"contender-command", "COMMAND",
     "One more contender, of another Redlock client: a program that takes the same locks, and "
     "records them as quorum-lock(1) says. Nodes do not forget then: --faults without clock and "
     "role"},
};

constexpr ExitText no_quorum = {"69", "unavailable: too few nodes answer, or may vote"};
constexpr ExitText held_by_another = {"75", "held by another until the wait was over"};
constexpr ExitText run_exits[] = {
    {"0", "COMMAND's own, also another than 0"},
    no_quorum,
    {"74", "the lock was lost while COMMAND ran"},
    held_by_another,
    {"76", "--adopt: not the holder"},
    {"126", "COMMAND cannot be executed"},
    {"127", "COMMAND is not found"},
    {"128+n", "ended by signal n, or COMMAND was"},
};
constexpr ExitText elect_exits[] = {
    {"0", "COMMAND's own, also another than 0"},
    no_quorum,
    {"74", "the leadership was lost, and COMMAND ended before"},
    {"75", "not elected within --wait"},
    {"126", "COMMAND cannot be executed"},
    {"127", "COMMAND is not found"},
    {"128+n", "ended by signal n, or COMMAND was"},
};
constexpr ExitText acquire_exits[] = {no_quorum, held_by_another};
constexpr ExitText token_exits[] = {no_quorum, {"76", "not the holder"}};
constexpr ExitText node_exits[] = {no_quorum};
constexpr ExitText list_exits[] = {{"69", "fewer than a quorum of the nodes answer"}};
constexpr ExitText break_exits[] = {no_quorum, {"75", "left as it is, or there are more holders"}};
constexpr ExitText doctor_exits[] = {{"0", "all is well"}, {"1", "something is wrong"}};
constexpr ExitText bootstrap_exits[] = {
    {"69", "a node is missing or ineligible; the nodes are as they were"},
    {"75", "a key can be a lock; the nodes are as they were"},
};
constexpr ExitText members_exits[] = {
    {"69", "a node is missing, or another change is under way, which it names"},
};
constexpr ExitText bench_exits[] = {
    {"1", "a lock did not exclude: two held it at once, or an item was lost or sold twice"},
    no_quorum,
};
constexpr ExitText chaos_exits[] = {
    {"0", "nothing was violated, and at least one lease was granted"},
    {"1", "a violation, or no lease was granted"},
};
constexpr ExitText config_exits[] = {
    {"0", "the file is right"},
    {"64", "it is not: each mistake is on a line of its own"},
};

constexpr VerbText verb_texts[] = {
    {"run",
     "RESOURCE [OPTIONS] COMMAND [ARGUMENT...]\n"
     "RESOURCE... [OPTIONS] -- COMMAND [ARGUMENT...]",
     "Hold the lock on RESOURCE while COMMAND runs, renewing it; on several, all or none. COMMAND "
     "sees "
     "QUORUM_LOCK_RESOURCE, QUORUM_LOCK_TOKEN and, with --fencing, QUORUM_LOCK_FENCING_TOKEN. If "
     "the lock is lost, its process group gets "
     "SIGTERM, then SIGKILL, before another client can hold the lock.",
     run_options,
     "Examples:\n"
     "  quorum-lock run nightly --nodes r1,r2,r3 ./backup.sh\n"
     "  quorum-lock run nightly --wait 0s --ttl 30s ./backup.sh --full\n"
     "  quorum-lock run demo --local 3 sh -c 'echo holding $QUORUM_LOCK_RESOURCE'\n"
     "  quorum-lock run nightly --max-hold 1h --kill-after 5s -- ./backup.sh\n"
     "  quorum-lock run hourly --at-least 55m --wait 0s -- ./report.sh\n"
     "  quorum-lock run account/1 account/2 -- ./transfer.sh\n"
     "  quorum-lock run index --shared -- ./search.sh\n"
     "  quorum-lock run encoders --permits 4 -- ./encode.sh\n"
     "  quorum-lock run invoice/42 --adopt \"$token\" -- ./pay.sh\n"
     "\n"
     "Without --, the second word that is no option begins COMMAND, and everything from there on\n"
     "belongs to it: options of quorum-lock stand before it. Several resources need --, and so\n"
     "does a COMMAND that has a -- of its own.\n"
     "\n"
     "COMMAND gets QUORUM_LOCK_NODES only if no password is in it. With --json an object is\n"
     "printed only when COMMAND was not run: standard output belongs to COMMAND.",
     run_exits},
    {"acquire", "RESOURCE... [OPTIONS]",
     "Acquire the lock on RESOURCE and leave it on the nodes until its TTL has passed or somebody "
     "releases its token; on several, all or none. With --quiet only the token is printed. "
     "It is what extend, release and run --adopt take.",
     acquire_options,
     "Examples:\n"
     "  quorum-lock acquire invoice/42 --nodes r1,r2,r3 --ttl 30s\n"
     "  token=$(quorum-lock acquire invoice/42 --quiet --wait 5s) || exit\n"
     "  quorum-lock run invoice/42 --adopt \"$token\" -- ./pay.sh\n"
     "  quorum-lock acquire invoice/42 --json | jq -r .token\n"
     "  quorum-lock acquire account/1 account/2 --wait forever\n"
     "  quorum-lock acquire encoders --permits 4 --json | jq -r '.permit + \" \" + .token'",
     acquire_exits},
    {"extend", "RESOURCE... --token T --ttl DURATION",
     "Extend a lock of any kind by the token that acquire printed; of several resources, all or "
     "none. Not for the lock of a program that renews it.",
     extend_options,
     "Examples:\n"
     "  quorum-lock extend invoice/42 --token \"$token\" --ttl 30s\n"
     "  quorum-lock extend encoders --permits 4 --token \"$token\" --ttl 30s\n"
     "  quorum-lock extend 'encoders#3' --token \"$token\" --ttl 30s",
     token_exits},
    {"downgrade", "RESOURCE --token T",
     "Make a writer's lock a reader's, as with --shared, without a gap. Readers that wait come in "
     "at "
     "once, the time left stays, and there is no way back. Not for the lock of a program that "
     "renews it.",
     downgrade_options,
     "Examples:\n"
     "  token=$(quorum-lock acquire index --quiet --ttl 30s) && ./build-index.sh\n"
     "  quorum-lock downgrade index --token \"$token\" && ./search.sh\n"
     "  quorum-lock release index --token \"$token\"",
     token_exits},
    {"release", "RESOURCE... --token T",
     "Release a lock of any kind by the token that acquire printed. An interval of --at-least ends "
     "too. Not for the lock of a program that runs: it takes the lock for its own until its "
     "deadline. See break.",
     release_options,
     "Examples:\n"
     "  quorum-lock release invoice/42 --token \"$token\"\n"
     "  quorum-lock release account/1 account/2 --token \"$token\"\n"
     "  quorum-lock release encoders --permits 4 --token \"$token\"",
     token_exits},
    {"inspect", "RESOURCE [--permits K]",
     "Show what every node stores for RESOURCE, and the verdict: free, held, split or "
     "indeterminate.",
     inspect_options,
     "Examples:\n"
     "  quorum-lock inspect invoice/42 --nodes r1,r2,r3\n"
     "  quorum-lock inspect invoice/42 --json | jq -r .state",
     node_exits},
    {"list", "[PATTERN] [--watch]",
     "List all locks: resource, kind, state, holder, how long it is held, how many clients wait, "
     "and on how many of the nodes it is. Changes nothing.",
     list_verb_options,
     "Examples:\n"
     "  quorum-lock list --nodes r1,r2,r3\n"
     "  quorum-lock list 'invoice/*' --watch\n"
     "  quorum-lock list --json | jq -r '.locks[] | select(.state == \"split\") | .resource'\n"
     "\n"
     "PATTERN is a glob as Redis has it: * ? [a-c], and \\ before a character that is meant "
     "literally.\n"
     "Permits of a semaphore are one line. States: held (on a quorum), split (nobody has a "
     "quorum,\n"
     "and nobody else can get one), minority (on fewer nodes than a quorum: what is left of an\n"
     "attempt, a release or a holder), reserved (for the next waiter), free (but clients wait),\n"
     "indeterminate (it depends on nodes that do not answer).\n"
     "Listed are the keys that can be locks: strings that expire within --max-ttl and are no "
     "longer\n"
     "than a token, and those of this library. It goes through at most --limit keys of each node, "
     "and\n"
     "says where that was not all. The resource of a key without expiry is not listed: see "
     "inspect.",
     list_exits},
    {"top",
     "[PATTERN]",
     "Show the nodes and the locks, every second, until q or Ctrl-C. Changes nothing.",
     top_options,
     "Examples:\n"
     "  quorum-lock top --nodes r1,r2,r3\n"
     "  quorum-lock top 'invoice/*'\n"
     "\n"
     "Of each node: state, round trip, version, memory, quarantine. The locks are those of list.\n"
     "Needs a terminal; elsewhere it exits with 64, and list --watch does. NO_COLOR is respected.",
     {}},
    {"watch",
     "RESOURCE...",
     "Print who holds each RESOURCE, or that it is free: at once, and after every change, until a "
     "signal.",
     {},
     "Examples:\n"
     "  quorum-lock watch nightly --nodes r1,r2,r3\n"
     "  quorum-lock watch nightly hourly --json | jq -r '.resource + \" \" + .state'\n"
     "\n"
     "Nodes notify it of changes: it sees one within a few round trips, or within 160 ms while "
     "they\n"
     "follow each other closely. Where too few nodes do (before Redis 7, or with --restart-guard\n"
     "off), it asks them four times a second. Changes that are quicker than that are printed as\n"
     "one. With --json an object a line: resource, state (free, held), kind, holder, owner. While "
     "too few nodes answer, it prints no change.",
     {}},
    {"break", "RESOURCE [--yes] [--delay DURATION]",
     "Release the lock on RESOURCE although others hold it: one holder, readers, or an owner. "
     "Shows the holders, asks, and deletes exactly the tokens that were shown.",
     break_options,
     "Examples:\n"
     "  quorum-lock break invoice/42\n"
     "  quorum-lock break invoice/42 --yes\n"
     "  quorum-lock break invoice/42 --delay 10s\n"
     "\n"
     "It is meant for locks whose holder is gone. A holder that is alive and renews takes the "
     "lock\n"
     "back unless another client acquires it first; end that holder instead, or give it --delay.\n"
     "With --delay every node where it deletes a token keeps everybody out for that time, holder "
     "and\n"
     "waiters included; a quorum must, else it says so and exits with 69. A holder that was "
     "stopped\n"
     "can notice its loss meanwhile; after a delay of at least its TTL its lease has ended. A "
     "lock\n"
     "that was released before it was broken gets no delay. break ends a delay early, too.",
     break_exits},
    {"doctor",
     "[OPTIONS]",
     "Check every node; report what is wrong, why it matters, and the remedy. Changes "
     "nothing.",
     {},
     "Examples:\n"
     "  quorum-lock doctor --nodes r1,r2,r3\n"
     "  quorum-lock doctor --nodes r1,r2,r3 --max-ttl 1m\n"
     "  quorum-lock doctor --json | jq -r '.problems[] | .node + \": \" + .what'\n"
     "\n"
     "Give it the options that the clients have: they are checked too. Clocks are\n"
     "compared with each other, not with this machine's. A server that does not write each "
     "command\n"
     "to disk is reported only where the restart guard does not make up for that.",
     doctor_exits},
    {"bootstrap", "[OPTIONS]",
     "Open a new deployment, so that its nodes need not sit out a quarantine. Refused unless every "
     "node is eligible, and none has a key that can be a lock.",
     bootstrap_options,
     "Examples:\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3 --max-ttl 1m\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3 --after-loss\n"
     "\n"
     "New nodes vote at once. If all nodes lost their data, they seem new: with --after-loss none "
     "has\n"
     "a vote for max TTL, because leases that they forgot may still be valid.\n"
     "A lock could be any string that expires within --max-ttl, or holds of readers. Also how "
     "--max-ttl\n"
     "of a deployment is changed: stop all its clients first, and wait until no lock is left; its "
     "nodes\n"
     "then have no vote for max TTL. To change the nodes, see members. May be killed and run "
     "again.",
     bootstrap_exits},
    {"members",
     "[show] | replace OLD NEW | add URL | remove URL",
     "Show the members of the deployment, by the nodes' own markers; or change them, one node at a "
     "time. Says what it waits for. May be killed at any time: the same command finishes the "
     "change.",
     {},
     "Examples:\n"
     "  quorum-lock members --nodes r1,r2,r3\n"
     "  quorum-lock members replace redis://r3 redis://r4 --nodes r1,r2,r3\n"
     "  quorum-lock members add redis://r4 --nodes r1\n"
     "  quorum-lock members remove redis://r4 --json\n"
     "\n"
     "One of --nodes is enough: it names the others. Nodes that are known from markers only are\n"
     "reached with --password-file and the TLS files. Clients need not stop: one with the old "
     "list\n"
     "connects to the new members and reports that its list is out of date.\n"
     "A change waits until max TTL has passed since the one before. replace can replace a node "
     "that is\n"
     "gone; all other members must be there. A single node cannot be replaced: add, then remove.",
     members_exits},
    {"bench", "[OPTIONS]", "Measure lock cycles. Starts its own nodes unless --nodes are given.",
     bench_options,
     "Examples:\n"
     "  quorum-lock bench\n"
     "  quorum-lock bench --local 5 --floor\n"
     "  quorum-lock bench --local 5 --nodes-count 5 --floor --peers --html bench.html\n"
     "  quorum-lock bench --mode handoff --local 5 --contenders 2,8,32 --floor\n"
     "  quorum-lock bench --mode market --duration 10s\n"
     "  quorum-lock bench --mode cohort --local 5 --contenders 64\n"
     "  quorum-lock bench --mode crowd --contenders 8,1000 --duration 10s\n"
     "  quorum-lock bench --mode faults --local 5\n"
     "  quorum-lock bench --mode family --in-flight 64 --json\n"
     "  quorum-lock bench --nodes r1,r2,r3 --in-flight 1,64 --blocking --json",
     bench_exits},
    {"elect",
     "NAME [OPTIONS] [COMMAND [ARGUMENT...]]\n"
     "NAME [OPTIONS] -- COMMAND [ARGUMENT...]",
     "Campaign to be the leader of NAME; run COMMAND while leader, or lead until a signal. "
     "QUORUM_LOCK_FENCING_TOKEN is the term, larger than that of every leader before. A leader "
     "that "
     "dies is replaced within its TTL, one that resigns at once.",
     elect_options,
     "Examples:\n"
     "  quorum-lock elect scheduler --nodes r1,r2,r3 ./scheduler\n"
     "  quorum-lock elect scheduler --name $HOSTNAME\n"
     "  quorum-lock elect scheduler --observe --json\n"
     "  quorum-lock elect scheduler --observe --wait 30s\n"
     "\n"
     "COMMAND begins as in run: at the second word that is no option, or behind --.\n"
     "With --json an object a line: leader, token, and the term where it is our own. Nodes notify\n"
     "observers.",
     elect_exits},
    {"chaos", "[OPTIONS]",
     "Put the locks to the test: start nodes and contenders, break them, and judge every lease: "
     "exclusive ones, of readers, of two owners, of two resources at once, of two permits, of an "
     "interval, of an election. "
     "Contenders are processes, and reach each node through a proxy of their own; servers and "
     "contenders are killed, stopped and restarted, connections are cut, held back and slowed "
     "down, clocks leap, nodes change their role or evict locks, names of nodes lead to another "
     "server, and the machine is kept busy. --local says how many nodes, 5 otherwise.",
     chaos_options,
     "Examples:\n"
     "  quorum-lock chaos\n"
     "  quorum-lock chaos --duration 1m --clients 8 --html chaos.html\n"
     "  quorum-lock chaos --faults kill,partition --seed 7 --json\n"
     "  quorum-lock chaos --contender-command 'node contender.mjs'\n"
     "\n"
     "Violations: two leases on a resource at once that may not share it, a later lease without a\n"
     "larger fencing token, a lease called valid after its end, a lost update in a file that the\n"
     "locks guard, a contender that gets nothing after everything was healed. The judge shares no\n"
     "code with the library.\n"
     "The same seed breaks the same things at the same times; the effect on the processes "
     "differs.",
     chaos_exits},
    {"config",
     "check --config FILE",
     "Say what a configuration file means: every setting of every verb, its value, and where that "
     "comes from. Passwords are not shown, no node is connected to.",
     {},
     "Examples:\n"
     "  quorum-lock config check --config locks.toml\n"
     "  quorum-lock config check --config locks.toml --json | jq .verbs.run\n"
     "\n"
     "The file is TOML. At its top level are the options of every verb (help options) without "
     "their\n"
     "dashes; in a table for each verb are that verb's own options, and again those of every verb\n"
     "where this one differs:\n"
     "\n"
     "  nodes = [\"redis://r1\", \"redis://r2\", \"redis://r3\"]\n"
     "  password-file = \"/etc/locks/password\"\n"
     "  [run]\n"
     "  wait = \"5m\"\n"
     "  fencing = true\n"
     "  [elect]\n"
     "  ttl = \"20s\"\n"
     "\n"
     "The command line wins over the environment, the environment over the table of the verb, the\n"
     "table over the top level. A stronger answer to one of these replaces all weaker ones: "
     "--nodes\n"
     "or --local; --quiet or --verbose; --shared, --owner or --permits. A flag is taken back with\n"
     "--FLAG=false. These cannot stand in a file: config, token, adopt, fencing-token, yes,\n"
     "after-loss, observe, check, keep. Each\n"
     "verb refuses a file with an unknown key, a wrong type, or a table that is no verb.",
     config_exits},
    {"help",
     "[VERB | options]",
     "Show the help of the program, of VERB, or of the options that every verb takes.",
     {},
     "Examples:\n"
     "  quorum-lock help run\n"
     "  quorum-lock help options\n"
     "\n"
     "quorum-lock help VERB is the same as quorum-lock VERB --help.",
     {}},
};

}  // namespace

std::span<const OptionText> global_options() noexcept { return globals; }
std::span<const VerbText> verbs() noexcept { return verb_texts; }

const VerbText* find_verb_text(std::string_view name) noexcept {
  for (const VerbText& verb : verb_texts) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::string_view options_footer() noexcept {
  return "Durations are whole numbers with a unit: 250us, 250ms, 10s, 2m, 1h. Commas in a URL are\n"
         "written %2C. A flag is taken back with --FLAG=false.\n"
         "\n"
         "The command line wins over the environment, the environment over the table of the verb "
         "in\n"
         "the file of --config, the table over the top level of the file: see quorum-lock help "
         "config.\n"
         "Each of these options has a variable: QUORUM_LOCK_ and its name in capitals, as in\n"
         "QUORUM_LOCK_NODES and QUORUM_LOCK_MAX_TTL. That of a flag is true or false. Empty "
         "variables\n"
         "count as absent. QUORUM_LOCK_PASSWORD is the password for nodes whose URL has none; a "
         "file\n"
         "is better, because /proc shows a process's environment.";
}

std::string_view program_footer() noexcept {
  return "Durations are whole numbers with a unit: 250us, 250ms, 10s, 2m, 1h.\n"
         "Commas in a URL are written %2C.\n"
         "\n"
         "Exit codes: 0 done (run: COMMAND's own), 64 wrong usage, 69 unavailable, 74 the lock "
         "was\n"
         "lost, 75 held by another, 76 not the holder, 1 doctor or chaos found something wrong,\n"
         "128+n ended by signal n.\n"
         "\n"
         "Examples:\n"
         "  export QUORUM_LOCK_NODES=redis://r1,redis://r2,redis://r3\n"
         "  quorum-lock run nightly ./backup.sh\n"
         "  token=$(quorum-lock acquire invoice/42 --quiet --ttl 30s)\n"
         "  quorum-lock release invoice/42 --token \"$token\"\n"
         "  quorum-lock doctor\n"
         "  quorum-lock run demo --local 3 quorum-lock inspect demo\n"
         "\n"
         "quorum-lock help VERB and quorum-lock help options say more.";
}

}  // namespace redlock::cli
