#!/bin/sh
# The program of the agent's image. Without words it enrols this host once, with what the environment says, and then works.
set -eu
opt=/opt/stockade-agent
agent="$opt/node --max-old-space-size=64 --max-semi-space-size=1 $opt/current/stockade-agent.mjs"
if [ $# -eq 0 ]; then
  if [ ! -e /etc/stockade-agent/agent.json ]; then
    if [ -z "${STOCKADE_BASE_URL:-}" ] || [ -z "${STOCKADE_TOKEN:-}" ]; then
      echo 'stockade: this host is not enrolled: set STOCKADE_BASE_URL and STOCKADE_TOKEN, and keep /etc/stockade-agent in a volume' >&2
      exit 2
    fi
    set -- enroll --base-url "$STOCKADE_BASE_URL"
    if [ -n "${STOCKADE_PIN:-}" ]; then set -- "$@" --pin "$STOCKADE_PIN"; fi
    if [ -n "${STOCKADE_CA:-}" ]; then set -- "$@" --ca "$STOCKADE_CA"; fi
    if [ -n "${STOCKADE_INSECURE_HTTP:-}" ]; then set -- "$@" --insecure-http; fi
    $agent "$@"
  fi
  # No command of the server may restart what only the container's engine can.
  set -- run --service client
fi
unset STOCKADE_TOKEN
case $1 in
  # Python opens the netlink socket and becomes Node.
  run | shield*) exec python3 -I "$opt/current/stockade_launcher.py" $agent "$@" ;;
esac
exec $agent "$@"
