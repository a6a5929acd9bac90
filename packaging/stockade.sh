#!/bin/sh
# Runs the server (`stockade serve`) or its command line from a release. See docs/guides/install.md.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
node="$root/bin/node"
programs="$root/lib/server/dist/bundle"
settings=${STOCKADE_SETTINGS:-/etc/stockade/stockade.env}

# glibc keeps an arena of freed memory for each thread: one for all of them saves 10 to 30 MB.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"

# A relative file name of the caller is found there.
export STOCKADE_CALLED_FROM="${STOCKADE_CALLED_FROM:-$PWD}"

# What works on the server's storage runs as the user of the service and with its settings: files that root made there could not be
# opened by the service.
on_storage() {
  if [ "$(id -u)" = 0 ] && [ -f "$settings" ] && id stockade >/dev/null 2>&1; then
    cd "$root"
    exec setpriv --reuid stockade --regid stockade --init-groups --inh-caps=-all -- \
      "$node" --max-semi-space-size=4 --env-file="$settings" "$programs/server/src/admin/main.js" "$@"
  fi
  if [ -r "$settings" ]; then exec "$node" --max-semi-space-size=4 --env-file="$settings" "$programs/server/src/admin/main.js" "$@"; fi
  folder=$(dirname "$settings")
  if [ -f "$settings" ] || { [ -d "$folder" ] && [ ! -x "$folder" ]; }; then
    echo "stockade: $settings can't be read by this user. Run it with sudo." >&2
    exit 1
  fi
  exec "$node" --max-semi-space-size=4 "$programs/server/src/admin/main.js" "$@"
}

case "${1-}" in
  serve)
    shift
    # With a bound below what the machine has, V8 lets the heap grow in smaller steps: 50 to 80 MB less after a storm of bans.
    heap="${STOCKADE_HEAP_MB:-1024}"
    case "$heap" in
      *[!0-9]* | ? | ?? | ???????*)
        echo "stockade: STOCKADE_HEAP_MB must be megabytes from 100 to 999999, not \"$heap\"." >&2
        exit 1
        ;;
    esac
    exec "$node" --max-semi-space-size=4 --max-old-space-size="$heap" "$programs/server/src/main.js" "$@"
    ;;
  wait-ready) exec "$node" "$root/lib/wait-ready.mjs" ;;
  admin | audit | doctor | geoip | backup | restore) on_storage "$@" ;;
  license)
    case "${2-}" in keygen | issue) on_storage "$@" ;; esac
    exec "$node" "$programs/cli/src/main.js" "$@"
    ;;
  *) exec "$node" "$programs/cli/src/main.js" "$@" ;;
esac
