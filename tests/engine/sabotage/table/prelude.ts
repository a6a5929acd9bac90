/* Shell functions for the rows of the table, and what starts and stops firewalld on a host with a system of its own. */

export const prelude = `
set -e
f2b() { "$F2B" -c "$DIR/etc" "$@" >/dev/null; }
# fail2ban restores bans after it has answered.
again() { f2b restart "$JAIL"; restored; }
restored() {
  for time in $(seq 50); do
    if test "$("$F2B" -c "$DIR/etc" get "$JAIL" banned "$BAD")" = 1; then break; fi
    sleep 0.2
  done
  sleep 0.5
}
unrule() { iptables -w -D INPUT 1; }
nft_away() {
  nft -a list chain inet f2b-table f2b-chain | grep -F -- "$1" | sed 's/.*# handle //' |
    xargs -r -n1 nft delete rule inet f2b-table f2b-chain handle
}
fail_once() {
  echo "$(date '+%b %e %H:%M:%S') host sshd[$((RANDOM + 3000))]: Failed password for root from \${1:-203.0.113.61} port 4000 ssh2" >>"$LOG"
}
attack() {
  (while :; do for time in 1 2 3; do fail_once "\${1:-$BAD}"; done; sleep 2; done) >/dev/null 2>&1 &
  echo $! >"$DIR/attack"
}
# fail2ban reads the last lines.
end_attack() { kill "$(cat "$DIR/attack")"; sleep 3; }
# Takes questions and answers none, as a name server behind a broken network.
silent_resolver() {
  python3 -c 'import signal, socket
taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taken.bind(("127.0.0.53", 53))
signal.pause()' >/dev/null 2>&1 &
  echo $! >"$DIR/resolver"
  echo nameserver 127.0.0.53 >/etc/resolv.conf
}
end_silent_resolver() { kill "$(cat "$DIR/resolver")"; echo nameserver 127.0.0.1 >/etc/resolv.conf; }
forget_filter() {
  while "$F2B" -c "$DIR/etc" get "$JAIL" failregex | grep -q '\\[0\\]'; do f2b set "$JAIL" delfailregex 0; done
}
start_firewalld() {
  setsid firewalld --nofork >/run/firewalld.log 2>&1 </dev/null &
  for time in $(seq 150); do
    if firewall-cmd --state >/dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  cat /run/firewalld.log >&2
  return 1
}
stop_firewalld() {
  kill "$(cat /run/firewalld.pid)"
  while firewall-cmd --state >/dev/null 2>&1; do sleep 0.2; done
}
`

/** The attackers come by its default zone, which lets them reach the ports of the test. */
export const firewalldBegins = `
mkdir -p /run/dbus
dbus-daemon --system --fork
start_firewalld
for port in 8080 8082 2222; do firewall-cmd --permanent --add-port=$port/tcp; done >/dev/null
firewall-cmd --reload >/dev/null
`
