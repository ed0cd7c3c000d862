# bash completion for quorum-lock, which knows the answers itself: quorum-lock __complete WORD...
# shellcheck shell=bash

_quorum_lock() {
  local index word line glued=0
  # Bash splits words at = and :, which are glued here; where each begins in COMP_WORDS.
  local -a words=() begins=() answer=()

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
  local current=${COMP_WORDS[COMP_CWORD]}
  [[ $current == [:=]* ]] && current=""

  mapfile -t answer < <("$1" __complete "${words[@]:1}" 2> /dev/null)
  case ${answer[0]} in
    files | folders)
      mapfile -t COMPREPLY < <(compgen "$([[ ${answer[0]} == files ]] && echo -f || echo -d)" -- "$current")
      compopt -o filenames 2> /dev/null
      ;;
    command*)
      # From here on it is somebody else's command line.
      if declare -F _command_offset > /dev/null; then
        _command_offset "${begins[${answer[0]#command } + 1]}"
      else
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      fi
      ;;
    words)
      for line in "${answer[@]:1}"; do
        word=${line%%$'\t'*}
        # What stands before the part that bash completes.
        [[ ${words[-1]} == *"$current" ]] && word=${word#"${words[-1]%"$current"}"}
        COMPREPLY+=("$word")
      done
      ;;
  esac
}

complete -F _quorum_lock quorum-lock
