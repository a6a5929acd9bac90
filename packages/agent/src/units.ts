/** Service files, printed by `stockade-agent unit` for the installer. */

/**
 * Root is needed as the owner of fail2ban's socket and table; of its powers two are left: nftables and files of others.
 * MemoryDenyWriteExecute is not possible (V8 compiles at run time). An agent that is stuck is killed at once, since nothing of it answers
 * another signal. NotifyAccess is for all, because an agent that was started without Python tells systemd by a program.
 */
export const systemdUnit = `[Unit]
Description=Stockade agent: reports fail2ban's bans and carries out the server's orders
After=network-online.target fail2ban.service nftables.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
ExecStart=/opt/stockade-agent/stockade-agent run
Restart=always
RestartSec=5
WatchdogSec=60
WatchdogSignal=SIGKILL
NotifyAccess=all
UMask=0077
StateDirectory=stockade-agent
StateDirectoryMode=0700
ConfigurationDirectory=stockade-agent
ConfigurationDirectoryMode=0700
RuntimeDirectory=stockade-agent
RuntimeDirectoryMode=0700
CapabilityBoundingSet=CAP_NET_ADMIN CAP_DAC_READ_SEARCH
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=-/etc/fail2ban/jail.d -/etc/fail2ban/filter.d -/run/fail2ban
ReadOnlyPaths=-/var/lib/fail2ban
ProtectHome=read-only
PrivateTmp=yes
DevicePolicy=closed
DeviceAllow=/dev/net/tun rw
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources @mount @swap @reboot @raw-io
SystemCallErrorNumber=EPERM
MemoryMax=192M
TasksMax=64
CPUQuota=50%

[Install]
WantedBy=multi-user.target
`

/** What a unit waits for that runs before the network is up. */
const beforeNetwork = `DefaultDependencies=no
Requires=local-fs.target
After=local-fs.target nftables.service
Wants=network-pre.target
Before=network-pre.target shutdown.target
Conflicts=shutdown.target`

/**
 * At boot the protected ports are closed before the network is there, with the rules that the server had last answered
 * with; the agent comes later and brings the rest. What flushes the firewall at boot has done so by then.
 */
export const knockUnit = `[Unit]
Description=Stockade agent: the rules of port knocking, before the network is up
${beforeNetwork}
ConditionPathExists=/var/lib/stockade-agent/knock.nft

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/nft -f /var/lib/stockade-agent/knock.nft
CapabilityBoundingSet=CAP_NET_ADMIN CAP_DAC_READ_SEARCH
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK

[Install]
WantedBy=sysinit.target
`

/**
 * Where Node.js is missing, say on a file system that is mounted later, nft loads the bans that have not ended. Ends are times of the host's
 * clock; a clock that starts in the past goes on from the time at which the file was saved.
 */
const loadWithoutNode = [
  `test -f "$$0" && awk -v now="$$(date +%%s)" '`,
  `/^# saved / && now < $$3 { now = $$3 } `,
  `/ # ends / { left = $$NF - now; if (left < 1) next; sub(/timeout [0-9]+s/, "timeout " left "s") } `,
  `{ print }' "$$0" | exec nft -f -`,
]
  .join('')
  .replaceAll('"', '\\"')

/**
 * At boot the shield holds the bans of the last run before the network is there. Memory and time are bounded, so that a
 * damaged file never keeps a host from starting.
 */
export const shieldUnit = `[Unit]
Description=Stockade agent: bans in the kernel, before the network is up
${beforeNetwork}
ConditionPathExists=/var/lib/stockade-agent/shield.json

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c "/opt/stockade-agent/stockade-agent shield-load || { ${loadWithoutNode}; }" /var/lib/stockade-agent/shield.nft
TimeoutStartSec=30
MemoryMax=256M
UMask=0077
CapabilityBoundingSet=CAP_NET_ADMIN CAP_DAC_READ_SEARCH
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=/var/lib/stockade-agent
ProtectHome=yes
RestrictAddressFamilies=AF_UNIX AF_NETLINK

[Install]
WantedBy=sysinit.target
`

/**
 * Replaces the agent by the release that was ordered. It is a unit of its own, because the agent may not write its program, and
 * because its restart would end it. A crash or a reboot in the middle starts it again.
 */
export const upgradeUnit = `[Unit]
Description=Stockade agent: an upgrade that the server ordered
After=network-online.target
Wants=network-online.target
StartLimitIntervalSec=0
ConditionPathExists=/var/lib/stockade-agent/upgrade-order.json

[Service]
ExecStart=/opt/stockade-agent/stockade-agent upgrade --ordered
Restart=on-failure
RestartSec=5
UMask=0022
CapabilityBoundingSet=CAP_DAC_READ_SEARCH
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=/opt/stockade-agent /etc/systemd/system /var/lib/stockade-agent
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
SystemCallArchitectures=native
MemoryMax=256M

[Install]
WantedBy=multi-user.target
`

/**
 * The agent writes the seconds since the boot into a file. One from before that has none, and counts as healthy: it may be put back by an
 * upgrade that failed. Its supervisor starts an agent again that missed a minute.
 */
export const openrcScript = `#!/sbin/openrc-run
description="Stockade agent: reports fail2ban's bans and carries out the server's orders"
supervisor=supervise-daemon
command=/opt/stockade-agent/stockade-agent
command_args=run
respawn_delay=5
respawn_max=0
error_log=/var/log/stockade-agent.log
umask=077
retry="TERM/15/KILL/5"
healthcheck_delay=60
healthcheck_timer=30

depend() {
  need net
  after fail2ban nftables
}

start_pre() {
  rm -f /run/stockade-agent/beat
}

healthcheck() {
  beat=
  read -r beat 2>/dev/null </run/stockade-agent/beat || return 0
  read -r now _ </proc/uptime
  [ $((\${now%%.*} - beat)) -lt 60 ]
}
`
