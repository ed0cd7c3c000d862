#include "quorum-lock/line/verb_table.hpp"

#include <iterator>
#include <vector>

namespace redlock::cli {
namespace {

/// Options that are the command line's own, in two parts: those of the library come between.
constexpr OptionText before_the_librarys[] = {
    {"nodes", "URL[,URL...]",
     "The nodes: redis://[user[:password]@]host[:port][/db], rediss://...[?server_name=NAME] "
     "(TLS), unix:///path[?db=n] or host[:port][/db]; may be repeated. valkey:// and valkeys:// "
     "are redis:// and rediss://; an IPv6 address is in brackets. A primary with replicas, N "
     "servers in all, is one node: '...?servers=N', or by its sentinels "
     "'redis+sentinel://HOST;HOST;HOST/SERVICE?servers=N', or in a cluster "
     "'redis+cluster://HOST;HOST;HOST/?servers=N' with a prefix such as '{locks}:'. All clients "
     "that share locks name the same nodes"},
    {"config", "FILE",
     "TOML file with these options under the same names, e.g. nodes = [\"...\"], and a table for "
     "each verb with its own options: see config"},
    {"local", "N",
     "Start 1 to 15 private redis-server processes for the length of this command and use them; no "
     "other user of this machine can reach them"},
    {"local-sentinel", "",
     "As --local, but one node: a primary with two replicas and three sentinels. The max TTL is 5s "
     "unless --max-ttl names another one; so long takes the first lock, and one after a failover"},
    {"name", "TEXT",
     "The name of this process for people, 1 to 80 bytes, in inspections and refusals; default: "
     "user@host:pid program. In elect, the name of the candidate; default: host and process"},
    {"password-file", "FILE",
     "File whose first line is the password for nodes whose URL has none; it is read again at each "
     "connection to a node, so that the password can be changed without a restart"},
};
constexpr OptionText after_the_librarys[] = {
    {"timeout", "DURATION", "How long one node may take to answer; default 1s"},
    {"restart-guard", "DURATION|off",
     "How long a node that restarted, or that is new, has no vote; not below the max TTL, which is "
     "the default. Below 30s, and without --max-ttl, it is the max TTL, too. See bootstrap"},
    {"json", "", "One JSON object on standard output, nothing else there"},
    {"quiet", "",
     "Print only the token (acquire), the report (verbs that change nothing), or nothing (all "
     "other verbs); on standard error only errors"},
    {"verbose", "",
     "Report the events of the nodes on standard error; with --json, each line is a JSON object"},
    {"log-level", "LEVEL",
     "Report the events of the nodes on standard error, from LEVEL on: debug (also idle "
     "connections that end), info (--verbose) or warning; repeated events once a minute. Default: "
     "only warnings that are not part of a result"},
};

constexpr OptionText program_option_texts[] = {
    {"help", "", "Show this help (-h)"},
    {"version", "", "Show the version"},
};

constexpr VariableText variable_texts[] = {
    {"QUORUM_LOCK_PASSWORD",
     "The password for nodes whose URL has none; a file is better, because /proc shows a process's "
     "environment. run and elect remove it from COMMAND's environment"},
    {"QUORUM_LOCK_RESOURCE, QUORUM_LOCK_TOKEN", "run and elect set them for COMMAND"},
    {"QUORUM_LOCK_FENCING_TOKEN, QUORUM_LOCK_PERMIT",
     "run and elect set them if the lock has them"},
    {"NO_COLOR", "No colours on a terminal"},
    {"TMPDIR",
     "Where --local and chaos make a directory that only this user can enter; default: /tmp"},
    {"XDG_CACHE_HOME", "Where bench --peers installs other clients; default: ~/.cache"},
};

std::vector<OptionText> make_globals() {
  std::vector<OptionText> all(std::begin(before_the_librarys), std::end(before_the_librarys));
  // NOLINTBEGIN(bugprone-macro-parentheses): texts are joined
#define CLIENT(kind, member, c_member, preset, flag, value, sentence)                         \
  if (*(flag) != '\0') {                                                                      \
    const std::string_view help = *(value) != '\0' ? sentence " Default: " preset : sentence; \
    all.push_back({flag, value, help.substr(0, help.find_last_not_of('.') + 1)});             \
  }
#include "redlock/face.def"
  // NOLINTEND(bugprone-macro-parentheses)
  all.insert(all.end(), std::begin(after_the_librarys), std::end(after_the_librarys));
  return all;
}

constexpr OptionText run_options[] = {
    {"ttl", "DURATION",
     "How long a crash blocks others; renewed while COMMAND runs; default 10s, or --max-ttl if "
     "that is shorter"},
    {"wait", "DURATION|forever", "How long to wait for the lock; default 30s, 0s: one attempt"},
    {"conflict-exit-code", "N",
     "Exit code if another client has the lock until the wait is over; 0 to 255, default 75"},
    {"max-hold", "DURATION",
     "Never hold the lock longer than this; COMMAND gets SIGTERM a fifth of the TTL before that, "
     "at most 2s before, or earlier if --kill-after needs it"},
    {"max-renewals", "K",
     "Renew at most K times; COMMAND is ended before the last renewal runs out"},
    {"kill-after", "DURATION",
     "Longest time between SIGTERM and SIGKILL when the lock is lost. SIGTERM comes earlier by as "
     "much, but not before half of the TTL has run out; SIGKILL always comes before the lock ends. "
     "Default: short enough that COMMAND is gone before the lock ends"},
    {"fencing", "",
     "Give COMMAND a number that grows with every lease, QUORUM_LOCK_FENCING_TOKEN, so that a "
     "storage can refuse a holder that writes too late; not with --shared, --owner or --permits"},
    {"orphan-ttl", "DURATION",
     "Give a key that holds the lock and has no expiry this TTL, from 3ms to --max-ttl, if it is a "
     "string short enough to be a token; other keys are not touched"},
    {"shared", "",
     "Hold as a reader: many readers or one writer. While a writer waits, nodes refuse new "
     "readers"},
    {"permits", "K",
     "Hold one of K permits; COMMAND finds the permit's name in QUORUM_LOCK_PERMIT"},
    {"owner", "NAME",
     "Hold for this owner: every caller that names the same owner is granted the lock, too"},
    {"interval", "DURATION",
     "Nobody else acquires RESOURCE for this time after it was acquired, even if COMMAND ends "
     "sooner or quorum-lock dies; at most 8760h, also above --max-ttl. Not with --shared or "
     "--owner"},
    {"adopt", "TOKEN",
     "Acquire nothing: take over the lock whose token acquire printed. TOKEN may also be the whole "
     "text of a lease that a program has detached. The lock is extended first, and COMMAND runs "
     "only if a quorum still had it. Not for a lock that somebody renews. Name RESOURCE as for "
     "acquire; with a token, repeat --shared, --owner or --permits"},
    {"fencing-token", "N", "With --adopt: the fencing token that acquire printed, for COMMAND"},
    {"metrics-file", "FILE",
     "Write metrics to FILE every 5 s and at the end, for the textfile collector of node_exporter, "
     "which reads names that end with .prom"},
    {"metrics-listen", "HOST:PORT",
     "Answer GET /metrics on this address, for Prometheus; PORT 0: any free port, printed on "
     "standard error"},
    {"metrics-required", "",
     "Do not run COMMAND if --metrics-listen cannot listen; otherwise that is a warning"},
    {"status-listen", "HOST:PORT",
     "Answer GET / on this address, for load balancers and probes: 200 while the lock is held, 503 "
     "before and after, with a JSON object; and GET /metrics. PORT 0: any free port, printed on "
     "standard error"},
};

constexpr OptionText elect_options[] = {
    {"ttl", "DURATION", "A leader that dies is replaced within this time; default 10s"},
    {"wait", "DURATION|forever",
     "How long to wait to be elected; default: forever. With --observe: wait for a leader and "
     "print it"},
    {"kill-after", "DURATION", "As in run"},
    {"observe", "", "Only report the leader, now and after every change; see --wait"},
    {"metrics-file", "FILE", "As in run"},
    {"metrics-listen", "HOST:PORT", "As in run"},
    {"metrics-required", "", "As in run"},
    {"status-listen", "HOST:PORT", "As in run: 200 for the leader, 503 for all others"},
};

constexpr OptionText acquire_options[] = {
    {"ttl", "DURATION", "How long the lock stays unless extended or released; default 10s"},
    {"wait", "DURATION|forever", "How long to wait for the lock; default: one attempt"},
    {"conflict-exit-code", "N", "As in run"},
    {"fencing", "", "Also get a number that grows with every lease, for storage that checks it"},
    {"shared", "", "As in run: a reader's hold"},
    {"permits", "K", "Acquire one of K permits, and print its name"},
    {"owner", "NAME", "As in run: a hold of this owner"},
    {"interval", "DURATION",
     "Nobody else acquires RESOURCE for this time, unless the token is released; at most 8760h"},
    {"orphan-ttl", "DURATION", "As in run"},
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
constexpr OptionText wait_options[] = {
    {"wait", "DURATION|forever", "How long to wait; default: forever. 0s: look once"}};
constexpr OptionText list_verb_options[] = {
    {"watch", "",
     "List again every second, until a signal; on a terminal, each list replaces the one before"},
    limit_option};
constexpr OptionText doctor_options[] = {
    {"watch", "",
     "Check again and again, until a signal, and report what has changed. The exit code is that of "
     "the last check"},
    {"interval", "DURATION",
     "With --watch: how long to wait between two checks, 100ms to 24h; default 5s"},
    {"nagios", "",
     "One line and the exit code of a monitoring plugin: OK, WARNING, CRITICAL, UNKNOWN"},
};
constexpr OptionText top_options[] = {limit_option};
constexpr OptionText yes_option{"yes", "", "Do not ask"};

constexpr OptionText bootstrap_options[] = {
    {"after-loss", "", "The nodes seem new, but they have lost their data"}, yes_option};

constexpr OptionText break_options[] = {
    yes_option,
    {"holder", "NAME",
     "Break only what NAME holds, on RESOURCE or on all resources. NAME is the name of a client, a "
     "candidate or an owner, or a token; a glob if it has a * ? or ["},
    {"delay", "DURATION",
     "Nobody can acquire RESOURCE for this time afterwards; at most --max-ttl; default: no delay"},
    limit_option};

constexpr OptionText bench_options[] = {
    {"mode", "MODE",
     "What to measure: cycle (acquire, then release; default), handoff (one lock that processes "
     "hand over to each other), or crowd (many clients with connections of their own that wait for "
     "one lock)"},
    {"in-flight", "LIST", "cycle: locks in flight at once; default 1,16,64"},
    {"nodes-count", "LIST",
     "How many of the nodes to use; default 1,3,5, handoff: 5, crowd: 3; with --nodes all of them"},
    {"duration", "DURATION", "cycle: length of one repetition; default 2s. crowd: default 5s"},
    {"repetitions", "R", "cycle and handoff: the figures are medians of R repetitions; default 5"},
    {"async", "", "cycle: drive the asynchronous interface on its loop (default)"},
    {"blocking", "", "cycle: drive the blocking interface from as many threads as locks in flight"},
    {"peers", "",
     "cycle: also measure other Redlock clients in turn, with at most 512 locks in flight: "
     "node-redlock and redlock-universal, which npm installs into the user's cache"},
    {"contenders", "LIST",
     "handoff: processes that want the lock, 2 to 64; default 2,8,32. crowd: clients, 1 to 2000; "
     "default 8,16,32,64,125,250,500,1000"},
    {"hold", "DURATION",
     "handoff and crowd: how long each holds the lock, at most 1s; default 1ms, crowd: 2ms"},
    {"hand-overs", "K", "handoff: how many hand-overs in one repetition; default 2000"},
    {"reentry", "",
     "handoff: measure only contenders that ask again at once; default: these, and those of "
     "--drain"},
    {"drain", "",
     "handoff: measure only contenders that queue up together, are served in turn, and then queue "
     "up again"},
    {"ports", "FIRST-LAST",
     "Ports of 127.0.0.1 for the servers that it starts; default: any free ports"},
};

constexpr OptionText chaos_options[] = {
    {"clients", "C", "How many contenders, each a process; 1 to 32, default 4"},
    {"duration", "DURATION",
     "2s to 1h, default 15s; afterwards every contender must get every lock once more"},
    {"sentinel", "[N]",
     "One node, which is a primary with replicas: N servers in all, 3 to 9, and N sentinels; 3 if "
     "N is left out"},
    {"cluster", "[N]",
     "One node, which is the primary of a slot of a cluster, with its replicas: two shards of N "
     "servers, 3 to 5, and a third primary; 3 if N is left out. Redis 7.0 or later"},
    {"unsafe", "LOCK",
     "With --sentinel or --cluster: instead of ours, take a lock that a failover breaks. set: SET "
     "NX PX on the primary; set-wait: and WAIT 1"},
    {"faults", "LIST",
     "What to break: kill, pause, partition, clock, restart, slow, role, pieces, evict, name, "
     "load; default: all, with --sentinel or --cluster without clock, evict and name"},
    {"seed", "S", "Repeats the schedule of the faults, which --verbose prints; default: any"},
    {"ports", "FIRST-LAST",
     "Ports of 127.0.0.1: one for each node, one for each pair of contender and node, and one "
     "more; default: any free ports"},
    {"html", "FILE", "Write a page that draws the leases over the faults"},
    {"keep", "FOLDER",
     "Keep the histories in FOLDER, which is new or empty; after a violation they are always kept"},
    {"check", "FOLDER", "Run nothing; judge the histories that a run has kept"},
    {"contender-command", "COMMAND",
     "One more contender, which is another Redlock client: a program that takes exclusive locks, "
     "and records them as CLI.md says. COMMAND is split at blanks, and no shell reads it. Nodes "
     "keep their data then: --faults is without clock, role, evict and name"},
};

constexpr ExitText no_quorum = {
    "69", "unavailable: too few nodes answer or may vote, or a limit of this machine"};
constexpr ExitText lost = {"74", "the lock was lost while COMMAND ran"};
constexpr ExitText held_by_another = {
    "75", "another client had the lock until the wait was over; see --conflict-exit-code"};
constexpr ExitText not_the_holder = {"76", "the token does not hold the lock"};
constexpr ExitText not_executed = {"126", "COMMAND cannot be executed"};
constexpr ExitText not_found = {"127", "COMMAND is not found"};
constexpr ExitText of_a_command = {"128+n", "ended by signal n, or COMMAND was"};
constexpr ExitText common_exit_texts[] = {
    {"0", "done"},
    {"64", "wrong usage: nothing was sent"},
    {"128+n", "ended by signal n"},
};
constexpr ExitText program_exit_texts[] = {
    {"0", "done; run and elect: COMMAND's exit code, whatever it is"},
    {"1",
     "doctor, chaos or bench found something wrong; or something else failed, for example standard "
     "output could not be written"},
    no_quorum,
    lost,
    held_by_another,
    not_the_holder,
    not_executed,
    not_found,
    of_a_command,
};
constexpr ExitText run_exits[] = {
    {"0", "COMMAND's exit code, whatever it is"},
    no_quorum,
    lost,
    held_by_another,
    {"76", "with --adopt: the token does not hold the lock"},
    not_executed,
    not_found,
    of_a_command,
};
constexpr ExitText elect_exits[] = {
    {"0", "COMMAND's exit code, whatever it is"},
    no_quorum,
    {"74", "the leadership was lost, and COMMAND was ended"},
    {"75", "not elected within --wait"},
    not_executed,
    not_found,
    of_a_command,
};
constexpr ExitText acquire_exits[] = {no_quorum, held_by_another};
constexpr ExitText token_exits[] = {no_quorum, not_the_holder};
constexpr ExitText node_exits[] = {no_quorum};
constexpr ExitText list_exits[] = {{"69", "fewer than a quorum of the nodes answer"}};
constexpr ExitText wait_exits[] = {no_quorum, {"75", "it was not free before the wait was over"}};
constexpr ExitText break_exits[] = {
    no_quorum, {"75", "not broken, or there are more holders than were shown"}};
constexpr ExitText doctor_exits[] = {
    {"0", "all is well"},
    {"1", "something is wrong; --nagios: and a quorum of the nodes has a vote"},
    {"2", "--nagios: fewer than a quorum have a vote, or a guarantee is in danger"},
    {"3", "--nagios: no node can be reached, or wrong usage"},
};
constexpr ExitText bootstrap_exits[] = {
    {"69", "a node is missing or ineligible; the nodes are as they were"},
    {"75", "a key can be a lock, or the answer was no; the nodes are as they were"},
};
constexpr ExitText members_exits[] = {
    {"69", "a node is missing, or another change is under way; the message names it"},
};
constexpr ExitText bench_exits[] = {
    {"1", "a lock did not exclude: two held it at once"},
    no_quorum,
};
constexpr ExitText chaos_exits[] = {
    {"0", "nothing was violated, and at least one lease was granted"},
    {"1", "a violation, or no lease was granted"},
};
constexpr ExitText config_exits[] = {
    {"0", "the file is right"},
    {"64", "the file is wrong: each mistake is on a line of its own"},
};

constexpr VerbText verb_texts[] = {
    {"run",
     "RESOURCE [OPTIONS] COMMAND [ARGUMENT...]\n"
     "RESOURCE... [OPTIONS] -- COMMAND [ARGUMENT...]",
     "Hold the lock on RESOURCE while COMMAND runs, and renew it; of several resources, all or "
     "none. COMMAND sees QUORUM_LOCK_RESOURCE, QUORUM_LOCK_TOKEN and, with --fencing, "
     "QUORUM_LOCK_FENCING_TOKEN. If the lock is lost, COMMAND's process group gets SIGTERM, then "
     "SIGKILL, before another client can hold the lock.",
     run_options,
     "Examples:\n"
     "  quorum-lock run nightly --nodes r1,r2,r3 ./backup.sh\n"
     "  quorum-lock run nightly --wait 0s --ttl 30s ./backup.sh --full\n"
     "  quorum-lock run demo --local 3 sh -c 'echo holding $QUORUM_LOCK_RESOURCE'\n"
     "  quorum-lock run nightly --max-hold 1h --kill-after 5s -- ./backup.sh\n"
     "  quorum-lock run hourly --interval 55m --wait 0s -- ./report.sh\n"
     "  quorum-lock run nightly --wait 5s --conflict-exit-code 0 -- ./backup.sh\n"
     "  quorum-lock run account/1 account/2 -- ./transfer.sh\n"
     "  quorum-lock run index --shared -- ./search.sh\n"
     "  quorum-lock run encoders --permits 4 -- ./encode.sh\n"
     "  quorum-lock run invoice/42 --adopt \"$token\" -- ./pay.sh\n"
     "\n"
     "Without --, COMMAND starts at the second non-option argument, and everything from there\n"
     "on belongs to it: put the options of quorum-lock before it. Several resources need --,\n"
     "and so does a COMMAND that has a -- of its own.\n"
     "\n"
     "COMMAND gets QUORUM_LOCK_NODES only if it contains no password; with --local it gets the\n"
     "private nodes and QUORUM_LOCK_MAX_TTL, such as 5s, and with --local-sentinel also\n"
     "REDISCLI_AUTH, their password. CLI.md says how COMMAND is signalled and ended. With --json\n"
     "an object is printed only if COMMAND was not run: standard output belongs to COMMAND.",
     run_exits},
    {"acquire", "RESOURCE... [OPTIONS]",
     "Acquire the lock on RESOURCE and leave it on the nodes until its TTL has passed or somebody "
     "releases its token; of several resources, all or none. With --quiet only the token is "
     "printed. Give the token to extend, release or run --adopt.",
     acquire_options,
     "Examples:\n"
     "  quorum-lock acquire invoice/42 --nodes r1,r2,r3 --ttl 30s\n"
     "  token=$(quorum-lock acquire invoice/42 --quiet --wait 5s) || exit\n"
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
     "Turn a writer's lock into a reader's lock, as --shared takes it, without a gap. Readers that "
     "wait come in at once, the time left stays the same, and there is no way back. Not for the "
     "lock of a program that renews it.",
     downgrade_options,
     "Examples:\n"
     "  token=$(quorum-lock acquire index --quiet --ttl 30s) && ./build-index.sh\n"
     "  quorum-lock downgrade index --token \"$token\" && ./search.sh\n"
     "  quorum-lock release index --token \"$token\"",
     token_exits},
    {"release", "RESOURCE... --token T",
     "Release a lock of any kind by the token that acquire printed; of several resources, those "
     "that the token still holds. An interval of --interval ends too. Not for the lock of a "
     "program that runs, because the program relies on the lock until "
     "its deadline. See break.",
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
     "  quorum-lock inspect invoice/42 --json | jq -r .state\n"
     "\n"
     "It names the holder, how many clients wait, which of them is next, and for a day which\n"
     "locks on RESOURCE were broken, when and by whom. Of readers, and of an owner's holds, it\n"
     "shows up to 256 tokens from each node. With --permits it shows all this for each permit.",
     node_exits},
    {"list", "[PATTERN] [--watch]",
     "List all locks: resource, kind, state, holder, time left, how many clients wait, and on how "
     "many of the nodes it is. Changes nothing.",
     list_verb_options,
     "Examples:\n"
     "  quorum-lock list --nodes r1,r2,r3\n"
     "  quorum-lock list 'invoice/*' --watch\n"
     "  quorum-lock list --json | jq -r '.locks[] | select(.state == \"split\") | .resource'\n"
     "\n"
     "PATTERN is a glob as in Redis: * ? [a-c], and \\ before a character that is meant\n"
     "literally. The permits of a semaphore are one line. States: held (on a quorum), split\n"
     "(nobody has a quorum, and nobody else can get one), minority (on fewer nodes than a\n"
     "quorum: the rest of an attempt, a release or a holder), reserved (for the next waiter),\n"
     "free (but clients wait), indeterminate (it depends on nodes that do not answer).\n"
     "CLI.md says which keys can be locks. Keys without expiry are not listed: see inspect.",
     list_exits},
    {"top",
     "[PATTERN]",
     "Show the nodes and the locks, every second, until q or Ctrl-C. Changes nothing.",
     top_options,
     "Examples:\n"
     "  quorum-lock top --nodes r1,r2,r3\n"
     "  quorum-lock top 'invoice/*'\n"
     "\n"
     "For each node it shows state, round trip, version, memory and quarantine. The locks are\n"
     "those of list. It needs a terminal: without one it exits with 64; use list --watch\n"
     "there. It respects NO_COLOR.",
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
     "Nodes notify it of changes: it sees a change within a few round trips, or within 160 ms\n"
     "while changes follow each other closely. If too few nodes notify it (before Redis 7, or\n"
     "with --restart-guard off), it asks them four times per second. Changes that are faster\n"
     "than that are printed as one. With --json each line is an object: resource, state (free,\n"
     "held), kind, holder, owner. While too few nodes answer, it prints no change.",
     {}},
    {"wait", "RESOURCE [--wait DURATION|forever]",
     "Wait until nobody holds RESOURCE, and print that it is free. Acquires nothing: another "
     "client can hold it a moment later.",
     wait_options,
     "Examples:\n"
     "  quorum-lock wait nightly && echo 'the report is there'\n"
     "  quorum-lock wait nightly --wait 10m --nodes r1,r2,r3\n"
     "\n"
     "It sees a change as watch does. Until RESOURCE is free, it prints nothing.",
     wait_exits},
    {"break",
     "RESOURCE [--yes] [--delay DURATION]\n"
     "PATTERN [--holder NAME] [--yes] [--delay DURATION]\n"
     "--holder NAME [--yes] [--delay DURATION]",
     "Release the lock on RESOURCE although others hold it: one holder, readers, or an owner. "
     "Shows the holders, asks, and deletes exactly the tokens that were shown. With PATTERN, or "
     "--holder, it does so for all locks that match, and asks once.",
     break_options,
     "Examples:\n"
     "  quorum-lock break invoice/42\n"
     "  quorum-lock break invoice/42 --delay 10s\n"
     "  quorum-lock break 'invoice/*'\n"
     "  quorum-lock break --holder '*@host-7:*'\n"
     "  quorum-lock break 'invoice/*' --holder web-1/4711 --yes\n"
     "\n"
     "A word with a * ? or [ is a PATTERN, as for list; a \\ before a character means it\n"
     "literally: break 'a\\*' breaks the resource a*. A lock that changed hands after it was "
     "shown\n"
     "is not broken; it is named, and the exit code is 75. If nothing matches, it exits with 0.\n"
     "\n"
     "break is for locks whose holder is gone. A holder that is alive and renews takes the\n"
     "lock back unless another client acquires it first; end that holder instead, or give\n"
     "--delay. During the delay, every node on which it deletes a token keeps everybody out,\n"
     "including the holder and all waiters. CLI.md has the rules.",
     break_exits},
    {"doctor", "[OPTIONS]",
     "Check every node; report what is wrong, why it matters, and the remedy. Changes "
     "nothing.",
     doctor_options,
     "Examples:\n"
     "  quorum-lock doctor --nodes r1,r2,r3\n"
     "  quorum-lock doctor --watch --interval 30s\n"
     "  quorum-lock doctor --nagios --nodes r1,r2,r3\n"
     "  quorum-lock doctor --nodes r1,r2,r3 --max-ttl 1m\n"
     "  quorum-lock doctor --json | jq -r '.problems[] | .node + \": \" + .what'\n"
     "\n"
     "Give it the options that the clients have: they are checked too. Clocks are compared\n"
     "with each other, not with this machine's. A server that does not write each command to\n"
     "disk is reported only if the restart guard does not make up for that.",
     doctor_exits},
    {"bootstrap", "[OPTIONS]",
     "Open a new deployment, so that its nodes need no quarantine. Refused unless every node is "
     "eligible, and none has a key that can be a lock. A deployment that is open with these "
     "members and this max TTL stays as it is. It asks before it changes another one, and says "
     "which members it would remove and add.",
     bootstrap_options,
     "Examples:\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3 --max-ttl 1m\n"
     "  quorum-lock bootstrap --nodes r1,r2,r3 --after-loss\n"
     "\n"
     "New nodes vote at once. If all nodes lost their data, they seem new: with --after-loss\n"
     "none has a vote for max TTL, because leases that they forgot may still be valid.\n"
     "Any string that expires within --max-ttl can be a lock, and so can a token of this\n"
     "library that expires later, and the holds of readers and owners. It is also refused while\n"
     "a change of the members is under way, and if --nodes leaves out a quorum of the members\n"
     "of a deployment that a node belongs to.\n"
     "OPERATING.md says how bootstrap changes the --max-ttl of a deployment. To change the\n"
     "nodes, see members. It can be killed and run again.",
     bootstrap_exits},
    {"members",
     "[show] | replace OLD NEW | add URL | remove URL",
     "Show the members of the deployment, by the nodes' own markers; or change them, one node at a "
     "time. It reports what it waits for. It can be killed at any time: the same command finishes "
     "the change.",
     {},
     "Examples:\n"
     "  quorum-lock members --nodes r1,r2,r3\n"
     "  quorum-lock members replace redis://r3 redis://r4 --nodes r1,r2,r3\n"
     "  quorum-lock members add redis://r4 --nodes r1\n"
     "  quorum-lock members remove redis://r4 --json\n"
     "\n"
     "One of --nodes is enough: it names the others. Nodes that are not in --nodes are reached\n"
     "with --user, --password-file and the TLS files. Clients need not stop.\n"
     "A change waits until max TTL has passed since the one before. replace can replace a node\n"
     "that is gone; all other members must answer. A single node cannot be replaced: add one,\n"
     "then remove the other.",
     members_exits},
    {"bench", "[OPTIONS]", "Measure lock cycles. Starts its own nodes unless --nodes are given.",
     bench_options,
     "Examples:\n"
     "  quorum-lock bench\n"
     "  quorum-lock bench --local 5 --nodes-count 5 --peers\n"
     "  quorum-lock bench --mode handoff --local 5 --contenders 2,8,32\n"
     "  quorum-lock bench --mode crowd --contenders 8,1000 --duration 10s\n"
     "  quorum-lock bench --nodes r1,r2,r3 --in-flight 1,64 --blocking --json",
     bench_exits},
    {"elect",
     "NAME [OPTIONS] [COMMAND [ARGUMENT...]]\n"
     "NAME [OPTIONS] -- COMMAND [ARGUMENT...]",
     "Campaign to be the leader of NAME; run COMMAND while leader, or lead until a signal. "
     "QUORUM_LOCK_FENCING_TOKEN is the term, larger than that of every leader before. A leader "
     "that dies is replaced within its TTL, one that resigns at once.",
     elect_options,
     "Examples:\n"
     "  quorum-lock elect scheduler --nodes r1,r2,r3 ./scheduler\n"
     "  quorum-lock elect scheduler --name $HOSTNAME\n"
     "  quorum-lock elect scheduler --observe --json\n"
     "  quorum-lock elect scheduler --observe --wait 30s\n"
     "\n"
     "COMMAND starts as in run: at the second non-option argument, or after --. With --json\n"
     "each line is an object: leader, token, and the term if the leader is this process. Nodes\n"
     "notify observers.",
     elect_exits},
    {"chaos", "[OPTIONS]",
     "Put the locks to the test: start nodes and contenders, break them, and judge every lease of "
     "every kind. --local says how many nodes, 5 otherwise; with --sentinel or --cluster, the one "
     "node is a primary with replicas.",
     chaos_options,
     "Examples:\n"
     "  quorum-lock chaos\n"
     "  quorum-lock chaos --duration 1m --clients 8 --html chaos.html\n"
     "  quorum-lock chaos --faults kill,partition --seed 7 --json\n"
     "  quorum-lock chaos --sentinel --unsafe set\n"
     "  quorum-lock chaos --cluster --duration 5m\n"
     "  quorum-lock chaos --contender-command 'node contender.mjs'\n"
     "\n"
     "CLI.md says what each fault does, and what counts as a violation. Two runs with the same "
     "seed "
     "have the same faults at the same times; what the processes do meanwhile differs.",
     chaos_exits},
    {"config",
     "check --config FILE",
     "Show the meaning of a configuration file: every setting of every verb, its value, and where "
     "the value comes from. It shows no passwords, and connects to no node.",
     {},
     "Examples:\n"
     "  quorum-lock config check --config locks.toml\n"
     "  quorum-lock config check --config locks.toml --json | jq .verbs.run\n"
     "\n"
     "The file is TOML: durations are strings, and lists can be arrays. Its top level has the "
     "options of every verb (help options) without\n"
     "their dashes. A table for each verb has that verb's own options, and options of every\n"
     "verb that differ for this one:\n"
     "\n"
     "  nodes = [\"redis://r1\", \"redis://r2\", \"redis://r3\"]\n"
     "  password-file = \"/etc/locks/password\"\n"
     "  [run]\n"
     "  wait = \"5m\"\n"
     "  fencing = true\n"
     "  [elect]\n"
     "  ttl = \"20s\"\n"
     "\n"
     "The command line overrides the environment, the environment overrides the verb's table,\n"
     "and the table overrides the top level. Of options that exclude each other, that of the\n"
     "stronger source wins: --nodes or --local; --quiet or --verbose; --quiet or\n"
     "--log-level; --shared, --owner or --permits; --async or --blocking; --reentry or --drain.\n"
     "--FLAG=false switches a flag off. These cannot be in a file: config, token, adopt,\n"
     "fencing-token, yes, holder, after-loss, observe, check, keep, nagios. Each verb refuses a\n"
     "file with an unknown key, a wrong type, or a table that is not a verb.",
     config_exits},
    {"completion",
     "bash|zsh|fish",
     "Print the completions for a shell, for those who have not installed them with a package.",
     {},
     "Examples:\n"
     "  source <(quorum-lock completion bash)\n"
     "  source <(quorum-lock completion zsh)\n"
     "  quorum-lock completion fish | source\n"
     "\n"
     "Put the line into ~/.bashrc, ~/.zshrc (after compinit) or ~/.config/fish/config.fish.",
     {}},
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

constexpr VerbLine lock_lines[] = {
    {"run", "Hold a lock while a command runs, and renew it"},
    {"acquire", "Take a lock and leave it on the nodes; prints its token"},
    {"extend, downgrade, release", "Change or end a lock by its token"},
    {"elect", "Campaign to be the leader, or watch who is"},
};
constexpr VerbLine look_lines[] = {
    {"inspect", "Show what each node stores for a lock, and who holds it"},
    {"list, top", "Show all locks: once, or as a live table"},
    {"watch, wait", "Print each change of holder; wait until a lock is free"},
};
constexpr VerbLine operate_lines[] = {
    {"doctor", "Check the nodes: what is wrong, and the remedy"},
    {"bootstrap", "Open a deployment on new nodes, once"},
    {"members", "Show or change the nodes of a deployment"},
    {"break", "Release a lock that others hold"},
};
constexpr VerbLine try_lines[] = {
    {"bench, chaos", "Measure; or break nodes on purpose, and judge every lease"},
    {"config, completion, help", "Check a configuration file; complete words in a shell"},
};
constexpr VerbGroup verb_group_texts[] = {{"Take a lock", lock_lines},
                                          {"See who holds it", look_lines},
                                          {"Operate the nodes", operate_lines},
                                          {"More", try_lines}};

}  // namespace

std::span<const VerbGroup> verb_groups() noexcept { return verb_group_texts; }
std::span<const OptionText> global_options() noexcept {
  static const std::vector<OptionText> globals = make_globals();
  return globals;
}
std::span<const VerbText> verbs() noexcept { return verb_texts; }

const VerbText* find_verb_text(std::string_view name) noexcept {
  for (const VerbText& verb : verb_texts) {
    if (verb.name == name) return &verb;
  }
  return nullptr;
}

std::span<const OptionText> program_options() noexcept { return program_option_texts; }
std::span<const ExitText> common_exits() noexcept { return common_exit_texts; }
std::span<const ExitText> program_exits() noexcept { return program_exit_texts; }
std::span<const VariableText> variables() noexcept { return variable_texts; }

std::string_view program_summary() noexcept {
  return "Distributed locks over independent Redis masters";
}

std::string_view rules_of_values() noexcept {
  return "Durations are whole numbers with a unit: 250us, 250ms, 10s, 2m, 1h. Commas in a URL\n"
         "are written %2C. --FLAG=false switches a flag off.";
}

std::string_view rules_of_sources() noexcept {
  return "The command line overrides the environment, the environment overrides the verb's table\n"
         "in the file of --config, and that table overrides the top level of the file: see\n"
         "quorum-lock help config.";
}

std::string_view rules_of_variables() noexcept {
  return "Each option that every verb takes has a variable: QUORUM_LOCK_ and its name in\n"
         "capitals, as in QUORUM_LOCK_NODES and QUORUM_LOCK_MAX_TTL. The variable of a flag is\n"
         "true or false. Empty variables count as absent. A misspelled variable is refused; one\n"
         "that resembles none of these is ignored, with a warning unless --quiet is given.";
}

std::string_view program_examples() noexcept {
  return "  quorum-lock run demo --local 3 bash           # try it, on three private nodes\n"
         "  export QUORUM_LOCK_NODES=redis://r1,redis://r2,redis://r3\n"
         "  quorum-lock run nightly ./backup.sh           # one backup at a time\n"
         "  token=$(quorum-lock acquire invoice/42 --quiet --ttl 30s)\n"
         "  quorum-lock release invoice/42 --token \"$token\"";
}

}  // namespace redlock::cli
