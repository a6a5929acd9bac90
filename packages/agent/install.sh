#!/bin/sh
# Installs, upgrades or removes the Stockade agent on a host that runs fail2ban.
#
#   curl -fsSL @@BASE_URL@@/install.sh | sudo sh -s -- --token TOKEN
#   ... | sudo sh -s -- --upgrade
#   ... | sudo sh -s -- --uninstall [--purge]
#
# Options
#   --insecure-http       accept plain http to another machine: anybody on the way could then command this host
#   --pin sha256//...     the server's public key; replaces the check by a certificate authority
#   --proxy URL           an HTTP proxy to the server, http://[USER:PASSWORD@]HOST:PORT; without it http_proxy, https_proxy and no_proxy count
#   --ca FILE             a private certificate authority, PEM; one in the system's store needs no option
#   --release-key FILE    install only what this key signed (ECDSA P-256, PEM); kept for later upgrades
#   --backfill            also report the bans from before, as far as fail2ban's database reaches back
#   --allow-unsigned      take upgrades from a server whose releases nobody signed, as one built from source
#   --allow-downgrade     accept an older release than the installed one
#
# The token may also come as STOCKADE_TOKEN, or with --token-stdin from standard input (when the script is a file).
# Everything is in one function that the last line calls, so a download that was cut off runs nothing.

stockade_install() {
  set -eu
  umask 022

  base_url='@@BASE_URL@@'
  opt=/opt/stockade-agent
  etc=/etc/stockade-agent
  lib=/var/lib/stockade-agent
  token=${STOCKADE_TOKEN:-}
  unset STOCKADE_TOKEN
  mode=install
  purge=no
  start=yes
  packages=yes
  insecure=no
  pin=
  ca=
  release_key=
  downgrade=no
  unsigned=no
  backfill=no
  proxy=

  say() { printf '%s\n' "$*"; }
  stop() {
    printf 'stockade: %s\n' "$*" >&2
    exit 1
  }
  have() { command -v "$1" >/dev/null 2>&1; }
  # The whole URL: a name that begins like loopback, or stands before an @, leads elsewhere. Agent and server judge by the same names.
  is_loopback() {
    [ "$(printf '%s\n' "$1" | wc -l)" -eq 1 ] &&
      printf '%s\n' "$1" | grep -Eiq '^http://(localhost|([a-z0-9-]+\.)+localhost|127\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}|\[::1\])(:[0-9]{1,5})?(/[^\]*)?$'
  }

  while [ $# -gt 0 ]; do
    case $1 in
      --token)
        [ $# -ge 2 ] || stop "--token needs a value"
        token=$2
        shift
        ;;
      --token=*) token=${1#--token=} ;;
      --token-stdin) IFS= read -r token || true ;;
      --base-url)
        [ $# -ge 2 ] || stop "--base-url needs a value"
        base_url=$2
        shift
        ;;
      --insecure-http) insecure=yes ;;
      --pin)
        [ $# -ge 2 ] || stop "--pin needs a value"
        pin=$2
        shift
        ;;
      --proxy)
        [ $# -ge 2 ] || stop "--proxy needs a URL"
        proxy=$2
        shift
        ;;
      --ca)
        [ $# -ge 2 ] || stop "--ca needs a file"
        ca=$2
        shift
        ;;
      --release-key)
        [ $# -ge 2 ] || stop "--release-key needs a file"
        release_key=$2
        shift
        ;;
      --allow-unsigned) unsigned=yes ;;
      --allow-downgrade) downgrade=yes ;;
      --backfill) backfill=yes ;;
      --upgrade) mode=upgrade ;;
      --uninstall) mode=uninstall ;;
      --purge) purge=yes ;;
      --no-start) start=no ;;
      --no-packages) packages=no ;;
      *) stop "unknown option $1" ;;
    esac
    shift
  done

  [ "$(id -u)" = 0 ] || stop "this needs root: run it with sudo, or as root without it"
  [ "$(uname -s)" = Linux ] || stop "the agent runs on Linux"
  case $base_url in
    http://* | https://*) base_url=${base_url%/} ;;
    *) stop "the base URL is not set: use --base-url https://your-server" ;;
  esac
  if [ "$mode" != uninstall ]; then
    case $base_url in
      https://*) ;;
      *)
        [ "$insecure" = yes ] || is_loopback "$base_url" ||
          stop "$base_url is plain http: anybody on the way could change what is installed here as root. Use https, or give --insecure-http to accept that"
        ;;
    esac
    case $pin in
      '') ;;
      sha256//*)
        case $base_url in
          https://*) ;;
          *) stop "--pin needs an https base URL" ;;
        esac
        ;;
      *) stop "--pin has the form sha256//BASE64=" ;;
    esac
    case $proxy in
      '') ;;
      none) unset http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY ;;
      http://*)
        # By the environment and not as an option, which every user of the host could read.
        http_proxy=$proxy
        https_proxy=$proxy
        export http_proxy https_proxy
        unset no_proxy NO_PROXY
        ;;
      *) stop "--proxy has the form http://[USER:PASSWORD@]HOST:PORT" ;;
    esac
    [ -z "$release_key" ] || [ -r "$release_key" ] || stop "the release key $release_key cannot be read"
    [ -z "$ca" ] || [ -r "$ca" ] || stop "the certificate authority $ca cannot be read"
  fi

  init=none
  if [ -d /run/systemd/system ]; then
    init=systemd
  elif have rc-service && have rc-update; then
    init=openrc
  fi

  # fetch URL FILE: fails on any status but 200, and leaves no half file.
  fetch() {
    rm -f "$2"
    if have curl; then
      # A redirect from https to http would undo the protection.
      protocols='=http,https'
      case $1 in https://*) protocols='=https' ;; esac
      set -- "$1" "$2" -fsSL --proto "$protocols" --retry 2 --connect-timeout 15
      [ -z "$pin" ] || set -- "$@" -k --pinnedpubkey "$pin"
      [ -z "$ca" ] || set -- "$@" --cacert "$ca"
      fetch_url=$1
      fetch_file=$2
      shift 2
      curl "$@" -o "$fetch_file" "$fetch_url" || { rm -f "$fetch_file"; return 1; }
    elif [ -n "$pin" ]; then
      stop "--pin needs curl, which is not here"
    elif have wget; then
      set -- "$1" "$2" ${ca:+"--ca-certificate=$ca"}
      wget -q -T 30 ${3:+"$3"} -O "$2" "$1" || { rm -f "$2"; return 1; }
    else
      stop "neither curl nor wget is here"
    fi
  }

  # signed_by KEY: whether that key signed the manifest in $work. openssl says it, or a Node that was here before.
  signed_by() {
    if have openssl; then
      openssl dgst -sha256 -verify "$1" -signature "$work/MANIFEST.sig" "$work/MANIFEST" >/dev/null 2>&1
    elif find_node; then
      "$node" -e 'const [k, s, m] = process.argv.slice(1).map(f => require("fs").readFileSync(f)); process.exit(require("crypto").verify("sha256", m, k, s) ? 0 : 1)' \
        "$1" "$work/MANIFEST.sig" "$work/MANIFEST" 2>/dev/null
    else
      stop "a signature cannot be checked here: install openssl"
    fi
  }

  # verify_release: the manifest of the server, signed by one of the keys that this host trusts. Needs $work.
  verify_release() {
    fetch "$base_url/agent/MANIFEST" "$work/MANIFEST" && fetch "$base_url/agent/MANIFEST.sig" "$work/MANIFEST.sig" ||
      stop "this host installs signed releases only, and $base_url has no signed manifest; nothing was changed"
    awk -v dir="$work" '/-----BEGIN PUBLIC KEY-----/ { n++ } n { print > (dir "/key" n ".pem") }' "$trusted"
    signed=no
    for key in "$work"/key*.pem; do
      if [ -f "$key" ] && signed_by "$key"; then signed=yes; fi
    done
    [ "$signed" = yes ] || stop "the manifest is not signed by a release key that this host trusts; nothing was changed"
    [ "$(head -n 1 "$work/MANIFEST")" = 'stockade-release 1' ] || stop "the manifest is of another format; nothing was changed"
    offered=$(sed -n 's/^version \([0-9][0-9A-Za-z.-]*\)$/\1/p' "$work/MANIFEST")
    running=$(readlink "$opt/current" 2>/dev/null | sed 's,^releases/,,; s,-[0-9a-f]\{8\}$,,' || true)
    [ -n "$offered" ] || stop "the manifest names no version; nothing was changed"
    if [ "$downgrade" = no ] && [ -n "$running" ] && [ "$offered" != "$running" ] &&
      [ "$(printf '%s\n%s\n' "$offered" "$running" | sort -V | head -n 1)" = "$offered" ]; then
      stop "release $offered is older than $running, which is installed; --allow-downgrade accepts that"
    fi
  }

  # wanted_of URL FILE: the digest that FILE must have, from the signed manifest or else from beside the file.
  wanted_of() {
    if [ -n "$trusted" ]; then
      sed -n "s/^sha256 \([0-9a-f]\{64\}\) $(basename "$1" | sed 's/[.]/\\./g')\$/\1/p" "$work/MANIFEST" | head -n 1
    else
      fetch "$1.sha256" "$2.sha256" || return 1
      cut -d' ' -f1 <"$2.sha256" | head -n 1
      rm -f "$2.sha256"
    fi
  }

  # checked URL FILE: fetches the file and compares it with its digest.
  checked() {
    fetch "$1" "$2" || return 1
    wanted=$(wanted_of "$1" "$2") || return 1
    got=$(sha256sum "$2" | cut -d' ' -f1)
    if [ -z "$wanted" ] || [ "$wanted" != "$got" ]; then
      rm -f "$2"
      stop "$1 does not match its checksum; nothing was installed from it"
    fi
  }

  new_enough() {
    [ -x "$1" ] || return 1
    "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 18 || (a === 18 && b >= 15) ? 0 : 1)' 2>/dev/null
  }

  find_node() {
    node=
    for candidate in "$opt/node" "$(command -v node || true)" /usr/bin/node /usr/local/bin/node; do
      if [ -n "$candidate" ] && new_enough "$candidate"; then
        node=$candidate
        return 0
      fi
    done
    return 1
  }

  service() {
    case $init in
      systemd) systemctl "$1" stockade-agent ;;
      openrc) rc-service stockade-agent "$1" ;;
    esac
  }

  # fit NAME LINE...: adds a drop-in to fail2ban's configuration. Removing the agent leaves it, since fail2ban needs it.
  fit() {
    drop_in=/etc/fail2ban/jail.d/zz-stockade-20-$1.local
    shift
    mkdir -p /etc/fail2ban/jail.d
    printf '%s\n' '# stockade: managed, do not edit' "$@" >"$drop_in"
    fitted=yes
  }

  # Two faults of a fresh installation leave a host unprotected while fail2ban reports bans. Repairs them, and nothing else.
  fit_fail2ban() {
    have fail2ban-client || return 0
    fitted=no
    # Debian 12 without rsyslog has no auth.log, and the stock sshd jail then stops the whole daemon.
    if fail2ban-client -t 2>&1 | grep -q 'any log file for sshd jail' && [ -d /run/systemd/system ]; then
      say "fail2ban finds no log of sshd: it reads the journal from now on"
      fit backend '[sshd]' 'backend = systemd'
    fi
    # fail2ban's default action calls iptables, which is not installed together with fail2ban everywhere.
    if ! have iptables && have nft && fail2ban-client -d 2>/dev/null | grep -q "'addaction', 'iptables"; then
      say "iptables is not installed, so fail2ban's bans reach no firewall: it uses nftables from now on"
      fit banaction '[DEFAULT]' 'banaction = nftables-multiport' 'banaction_allports = nftables-allports'
      if fail2ban-client -d 2>/dev/null | grep -q "'addaction', 'iptables"; then
        say "Some jails name iptables actions of their own: their bans reach no firewall until iptables is installed"
      fi
    fi
    [ "$fitted" = yes ] || return 0
    case $init in
      systemd) systemctl restart fail2ban || true ;;
      openrc) rc-service fail2ban restart || true ;;
      none) fail2ban-client reload >/dev/null 2>&1 || true ;;
    esac
  }

  # Waits until the server has answered the agent that runs now.
  answers() {
    left=20
    while [ "$left" -gt 0 ]; do
      if "$opt/stockade-agent" alive 2>/dev/null; then
        return 0
      fi
      sleep 1
      left=$((left - 1))
    done
    return 1
  }

  if [ "$mode" = uninstall ]; then
    if [ "$init" != none ]; then
      service stop 2>/dev/null || true
    fi
    if [ -x "$opt/stockade-agent" ]; then
      if [ "$purge" = yes ]; then
        "$opt/stockade-agent" clean --purge || true
      else
        "$opt/stockade-agent" clean || true
      fi
    fi
    if [ "$init" = systemd ]; then
      systemctl disable stockade-agent stockade-knock stockade-shield stockade-agent-upgrade 2>/dev/null || true
      for unit in agent knock shield agent-upgrade; do
        rm -f "/etc/systemd/system/stockade-$unit.service"
      done
      systemctl daemon-reload || true
    elif [ "$init" = openrc ]; then
      rc-update del stockade-agent default 2>/dev/null || true
      rm -f /etc/init.d/stockade-agent
    fi
    rm -rf "$opt" /run/stockade-agent
    if [ "$purge" = yes ]; then
      rm -rf "$etc" "$lib"
      say "The agent, its key and its state are removed. fail2ban and its bans stay."
    else
      say "The agent is removed. Its key and state are kept in $etc and $lib (--purge removes them)."
    fi
    return 0
  fi

  if [ "$mode" = upgrade ] && [ ! -f "$etc/agent.json" ]; then
    stop "no agent is installed here; install one with --token"
  fi
  if [ "$mode" = install ] && [ -z "$token" ] && [ ! -f "$etc/agent.json" ]; then
    stop "the token is missing: copy the whole command from the server's page"
  fi

  if [ "$packages" = yes ] && [ "$mode" = install ]; then
    if ! have fail2ban-server || ! have nft; then
      say "Installing fail2ban and nftables"
      if have apt-get; then
        DEBIAN_FRONTEND=noninteractive apt-get update -qq || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq fail2ban nftables python3-systemd
      elif have dnf; then
        dnf -q -y install epel-release || true
        dnf -q -y install fail2ban-server fail2ban-systemd nftables
        systemctl enable --now fail2ban || true
      elif have apk; then
        apk add -q fail2ban nftables
        rc-update add fail2ban default 2>/dev/null || true
        rc-service fail2ban start || true
      else
        stop "install fail2ban and nftables first: no apt-get, dnf or apk is here"
      fi
    fi
  fi
  have fail2ban-server || stop "fail2ban is not installed"
  fit_fail2ban

  mkdir -p "$opt/releases"
  work=$(mktemp -d "$opt/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT INT TERM

  trusted=$release_key
  if [ -z "$trusted" ] && [ -f "$etc/release-keys.pem" ]; then trusted=$etc/release-keys.pem; fi
  # At its first installation a host that was given no key trusts the server, whose script this is. From then on this key decides.
  if [ -z "$trusted" ] && [ "$unsigned" = no ] &&
    fetch "$base_url/agent/release-keys.pem" "$work/offered-keys.pem" 2>/dev/null; then
    release_key=$work/offered-keys.pem
    trusted=$release_key
  fi
  [ -z "$trusted" ] || verify_release

  if ! find_node && [ "$packages" = yes ]; then
    say "Installing Node.js from the distribution"
    if have apt-get; then
      DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs >/dev/null 2>&1 || true
    elif have dnf; then
      dnf -q -y module enable nodejs:20 >/dev/null 2>&1 || true
      dnf -q -y install nodejs >/dev/null 2>&1 || true
    elif have apk; then
      apk add -q nodejs || true
    fi
  fi
  if ! find_node; then
    case $(uname -m) in
      x86_64 | amd64) arch=x64 ;;
      aarch64 | arm64) arch=arm64 ;;
      *) stop "there is no Node.js 18.15 or newer here and none to fetch for $(uname -m)" ;;
    esac
    say "Fetching Node.js from the server"
    checked "$base_url/agent/node-linux-$arch.gz" "$work/node.gz" ||
      stop "there is no Node.js 18.15 or newer here and the server has none for $arch: install nodejs and run this again"
    gzip -dc "$work/node.gz" >"$work/node"
    chmod 755 "$work/node"
    new_enough "$work/node" || stop "the server's Node.js does not run on this host (it needs glibc): install nodejs and run this again"
    mv -f "$work/node" "$opt/node"
    node=$opt/node
  fi

  say "Fetching the agent"
  checked "$base_url/agent/stockade-agent.mjs" "$work/stockade-agent.mjs" || stop "the agent cannot be fetched from $base_url"
  version=$("$node" "$work/stockade-agent.mjs" --version) || stop "the agent does not run with $node"
  case $version in
    '' | *[!0-9A-Za-z.+-]*) stop "the agent names no version" ;;
  esac
  release_name=$version-$(sha256sum "$work/stockade-agent.mjs" | cut -c1-8)
  release=$opt/releases/$release_name
  mkdir -p "$release"
  mv -f "$work/stockade-agent.mjs" "$release/stockade-agent.mjs"
  chmod 755 "$release/stockade-agent.mjs"
  "$node" "$release/stockade-agent.mjs" action >"$work/stockade_action.py"
  mv -f "$work/stockade_action.py" "$release/stockade_action.py"
  "$node" "$release/stockade-agent.mjs" launcher >"$work/stockade_launcher.py"
  mv -f "$work/stockade_launcher.py" "$release/stockade_launcher.py"

  if [ -n "$release_key" ]; then
    mkdir -p "$etc"
    chmod 700 "$etc"
    cp "$release_key" "$work/release-keys.pem"
    chmod 644 "$work/release-keys.pem"
    mv -f "$work/release-keys.pem" "$etc/release-keys.pem"
  fi

  before=$(readlink "$opt/current" 2>/dev/null || true)
  # fail2ban's interpreter, which is there as long as fail2ban is.
  python=$(sed -n '1s/^#! *\([^ ]*python[^ ]*\).*$/\1/p' "$(command -v fail2ban-server)")
  [ -x "$python" ] || python=$(command -v python3 || true)
  # Python opens the netlink socket and becomes Node.js. If Python or the capability is missing, Node.js starts without it.
  cat >"$work/stockade-agent" <<EOF
#!/bin/sh
program='$opt/current/stockade-agent.mjs'
# During an upgrade the release before judges the new one.
if [ "\${1:-}" = upgrade ] && [ -e '$opt/upgrading/stockade-agent.mjs' ]; then program='$opt/upgrading/stockade-agent.mjs'; fi
set -- '$node' --max-old-space-size=64 --max-semi-space-size=1 "\$program" "\$@"
launcher='$opt/current/stockade_launcher.py'
case "\${5:-}" in
  run | shield*)
    if [ -f "\$launcher" ] && '$python' -I -c '' 2>/dev/null; then
      exec '$python' -I "\$launcher" "\$@"
    fi
    ;;
esac
exec "\$@"
EOF
  chmod 755 "$work/stockade-agent"
  mv -f "$work/stockade-agent" "$opt/stockade-agent"
  switch_to() {
    ln -sfn "$1" "$opt/.current"
    mv -Tf "$opt/.current" "$opt/current" 2>/dev/null || { rm -f "$opt/current"; mv -f "$opt/.current" "$opt/current"; }
  }
  switch_to "releases/$release_name"
  if [ -n "$before" ] && [ "$before" != "releases/$release_name" ]; then
    ln -sfn "$before" "$opt/previous"
  fi

  if [ "$init" = systemd ]; then
    "$opt/stockade-agent" unit systemd >/etc/systemd/system/stockade-agent.service
    "$opt/stockade-agent" unit knock >/etc/systemd/system/stockade-knock.service
    "$opt/stockade-agent" unit shield >/etc/systemd/system/stockade-shield.service
    "$opt/stockade-agent" unit upgrade >/etc/systemd/system/stockade-agent-upgrade.service
    systemctl daemon-reload
  elif [ "$init" = openrc ]; then
    "$opt/stockade-agent" unit openrc >/etc/init.d/stockade-agent
    chmod 755 /etc/init.d/stockade-agent
  fi

  if [ "$mode" = upgrade ]; then
    [ "$init" != none ] || { say "The agent is now version $version: restart it."; return 0; }
    [ "$init" != systemd ] || systemctl enable stockade-knock stockade-shield stockade-agent-upgrade >/dev/null 2>&1 || true
    service restart
    if answers; then
      say "The agent is now version $version."
      return 0
    fi
    if [ -n "$before" ] && [ "$before" != "releases/$release_name" ]; then
      switch_to "$before"
      service restart || true
      stop "version $version did not reach the server within 20 s; $before runs again"
    fi
    stop "the agent did not reach the server within 20 s; see its log"
  fi

  "$opt/stockade-agent" --self-test || say "Some checks failed; the agent keeps looking for fail2ban."
  if [ -n "$token" ]; then
    set -- --base-url "$base_url"
    [ "$insecure" = no ] || set -- "$@" --insecure-http
    [ "$unsigned" = no ] || set -- "$@" --allow-unsigned
    [ -z "$pin" ] || set -- "$@" --pin "$pin"
    [ -z "$ca" ] || set -- "$@" --ca "$ca"
    [ "$backfill" = no ] || set -- "$@" --backfill
    STOCKADE_TOKEN=$token "$opt/stockade-agent" enroll "$@"
    token=
  fi
  [ "$start" = yes ] || return 0
  case $init in
    systemd)
      systemctl enable stockade-agent stockade-knock stockade-shield stockade-agent-upgrade >/dev/null 2>&1
      systemctl restart stockade-agent
      ;;
    openrc)
      rc-update add stockade-agent default >/dev/null
      rc-service stockade-agent restart
      ;;
    none)
      say "No init system is here: start the agent with  $opt/stockade-agent run"
      return 0
      ;;
  esac
  if answers; then
    say "Done: this host reports to $base_url."
  else
    say "The agent is installed, but the server has not answered it within 20 s:"
    "$opt/stockade-agent" status || true
    return 1
  fi
}

stockade_install "$@"
