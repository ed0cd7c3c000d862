# bash completion for quorum-lock
# shellcheck shell=bash

_quorum_lock() {
  local verbs="run acquire extend downgrade release inspect list top watch break doctor bootstrap members bench chaos elect config help"
  local values=" --nodes --config --local --quorum --name --user --password-file --cacert --cert --key --server-name --timeout
    --connect-timeout --max-ttl --restart-guard --clock-bound --prefix --log-level --ttl --wait --token --max-hold --max-renewals --kill-after
    --orphan-ttl --permits --owner --at-least --conflict-exit-code --adopt --fencing-token --delay --holder --metrics-file --metrics-listen --status-listen --limit --interval --mode --in-flight
    --nodes-count --duration --repetitions --contenders --hold --hand-overs --clients --faults --seed
    --html --keep --check --ports --contender-command "
  local options="--nodes --config --local --quorum --name --user --password-file --cacert --cert --key --server-name --timeout
    --connect-timeout --max-ttl --restart-guard --durable --clock-bound --prefix --json --quiet --verbose --log-level --help --version"
  local verb="" operands=0 command=0 index word glued=0
  # Bash splits words at = and :, which are glued here; where each begins in COMP_WORDS.
  local -a words=() begins=()

  COMPREPLY=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if ((index > 0)) && [[ $word == [:=]* || $glued == 1 ]]; then
      words[-1]+=$word
      glued=$([[ $word == [:=]* ]] && echo 1 || echo 0)
    else
      words+=("$word")
      begins+=("$index")
    fi
  done
  local last=$((${#words[@]} - 1))
  local current=${COMP_WORDS[COMP_CWORD]} previous=""
  [[ $current == [:=]* ]] && current=""
  if [[ ${words[last]} == --*=* ]]; then
    previous=${words[last]%%=*}
  elif ((last > 0)); then
    previous=${words[last - 1]}
  fi

  for ((index = 1; index < last; index++)); do
    word=${words[index]}
    if [[ $word == -- && ($verb == run || $verb == elect) ]]; then
      command=$((index + 1))
      break
    elif [[ $word == -?* ]]; then
      # The value of an option is no verb.
      [[ $values == *[[:space:]]"$word"[[:space:]]* ]] && ((index++))
    elif [[ -z $verb ]]; then
      verb=$word
    else
      ((operands++))
      # The second one begins the command, unless dashes follow.
      [[ $verb == run || $verb == elect ]] && ((operands == 2)) && command=$index
    fi
  done
  # The word that is being written may be the first one of the command.
  if ((command == 0 && operands == 1 && index == last)) && [[ $current != -* ]]; then
    [[ $verb == run || $verb == elect ]] && command=$last
  fi
  if ((command > 0)); then
    # From here on it is somebody else's command line.
    if declare -F _command_offset > /dev/null; then
      _command_offset "${begins[command]}"
    else
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
    fi
    return
  fi

  case $previous in
    --config | --password-file | --cacert | --cert | --key | --html | --metrics-file)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2> /dev/null
      return
      ;;
    --keep | --check)
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      compopt -o filenames 2> /dev/null
      return
      ;;
    --faults)
      mapfile -t COMPREPLY < <(compgen -W "kill pause partition clock restart slow role pieces evict name load" -- "${current##*,}")
      # Keep the words before the last comma.
      [[ $current == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/${current%,*},}")
      return
      ;;
    --mode)
      mapfile -t COMPREPLY < <(compgen -W "cycle handoff crowd" -- "$current")
      return
      ;;
    --log-level)
      mapfile -t COMPREPLY < <(compgen -W "debug info warning" -- "$current")
      return
      ;;
    --metrics-listen | --status-listen)
      mapfile -t COMPREPLY < <(compgen -W "127.0.0.1:9464" -- "$current")
      return
      ;;
    --restart-guard)
      mapfile -t COMPREPLY < <(compgen -W "off 30s" -- "$current")
      return
      ;;
    --wait)
      mapfile -t COMPREPLY < <(compgen -W "0s 1s 10s 30s 2m forever" -- "$current")
      return
      ;;
    --ttl | --timeout | --connect-timeout | --max-ttl | --clock-bound | --orphan-ttl | --max-hold | --kill-after | --at-least | --delay | --duration | --hold | --interval)
      mapfile -t COMPREPLY < <(compgen -W "250ms 1s 10s 30s 2m" -- "$current")
      return
      ;;
    --local | --nodes-count)
      mapfile -t COMPREPLY < <(compgen -W "1 3 5" -- "$current")
      return
      ;;
  esac
  [[ $values == *[[:space:]]"$previous"[[:space:]]* ]] && return

  case $verb in
    run) options+=" --ttl --wait --conflict-exit-code --max-hold --max-renewals --kill-after --fencing --orphan-ttl --shared --permits --owner --at-least --adopt --fencing-token --metrics-file --metrics-listen --metrics-required --status-listen --" ;;
    elect) options+=" --ttl --wait --kill-after --observe --metrics-file --metrics-listen --metrics-required --status-listen --" ;;
    acquire) options+=" --ttl --wait --conflict-exit-code --fencing --orphan-ttl --shared --permits --owner --at-least" ;;
    extend) options+=" --token --ttl --permits" ;;
    downgrade) options+=" --token" ;;
    release) options+=" --token --permits" ;;
    inspect) options+=" --permits" ;;
    list) options+=" --watch --limit" ;;
    top) options+=" --limit" ;;
    break) options+=" --yes --holder --delay --limit" ;;
    doctor) options+=" --watch --interval --nagios" ;;
    bootstrap) options+=" --after-loss --yes" ;;
    chaos) options+=" --clients --duration --faults --seed --ports --html --keep --check --contender-command" ;;
    bench)
      options+=" --mode --in-flight --nodes-count --duration --repetitions --async --blocking --peers"
      options+=" --contenders --hold --hand-overs --reentry --drain --ports"
      ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -z $verb ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
  elif [[ $previous == members ]]; then
    mapfile -t COMPREPLY < <(compgen -W "show replace add remove" -- "$current")
  elif [[ $previous == config ]]; then
    mapfile -t COMPREPLY < <(compgen -W "check" -- "$current")
  elif [[ $previous == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "options $verbs" -- "$current")
  fi
}

complete -F _quorum_lock quorum-lock
