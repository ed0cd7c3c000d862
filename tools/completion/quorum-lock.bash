# bash completion for quorum-lock
# shellcheck shell=bash

_quorum_lock() {
  local current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verbs="run acquire extend release inspect list top watch break doctor bootstrap members bench chaos elect"
  local values=" --nodes --config --local --quorum --password-file --cacert --cert --key --timeout
    --max-ttl --restart-guard --ttl --wait --token --max-hold --max-renewals --kill-after --mode
    --in-flight --nodes-count --duration --repetitions --clock-bound --orphan-ttl
    --clients --faults --seed --html --keep --check --ports --permits --owner --at-least --delay --name --limit
    --metrics-file --metrics-listen "
  local options="--nodes --config --local --quorum --name --password-file --cacert --cert --key --timeout
    --max-ttl --restart-guard --durable --clock-bound --json --quiet --verbose --help --version"
  local verb="" index word

  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    if [[ $word == -- && ($verb == run || $verb == elect) ]]; then
      # Behind the dashes is somebody else's command line.
      if declare -F _command_offset > /dev/null; then
        _command_offset $((index + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      fi
      return
    fi
    if [[ $word == -* ]]; then
      # The value of an option is no verb.
      [[ $values == *[[:space:]]"$word"[[:space:]]* ]] && ((index++))
    elif [[ -z $verb ]]; then
      verb=$word
    fi
  done

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
      mapfile -t COMPREPLY < <(compgen -W "kill pause partition clock restart slow role" -- "${current##*,}")
      # Keep the words before the last comma.
      [[ $current == *,* ]] && COMPREPLY=("${COMPREPLY[@]/#/${current%,*},}")
      return
      ;;
    --mode)
      mapfile -t COMPREPLY < <(compgen -W "cycle handoff cohort market" -- "$current")
      return
      ;;
    --metrics-listen)
      mapfile -t COMPREPLY < <(compgen -W "127.0.0.1:9464" -- "$current")
      return
      ;;
    --restart-guard)
      mapfile -t COMPREPLY < <(compgen -W "off 30s" -- "$current")
      return
      ;;
    --ttl | --wait | --timeout | --max-ttl | --clock-bound | --orphan-ttl | --max-hold | --kill-after | --at-least | --delay | --duration)
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
    run) options+=" --ttl --wait --max-hold --max-renewals --kill-after --fencing --orphan-ttl --shared --permits --owner --at-least --metrics-file --metrics-listen --" ;;
    elect) options+=" --ttl --wait --kill-after --observe --metrics-file --metrics-listen --" ;;
    acquire) options+=" --ttl --wait --fencing --orphan-ttl" ;;
    extend) options+=" --token --ttl" ;;
    release) options+=" --token" ;;
    inspect) options+=" --permits" ;;
    list) options+=" --watch --limit" ;;
    top) options+=" --limit" ;;
    break) options+=" --yes --delay" ;;
    chaos) options+=" --clients --duration --faults --seed --ports --html --keep --check --contender-command" ;;
    bench)
      options+=" --mode --in-flight --nodes-count --duration --repetitions --async --blocking --floor --guards"
      options+=" --contenders --hold --hand-overs --reentry --drain --ports"
      ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -z $verb ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$current")
  elif [[ $previous == members ]]; then
    mapfile -t COMPREPLY < <(compgen -W "show replace add remove" -- "$current")
  fi
}

complete -F _quorum_lock quorum-lock
