#!/bin/sh
# Installs, upgrades or removes the Stockade agent on a host that runs fail2ban.
#
#   curl -fsSL @@BASE_URL@@/install.sh | sudo sh -s -- --token TOKEN
#   ... | sudo sh -s -- --image --token TOKEN      on a machine that an image is taken of
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
#   --image               enrol at the next boot and not now, so that each machine of an image gets a key of its own
#   --own-fail2ban        install fail2ban on this host although another one runs here, say in a container
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
  own_fail2ban=no
  image=no
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
      --own-fail2ban) own_fail2ban=yes ;;
      --image) image=yes ;;
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
  if [ "$image" = yes ]; then
    # An image is often made where systemd does not run, as in a chroot.
    have systemctl || stop "--image needs systemd"
    init=systemd
    [ "$mode" = install ] && [ -n "$token" ] || stop "--image needs --token, with a token for many hosts"
    [ ! -f "$etc/agent.json" ] || stop "this host is enrolled: an image of it would carry its key. Remove the agent with --uninstall --purge first"
  fi

  # fetch URL FILE: fails on any status but 200, and leaves no half file.
  fetch() {
    rm -f "$2"
    if have curl; then
      # A redirect from https to http would undo the protection.
      protocols='=http,https'
      case $1 in https://*) protocols='=https' ;; esac
      # Slower than 1000 bytes a second for 20 s is an end, too: no wait is without a limit.
      set -- "$1" "$2" -fsSL --proto "$protocols" --retry 2 --connect-timeout 10 --speed-limit 1000 --speed-time 20
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
      wget -q -T 20 -t 2 ${3:+"$3"} -O "$2" "$1" || { rm -f "$2"; return 1; }
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

  # matches URL FILE: whether the file has its digest.
  matches() {
    wanted=$(wanted_of "$1" "$2") || return 1
    [ -n "$wanted" ] && [ "$wanted" = "$(sha256sum "$2" | cut -d' ' -f1)" ]
  }

  # put SOURCE FILE MODE: FILE becomes what SOURCE holds. Whoever loses power meanwhile finds the file of before or the new one, both whole; an
  # equal one is not touched.
  put() {
    if cmp -s "$1" "$2" 2>/dev/null; then
      chmod "$3" "$2"
      return 0
    fi
    cp "$1" "$2.new"
    chmod "$3" "$2.new"
    sync "$2.new"
    mv -f "$2.new" "$2"
    sync "$(dirname "$2")"
  }

  # patiently SECONDS COMMAND...: ends a command that waits for the network for longer.
  patiently() {
    if have timeout; then timeout "$@"; else shift && "$@"; fi
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
    printf '%s\n' '# stockade: managed, do not edit' "$@" >"$work/drop-in"
    put "$work/drop-in" "$drop_in" 644
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
      systemctl disable stockade-agent stockade-knock stockade-shield stockade-agent-upgrade stockade-enrol 2>/dev/null || true
      for unit in agent knock shield agent-upgrade enrol; do
        rm -f "/etc/systemd/system/stockade-$unit.service" "/etc/systemd/system/stockade-$unit.service.new"
      done
      rm -f /etc/systemd/system/stockade-agent.service.d/enrolled.conf
      rmdir /etc/systemd/system/stockade-agent.service.d 2>/dev/null || true
      systemctl daemon-reload || true
    elif [ "$init" = openrc ]; then
      rc-update del stockade-agent default 2>/dev/null || true
      rm -f /etc/init.d/stockade-agent /etc/init.d/stockade-agent.new
    fi
    rm -rf "$opt" /run/stockade-agent
    if [ "$purge" = yes ]; then
      rm -rf "$etc" "$lib"
      say "The agent, its key and its state are removed."
    else
      say "The agent is removed. Its key and state are kept in $etc and $lib (--purge removes them)."
    fi
    say "fail2ban with the bans of its jails, nftables and Node.js stay, also where the installation brought them."
    for drop_in in /etc/fail2ban/jail.d/zz-stockade-20-*.local; do
      [ ! -e "$drop_in" ] || say "$drop_in stays: fail2ban needs it on this host."
    done
    return 0
  fi

  if [ "$mode" = upgrade ] && [ ! -f "$etc/agent.json" ]; then
    stop "no agent is installed here; install one with --token"
  fi
  if [ "$mode" = install ] && [ -z "$token" ] && [ ! -f "$etc/agent.json" ]; then
    stop "the token is missing: copy the whole command from the server's page"
  fi

  # other_fail2ban: names a fail2ban that runs here though it is not installed here: a process of any namespace, or else a socket that listens.
  other_fail2ban() {
    for process in /proc/[0-9]*; do
      # By its own name, or by that of Python: further words are anybody's.
      called=$(tr '\000' '\n' 2>/dev/null <"$process/cmdline" |
        awk '{ sub(".*/", "") } NR == 1 && /^python/ { python = 1 } $0 == "fail2ban-server" && (NR == 1 || python && NR <= 3) { print "yes" }') || continue
      [ -n "$called" ] || continue
      printf 'process %s of user %s' "${process#/proc/}" "$(stat -c %u "$process" 2>/dev/null || printf '?')"
      return 0
    done
    awk '$4 == "00010000" && tolower($8) ~ /fail2ban/ { print "socket " $8; exit }' /proc/net/unix 2>/dev/null
  }
  if [ "$mode" = install ] && [ "$own_fail2ban" = no ] && ! have fail2ban-server; then
    other=$(other_fail2ban | LC_ALL=C tr -cd '[:print:]' | cut -c1-200)
    [ -z "$other" ] ||
      stop "fail2ban runs here already and is not installed on this host, so probably in a container ($other). A second one would not know its bans; nothing was changed. docs/guides/containers.md says what is possible. If this is not the fail2ban that protects this host, --own-fail2ban installs one"
  fi

  # apt_get PACKAGE...: only what needs the network has a limit; dpkg in the middle of its work is not ended.
  apt_get() {
    set -- -y -qq -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o Acquire::Retries=0 -o DPkg::Lock::Timeout=60 "$@"
    DEBIAN_FRONTEND=noninteractive patiently 60 apt-get update -qq -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 -o Acquire::Retries=0 ||
      say "The lists of packages are not refreshed: the mirrors do not answer"
    DEBIAN_FRONTEND=noninteractive patiently 300 apt-get install --download-only "$@" || return 1
    DEBIAN_FRONTEND=noninteractive apt-get install "$@"
  }
  dnf_install() {
    dnf -q -y --setopt=timeout=10 --setopt=retries=1 install "$@"
  }

  if [ "$packages" = yes ] && [ "$mode" = install ]; then
    if ! have fail2ban-server || ! have nft; then
      say "Installing fail2ban and nftables from the distribution (this takes up to a minute, and ends after six minutes where its mirrors do not answer)"
      if have apt-get; then
        apt_get fail2ban nftables python3-systemd ||
          stop "fail2ban and nftables cannot be installed: see what apt-get says above. Install them, or let this host reach its mirrors, and run this again"
      elif have dnf; then
        dnf_install epel-release || true
        dnf_install fail2ban-server fail2ban-systemd nftables
        systemctl enable --now fail2ban || true
      elif have apk; then
        patiently 120 apk add -q fail2ban nftables
        rc-update add fail2ban default 2>/dev/null || true
        rc-service fail2ban start || true
      else
        stop "install fail2ban and nftables first: no apt-get, dnf or apk is here"
      fi
    fi
  fi
  have fail2ban-server || stop "fail2ban is not installed"
  mkdir -p "$opt/releases"
  # What an installation left that lost its power.
  rm -rf "$opt"/.fetch.*
  work=$(mktemp -d "$opt/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT INT TERM
  fit_fail2ban

  trusted=$release_key
  if [ -z "$trusted" ] && [ -f "$etc/release-keys.pem" ]; then trusted=$etc/release-keys.pem; fi
  # At its first installation a host that was given no key trusts the server, whose script this is. From then on this key decides.
  if [ -z "$trusted" ] && [ "$unsigned" = no ] &&
    fetch "$base_url/agent/release-keys.pem" "$work/offered-keys.pem" 2>/dev/null; then
    release_key=$work/offered-keys.pem
    trusted=$release_key
  fi
  [ -z "$trusted" ] || verify_release

  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) arch= ;;
  esac
  # node_of_server: its Node.js needs glibc, and is not used unless its digest fits.
  node_of_server() {
    [ -n "$arch" ] && ! ls /lib/ld-musl-* >/dev/null 2>&1 || return 1
    say "Fetching Node.js from the server"
    fetch "$base_url/agent/node-linux-$arch.gz" "$work/node.gz" 2>/dev/null || return 1
    if ! matches "$base_url/agent/node-linux-$arch.gz" "$work/node.gz"; then
      say "The server's Node.js does not match its checksum: it is not used"
      return 1
    fi
    gzip -dc "$work/node.gz" >"$work/node"
    chmod 755 "$work/node"
    new_enough "$work/node" || return 1
    put "$work/node" "$opt/node" 755
    node=$opt/node
  }
  node_of_distribution() {
    [ "$packages" = yes ] || return 1
    say "Installing Node.js from the distribution (ends after six minutes where its mirrors do not answer)"
    if have apt-get; then
      apt_get --no-install-recommends nodejs >/dev/null 2>&1 || true
    elif have dnf; then
      dnf -q -y --setopt=timeout=10 --setopt=retries=1 module enable nodejs:20 >/dev/null 2>&1 || true
      dnf_install nodejs >/dev/null 2>&1 || true
    elif have apk; then
      patiently 120 apk add -q nodejs || true
    fi
    find_node
  }
  # The server is at hand; mirrors are not, where packets to the Internet are dropped.
  find_node || node_of_server || node_of_distribution ||
    stop "there is no Node.js 18.15 or newer here, and neither the server nor the distribution has one for $(uname -m): install nodejs and run this again"

  say "Fetching the agent"
  program_url=$base_url/agent/stockade-agent.mjs
  fetch "$program_url" "$work/stockade-agent.mjs" || stop "the agent cannot be fetched from $base_url"
  matches "$program_url" "$work/stockade-agent.mjs" ||
    stop "$program_url does not match its checksum; nothing was installed from it"
  version=$("$node" "$work/stockade-agent.mjs" --version) || stop "the agent does not run with $node"
  case $version in
    '' | *[!0-9A-Za-z.+-]*) stop "the agent names no version" ;;
  esac
  release_name=$version-$(sha256sum "$work/stockade-agent.mjs" | cut -c1-8)
  release=$opt/releases/$release_name
  mkdir -p "$release"
  put "$work/stockade-agent.mjs" "$release/stockade-agent.mjs" 755
  for part in action launcher; do
    "$node" "$release/stockade-agent.mjs" "$part" >"$work/$part"
    put "$work/$part" "$release/stockade_$part.py" 644
  done

  if [ -n "$release_key" ]; then
    mkdir -p "$etc"
    chmod 700 "$etc"
    put "$release_key" "$etc/release-keys.pem" 644
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
  put "$work/stockade-agent" "$opt/stockade-agent" 755
  # point LINK RELEASE
  point() {
    ln -sfn "$2" "$opt/.$1"
    mv -Tf "$opt/.$1" "$opt/$1" 2>/dev/null || { rm -f "$opt/$1"; mv -f "$opt/.$1" "$opt/$1"; }
    sync "$opt"
  }
  # unit NAME FILE MODE: the unit as the current release has it.
  unit() {
    "$opt/stockade-agent" unit "$1" >"$work/unit" && [ -s "$work/unit" ] && put "$work/unit" "$2" "$3"
  }
  # switch_to RELEASE: makes it current, with its units.
  switch_to() {
    point current "$1"
    case $init in
      systemd)
        unit systemd /etc/systemd/system/stockade-agent.service 644 &&
          unit knock /etc/systemd/system/stockade-knock.service 644 &&
          unit shield /etc/systemd/system/stockade-shield.service 644 &&
          unit upgrade /etc/systemd/system/stockade-agent-upgrade.service 644 &&
          { [ ! -d /run/systemd/system ] || systemctl daemon-reload; }
        ;;
      openrc) unit openrc /etc/init.d/stockade-agent 755 ;;
    esac
  }
  switch_to "releases/$release_name" || stop "the agent's service files cannot be written"
  if [ -n "$before" ] && [ "$before" != "releases/$release_name" ]; then
    point previous "$before"
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
      switch_to "$before" || true
      service restart || true
      stop "version $version did not reach the server within 20 s; $before runs again"
    fi
    stop "the agent did not reach the server within 20 s; see its log"
  fi

  # word TEXT: as a word of a shell's line.
  word() { printf " '%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }
  # enrol_later: leaves the token and what enrols with it at the next boot. The token goes when the key is there.
  enrol_later() {
    mkdir -p "$etc"
    chmod 700 "$etc"
    umask 077
    printf '%s\n' "$token" >"$work/token"
    put "$work/token" "$etc/enrolment-token" 600
    set -- enroll --token-file "$etc/enrolment-token" --base-url "$base_url"
    [ "$insecure" = no ] || set -- "$@" --insecure-http
    [ "$unsigned" = no ] || set -- "$@" --allow-unsigned
    [ -z "$pin" ] || set -- "$@" --pin "$pin"
    [ "$backfill" = no ] || set -- "$@" --backfill
    if [ -n "$ca" ]; then
      put "$ca" "$etc/enrolment-ca.pem" 644
      set -- "$@" --ca "$etc/enrolment-ca.pem"
    fi
    {
      printf '#!/bin/sh\nset -eu\n'
      case $proxy in http://*) printf 'export http_proxy=%s https_proxy=%s\n' "$(word "$proxy" | cut -c2-)" "$(word "$proxy" | cut -c2-)" ;; esac
      printf '%s' "$opt/stockade-agent"
      for argument in "$@"; do word "$argument"; done
      printf '\nrm -f %s %s\n' "$etc/enrolment-token" "$etc/enrolment-ca.pem"
      printf '[ ! -d /run/systemd/system ] || systemctl --no-block restart stockade-agent\n'
    } >"$work/enrol"
    put "$work/enrol" "$opt/enrol" 700
    umask 022
    cat >"$work/unit" <<EOF
[Unit]
Description=Stockade agent: gets a key for this host, once
ConditionPathExists=!$etc/agent.json
ConditionPathExists=$etc/enrolment-token
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=$opt/enrol
Restart=on-failure
RestartSec=60

[Install]
WantedBy=multi-user.target
EOF
    put "$work/unit" /etc/systemd/system/stockade-enrol.service 644
    # Until there is a key the agent has nothing to do.
    mkdir -p /etc/systemd/system/stockade-agent.service.d
    printf '[Unit]\nConditionPathExists=%s\n' "$etc/agent.json" >"$work/condition"
    put "$work/condition" /etc/systemd/system/stockade-agent.service.d/enrolled.conf 644
    [ ! -d /run/systemd/system ] || systemctl daemon-reload
    systemctl enable stockade-enrol stockade-agent stockade-knock stockade-shield stockade-agent-upgrade >/dev/null 2>&1 ||
      stop "the agent's services cannot be enabled"
  }
  if [ "$image" = yes ]; then
    enrol_later
    say "The agent is installed, and this host is not enrolled: each machine of the image enrols at its first boot. Empty /etc/machine-id before the image is taken."
    return 0
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
    [ -n "$trusted" ] || [ "$unsigned" = yes ] ||
      say "This server's releases are not signed: upgrades of this agent need the install command with --upgrade on this host, or an installation with --allow-unsigned"
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
