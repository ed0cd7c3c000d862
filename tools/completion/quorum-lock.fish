# fish completion for quorum-lock

# Prints the verb, how many operands follow it, and the words of the command that run or elect has,
# up to the one that is being written: each on a line of its own.
function __quorum_lock_words
    # Their value is the next word, and no verb.
    set -l with_value \
        --nodes --config --local --quorum --name --user --password-file --cacert --cert --key --server-name --timeout \
        --connect-timeout --max-ttl --restart-guard --clock-bound --prefix --log-level --ttl --wait --max-hold --max-renewals \
        --kill-after --orphan-ttl --permits --owner --at-least --conflict-exit-code --adopt --fencing-token \
        --metrics-file --metrics-listen --status-listen --holder --token --limit --delay --interval --mode --in-flight --nodes-count --duration --repetitions \
        --contenders --hold --hand-overs --ports --clients --faults --seed --html --keep --check \
        --contender-command
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l verb ''
    set -l operands 0
    set -l begin 0
    set -l dashes no
    set -l index 2
    while test $index -le (count $words)
        set -l word $words[$index]
        if test "$word" = --; and contains -- "$verb" run elect
            set begin (math $index + 1)
            set dashes yes
            break
        else if string match -q -- '-?*' $word
            contains -- $word $with_value; and set index (math $index + 1)
        else if test -z "$verb"
            set verb $word
        else
            set operands (math $operands + 1)
            # The second one begins the command, unless dashes follow.
            if test $operands -eq 2; and contains -- $verb run elect
                set begin $index
                break
            end
        end
        set index (math $index + 1)
    end
    # The word that is being written may be the first one of the command.
    if test $begin -eq 0 -a $operands -eq 1 -a $index -eq (math (count $words) + 1)
        if contains -- $verb run elect; and not string match -q -- '-*' $current
            set begin $index
        end
    end
    # Dashes may still follow: then what seemed to be a command is one more resource.
    if test $dashes = no -a $begin -gt 0 -a $begin -le (count $words)
        set -l further (contains -i -- -- $words[$begin..-1])
        and set begin (math $begin + $further)
    end
    printf '%s\n' "$verb" $operands
    if test $begin -gt 0
        test $begin -le (count $words); and printf '%s\n' $words[$begin..-1]
        printf '%s\n' "$current"
    end
end

function __quorum_lock_in_command
    set -l state (__quorum_lock_words)
    test (count $state) -gt 2
end

# Whether the verb is one of these; with '' there is none yet.
function __quorum_lock_verb
    set -l state (__quorum_lock_words)
    test (count $state) -eq 2; and contains -- "$state[1]" $argv
end

# The same, and no operand yet.
function __quorum_lock_first
    set -l state (__quorum_lock_words)
    test (count $state) -eq 2 -a "$state[2]" = 0; and contains -- "$state[1]" $argv
end

# Somebody else's command line.
function __quorum_lock_complete_command
    set -l state (__quorum_lock_words)
    set -l line (string escape -- $state[3..-2])
    complete -C (string join ' ' -- $line $state[-1])
end

complete -c quorum-lock -f
complete -c quorum-lock -n __quorum_lock_in_command -x -a '(__quorum_lock_complete_command)'

complete -c quorum-lock -n "__quorum_lock_verb ''" -a run -d 'hold a lock while a command runs'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a acquire -d 'acquire a lock and leave it on the nodes'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a extend -d 'extend a lock by its token'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a downgrade -d 'make a writer a reader by its token'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a release -d 'release a lock by its token'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a inspect -d 'show what every node stores for a resource'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a list -d 'list all locks'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a top -d 'show the nodes and the locks, every second'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a watch -d 'print who holds a resource, and every change'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a break -d 'release a lock although others hold it'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a doctor -d 'check every node'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a bootstrap -d 'open a new deployment'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a members -d 'show or change the members of the deployment'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a bench -d 'measure lock cycles'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a chaos -d 'put the locks to the test'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a elect -d 'campaign to be the leader; run a command while leader'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a config -d 'say what a configuration file means'
complete -c quorum-lock -n "__quorum_lock_verb ''" -a help -d 'show the help of a verb'

complete -c quorum-lock -n '__quorum_lock_first members' -a 'show replace add remove'
complete -c quorum-lock -n '__quorum_lock_first config' -a check
complete -c quorum-lock -n '__quorum_lock_first help' \
    -a 'options run acquire extend downgrade release inspect list top watch break doctor bootstrap
        members bench chaos elect config help'

complete -c quorum-lock -n 'not __quorum_lock_in_command' -l nodes -x -d 'the nodes: URL[,URL...]'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l config -r -F -d 'TOML file with these options'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l local -x -a '1 3 5' -d 'start private nodes for this command'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l quorum -x -d 'votes that make a lock'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l name -x -d 'what people call this process'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l user -x -d 'ACL user of the nodes'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l password-file -r -F -d 'file with the password of the nodes'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l cacert -r -F -d 'CA certificates (PEM)'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l cert -r -F -d 'client certificate (PEM)'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l key -r -F -d 'private key of --cert (PEM)'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l timeout -x -a '250ms 1s 10s 30s 2m' -d 'how long one node may take to answer'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l connect-timeout -x -a '250ms 1s 10s 30s 2m' -d 'how long the first attempt to connect may take'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l max-ttl -x -a '250ms 1s 10s 30s 2m' -d 'longest TTL of this deployment'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l restart-guard -x -a 'off 30s' -d 'how long a node that restarted has no vote'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l durable -d 'a node that restarted with its data keeps its vote'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l clock-bound -x -a '250ms 1s 10s 30s 2m' -d 'how far the clock of a node may be off'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l prefix -x -d 'before the names of resources on the nodes'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l json -d 'one JSON object on standard output'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l quiet -d 'print only the result'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l verbose -d 'report what happens to the nodes'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l server-name -x -d 'the name in the certificates of nodes'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l log-level -x -a 'debug info warning' -d 'report what happens to the nodes, from this level on'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l help -d 'show the help'
complete -c quorum-lock -n 'not __quorum_lock_in_command' -l version -d 'show the version'

complete -c quorum-lock -n '__quorum_lock_verb run' -l ttl -x -a '250ms 1s 10s 30s 2m' -d 'how long a crash blocks others'
complete -c quorum-lock -n '__quorum_lock_verb run' -l wait -x -a '0s 1s 10s 30s 2m forever' -d 'how long to wait for the lock'
complete -c quorum-lock -n '__quorum_lock_verb run' -l conflict-exit-code -x -a '75' -d 'exit code if another holds it'
complete -c quorum-lock -n '__quorum_lock_verb run' -l max-hold -x -a '250ms 1s 10s 30s 2m' -d 'never hold the lock longer'
complete -c quorum-lock -n '__quorum_lock_verb run' -l max-renewals -x -d 'renew at most so many times'
complete -c quorum-lock -n '__quorum_lock_verb run' -l kill-after -x -a '250ms 1s 10s 30s 2m' -d 'longest time between SIGTERM and SIGKILL'
complete -c quorum-lock -n '__quorum_lock_verb run' -l fencing -d 'get a number that grows with every lease'
complete -c quorum-lock -n '__quorum_lock_verb run' -l orphan-ttl -x -a '250ms 1s 10s 30s 2m' -d 'give a key without expiry this TTL'
complete -c quorum-lock -n '__quorum_lock_verb run' -l shared -d 'hold as a reader'
complete -c quorum-lock -n '__quorum_lock_verb run' -l permits -x -d 'hold one of so many permits'
complete -c quorum-lock -n '__quorum_lock_verb run' -l owner -x -d 'hold for this owner'
complete -c quorum-lock -n '__quorum_lock_verb run' -l at-least -x -a '250ms 1s 10s 30s 2m' -d 'nobody else acquires it for this time'
complete -c quorum-lock -n '__quorum_lock_verb run' -l adopt -x -d 'take over the lock whose token acquire printed'
complete -c quorum-lock -n '__quorum_lock_verb run' -l fencing-token -x -d 'the fencing token of the lock that is adopted'
complete -c quorum-lock -n '__quorum_lock_verb run' -l metrics-file -r -F -d 'write metrics there'
complete -c quorum-lock -n '__quorum_lock_verb run' -l metrics-listen -x -a '127.0.0.1:9464' -d 'answer GET /metrics there'
complete -c quorum-lock -n '__quorum_lock_verb run' -l metrics-required -d 'do not run without the metrics listener'
complete -c quorum-lock -n '__quorum_lock_verb run' -l status-listen -x -a '127.0.0.1:9464' -d 'answer there who holds the lock'

complete -c quorum-lock -n '__quorum_lock_verb acquire' -l ttl -x -a '250ms 1s 10s 30s 2m' -d 'how long the lock stays'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l wait -x -a '0s 1s 10s 30s 2m forever' -d 'how long to wait for the lock'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l conflict-exit-code -x -a '75' -d 'exit code if another holds it'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l fencing -d 'get a number that grows with every lease'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l orphan-ttl -x -a '250ms 1s 10s 30s 2m' -d 'give a key without expiry this TTL'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l shared -d 'hold as a reader'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l permits -x -d 'hold one of so many permits'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l owner -x -d 'hold for this owner'
complete -c quorum-lock -n '__quorum_lock_verb acquire' -l at-least -x -a '250ms 1s 10s 30s 2m' -d 'nobody else acquires it for this time'

complete -c quorum-lock -n '__quorum_lock_verb downgrade' -l token -x -d 'the token that acquire printed'
complete -c quorum-lock -n '__quorum_lock_verb extend' -l token -x -d 'the token that acquire printed'
complete -c quorum-lock -n '__quorum_lock_verb extend' -l ttl -x -a '250ms 1s 10s 30s 2m' -d 'how long the lock stays, from now on'
complete -c quorum-lock -n '__quorum_lock_verb extend' -l permits -x -d 'the number of permits of the semaphore'

complete -c quorum-lock -n '__quorum_lock_verb release' -l token -x -d 'the token that acquire printed'
complete -c quorum-lock -n '__quorum_lock_verb release' -l permits -x -d 'the number of permits of the semaphore'

complete -c quorum-lock -n '__quorum_lock_verb inspect' -l permits -x -d 'the number of permits of the semaphore'

complete -c quorum-lock -n '__quorum_lock_verb list' -l watch -d 'list again every second'
complete -c quorum-lock -n '__quorum_lock_verb list' -l limit -x -d 'how many keys of each node to go through'

complete -c quorum-lock -n '__quorum_lock_verb top' -l limit -x -d 'how many keys of each node to go through'

complete -c quorum-lock -n '__quorum_lock_verb break' -l yes -d 'do not ask'
complete -c quorum-lock -n '__quorum_lock_verb break' -l holder -x -d 'only what this one holds'
complete -c quorum-lock -n '__quorum_lock_verb break' -l limit -x -d 'how many keys of each node to go through'
complete -c quorum-lock -n '__quorum_lock_verb break' -l delay -x -a '250ms 1s 10s 30s 2m' -d 'nobody can acquire it for this time'

complete -c quorum-lock -n '__quorum_lock_verb doctor' -l watch -d 'check again and again'
complete -c quorum-lock -n '__quorum_lock_verb doctor' -l interval -x -a '250ms 1s 10s 30s 2m' -d 'how long to wait between two checks'
complete -c quorum-lock -n '__quorum_lock_verb doctor' -l nagios -d 'one line for monitoring'

complete -c quorum-lock -n '__quorum_lock_verb bootstrap' -l after-loss -d 'the nodes seem new, but have lost their data'
complete -c quorum-lock -n '__quorum_lock_verb bootstrap' -l yes -d 'do not ask'

complete -c quorum-lock -n '__quorum_lock_verb bench' -l mode -x -a 'cycle handoff crowd' -d 'what to measure'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l in-flight -x -d 'locks in flight at once'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l nodes-count -x -a '1 3 5' -d 'how many of the nodes to use'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l duration -x -a '250ms 1s 10s 30s 2m' -d 'of one repetition'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l repetitions -x -d 'figures are medians of so many'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l async -d 'drive the asynchronous interface'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l blocking -d 'drive the blocking interface'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l peers -d 'compare with other Redlock clients'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l contenders -x -d 'processes or clients that want the lock'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l hold -x -a '250ms 1s 10s 30s 2m' -d 'how long each holds it'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l hand-overs -x -d 'how many in one repetition'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l reentry -d 'only contenders that ask again at once'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l drain -d 'only contenders that queue up together'
complete -c quorum-lock -n '__quorum_lock_verb bench' -l ports -x -d 'FIRST-LAST: where servers may listen'

complete -c quorum-lock -n '__quorum_lock_verb chaos' -l clients -x -d 'how many contenders'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l duration -x -a '250ms 1s 10s 30s 2m' -d 'how long to break things'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l faults -x -a '(__fish_append , kill pause partition clock restart slow role pieces evict name load)' -d 'what to break'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l seed -x -d 'repeats the schedule of the faults'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l ports -x -d 'FIRST-LAST: where servers may listen'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l html -r -F -d 'write a page that draws the leases'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l keep -x -a '(__fish_complete_directories)' -d 'leave the histories there'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l check -x -a '(__fish_complete_directories)' -d 'judge the histories of an earlier run'
complete -c quorum-lock -n '__quorum_lock_verb chaos' -l contender-command -x -d 'one more contender, of another client'

complete -c quorum-lock -n '__quorum_lock_verb elect' -l ttl -x -a '250ms 1s 10s 30s 2m' -d 'a leader that dies is replaced within this time'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l wait -x -a '0s 1s 10s 30s 2m forever' -d 'how long to wait for being elected'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l kill-after -x -a '250ms 1s 10s 30s 2m' -d 'longest time between SIGTERM and SIGKILL'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l observe -d 'only report the leader'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l metrics-file -r -F -d 'write metrics there'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l metrics-listen -x -a '127.0.0.1:9464' -d 'answer GET /metrics there'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l metrics-required -d 'do not run without the metrics listener'
complete -c quorum-lock -n '__quorum_lock_verb elect' -l status-listen -x -a '127.0.0.1:9464' -d 'answer there who holds the lock'
