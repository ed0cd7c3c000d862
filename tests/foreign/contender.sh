#!/bin/sh
# The smallest contender for `quorum-lock chaos --contender-command tests/foreign/contender.sh`: takes one
# lease after the other with the tool itself, and leaves the counters alone. An example of the contract
# in tools/docs/CLI.md, and the replacement of one in its test. quorum-lock must be in PATH.
set -eu

# /proc/uptime has the clock of the histories, rounded down to 10 ms.
now() {
  read -r up rest </proc/uptime
  echo "${up%.*}${up#*.}"
}
record() { echo "$@" >>"$QUORUM_LOCK_CHAOS_HISTORY"; }
to_ns=0000000
lease=0

hold_once() { # resource
  asked=$(now)
  if ! token=$(quorum-lock acquire "$1" --quiet --ttl 500ms --max-ttl "${QUORUM_LOCK_CHAOS_MAX_TTL_MS}ms"); then
    record failed "$1" "$asked$to_ns" "$(now)$to_ns" held
    return 1
  fi
  lease=$((lease + 1))
  # Times are rounded so that the recorded lease is shorter than the real one. The hold is longer
  # than the rounding.
  record granted $lease "$1" "$asked$to_ns" "$(($(now) + 1))$to_ns" "$((asked + 49))$to_ns" 500000000 0
  record token $lease "$token"
  sleep 0.05
  record ended $lease "$(now)$to_ns" released
  quorum-lock release "$1" --token "$token" --quiet --max-ttl "${QUORUM_LOCK_CHAOS_MAX_TTL_MS}ms" >/dev/null 2>&1 || true
}

resources=$(echo "$QUORUM_LOCK_CHAOS_RESOURCES" | tr , ' ')
while [ ! -e "$QUORUM_LOCK_CHAOS_HEALED" ]; do
  for resource in $resources; do
    hold_once "$resource" || sleep 0.01
  done
done
for resource in $resources; do
  until hold_once "$resource"; do sleep 0.01; done
done
