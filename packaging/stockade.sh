#!/bin/sh
# Runs the server (`stockade serve`) or its command line from a release. See docs/guides/install.md.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
node="$root/bin/node"
programs="$root/lib/server/dist/bundle"

# glibc keeps an arena of freed memory for each thread: one for all of them saves 10 to 30 MB.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"

case "$*" in
  serve)
    # With a bound below what the machine has, V8 lets the heap grow in smaller steps: 50 to 80 MB less after a storm of bans.
    heap="${STOCKADE_HEAP_MB:-1024}"
    case "$heap" in
      *[!0-9]* | ? | ?? | ???????*)
        echo "stockade: STOCKADE_HEAP_MB must be megabytes from 100 to 999999, not \"$heap\"." >&2
        exit 1
        ;;
    esac
    exec "$node" --max-semi-space-size=4 --max-old-space-size="$heap" "$programs/server/src/main.js"
    ;;
  wait-ready) exec "$node" "$root/lib/wait-ready.mjs" ;;
esac

# What works on the storage of the server takes the settings and, as root, the user of the service.
export STOCKADE_SETTINGS="${STOCKADE_SETTINGS:-/etc/stockade/stockade.env}"
exec "$node" --max-semi-space-size=4 "$programs/server/src/admin/main.js" "$@"
