#!/bin/bash
# fail2ban 0.11.2 (Debian 11): a Python action that has all abstract methods of ActionBase, and no more, works until a banned
# address is banned again. Then `set JAIL banip` answers "object has no attribute 'consistencyCheck'", and the addresses that
# come after it in the same order are not banned. ActionBase neither declares nor documents the method. 1.0.2 and 1.1.0 ask first
# whether an action has it, and answer 1 for the new address.
#
# Seen: 0.11.2-2: NOK: ("'Plain' object has no attribute 'consistencyCheck'",); the new address is not banned.
#       1.1.0-8: 1; the new address is banned.
#
# Needs Debian with apt, dpkg-deb and python3 (3.11 or newer), and no root. Fails where this changes.
set -euo pipefail
work=$(mktemp -d); trap '[ -n "${pid:-}" ] && kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
mirror=$(apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI)' | grep -E '/debian/?$' | head -1)
mkdir -p "$work"/apt/{lists,cache/archives}/partial
printf 'Types: deb\nURIs: %s\nSuites: bullseye trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
  "$mirror" > "$work/apt/debian.sources"
apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/apt/debian.sources" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o APT::Sandbox::User="$(id -un)")
"${apt[@]}" update > /dev/null

unpack() { # directory, packages
  mkdir -p "$1/debs"; (cd "$1/debs"; "${apt[@]}" download "${@:2}" > /dev/null)
  for deb in "$1"/debs/*.deb; do dpkg-deb -x "$deb" "$1"; done
}
unpack "$work/old" fail2ban=0.11.2-2 python3.9-minimal/bullseye libpython3.9-minimal/bullseye libpython3.9-stdlib/bullseye
unpack "$work/new" fail2ban=1.1.0-8
touch "$work/log"
cat > "$work/plain.py" <<'PY'
from fail2ban.server.action import ActionBase

class Plain(ActionBase):
    def start(self): pass
    def stop(self): pass
    def ban(self, info): pass
    def unban(self, info): pass

Action = Plain
PY

try() { # name, python
  local name=$1 python=$2 root="$work/$1" dir="$work/run-$1"
  mkdir -p "$dir"
  export PYTHONPATH="$root/usr/lib/python3/dist-packages"
  local client=("$python" "$root/usr/bin/fail2ban-client" -s "$dir/sock" -p "$dir/pid")
  "$python" "$root/usr/bin/fail2ban-server" -s "$dir/sock" -p "$dir/pid" --async -f \
    --logtarget "$dir/log" > "$dir/out" 2>&1 & pid=$!
  for _ in $(seq 100); do "${client[@]}" ping > /dev/null 2>&1 && break; sleep 0.1; done
  "${client[@]}" add jail polling > /dev/null
  "${client[@]}" set jail addaction plain "$work/plain.py" '{}' > /dev/null
  "${client[@]}" start jail > /dev/null
  "${client[@]}" set jail banip 192.0.2.1 > /dev/null
  sleep 5 # only a ban that is older than three seconds is looked at
  echo "$name: $("${client[@]}" -V | head -1)"
  answer=$("${client[@]}" set jail banip 192.0.2.1 192.0.2.2 2>&1 || true)
  banned=$("${client[@]}" status jail | sed -n 's/.*Banned IP list:\s*//p')
  echo "$name: banip answers: ${answer##*ERROR   }"
  echo "$name: banned: $banned"
  kill "$pid"; wait "$pid" 2>/dev/null || true; pid=
}
try old "$work/old/usr/bin/python3.9"
[[ $answer == *"'Plain' object has no attribute 'consistencyCheck'"* && $banned != *192.0.2.2* ]] || { echo CHANGED; exit 1; }
try new python3
[[ $answer == 1 && $banned == *192.0.2.2* ]] || { echo CHANGED; exit 1; }
echo "as described"
