import { Type } from 'typebox'
import { listedPackets } from './blocklists.ts'
import { bounds } from './limits.ts'
import { sealBounds } from './seal.ts'
import { protectionReport, shieldReport } from './protection.ts'
import { policyState } from './servers.ts'
import { count, id, uuid } from './common.ts'
import { field, nullable, openResource, text } from './shapes.ts'

/* What a host reports of itself with each heartbeat, and what other reports of agents share with it. */

/** What hosts say of themselves: kept short, never trusted. */
export const label = text(0, 200)
const percent = nullable(Type.Number({ minimum: 0, maximum: 100 }))

/**
 * The agent's own clock of reports: an id for each of its starts, and a counter that rises with every heartbeat and report of
 * jails. A report that arrives after a later one of the same start is answered and ignored.
 */
export const reportVersion = Type.Optional(
  openResource('ReportVersion', {
    boot: field(uuid, 'Id of this start of the agent.'),
    number: field(id, 'Counter that rises with each report of this start.'),
  }),
)

export const jailCounts = {
  current_bans: field(Type.Optional(nullable(count)), 'Number of addresses that the jail bans now.'),
  other_ids: field(
    Type.Optional(
      nullable(
        openResource('OtherIdsReport', {
          count: field(count, 'How many there are.'),
          ids: field(
            Type.Array(text(1, bounds.otherIds.length), { maxItems: bounds.otherIds.perJail }),
            "Some of them, cut; none where the host's policy keeps the jail's log lines.",
          ),
        }),
      ),
    ),
    'Banned ids that are no address, such as user names; null for none.',
  ),
  total_banned: field(Type.Optional(nullable(count)), 'Bans of the jail since its fail2ban started.'),
  current_failed: field(Type.Optional(nullable(count)), 'Addresses whose attempts the jail counts now.'),
  total_failed: field(Type.Optional(nullable(count)), 'Attempts that the jail saw since its fail2ban started.'),
}
const jailReport = openResource('JailReport', {
  name: text(1, bounds.jail),
  enabled: Type.Boolean(),
  ...jailCounts,
})

/** The body of a heartbeat. */
export const heartbeatReport = Type.Object({
  hostname: text(1, bounds.hostname),
  os: Type.Optional(nullable(label)),
  engine_version: Type.Optional(nullable(label)),
  agent_version: Type.Optional(nullable(label)),
  agent_id: Type.Optional(uuid),
  machine: field(
    Type.Optional(nullable(Type.String({ pattern: '^[0-9a-f]{32}$' }))),
    "Digest of the server's id and the machine id of its system, 32 hexadecimal digits; null where that has none.",
  ),
  report: reportVersion,
  metrics: field(
    Type.Optional(
      nullable(
        openResource('MetricsReport', {
          cpu_percent: Type.Optional(percent),
          memory_percent: Type.Optional(percent),
          disk_percent: Type.Optional(percent),
          uptime: Type.Optional(nullable(Type.Number({ minimum: 0 }))),
        }),
      ),
    ),
    'Load of the server; null when it is unknown.',
  ),
  jails: field(Type.Optional(Type.Array(jailReport, { maxItems: bounds.jailsPerHost })), 'Jails of the server.'),
  dropped: field(
    Type.Optional(
      Type.Array(
        openResource('DroppedPackets', {
          ip: field(text(1, 64), 'Banned address or range.'),
          packets: field(count, 'Packets that the kernel dropped since it holds the ban.'),
        }),
        { maxItems: bounds.droppedPerHeartbeat },
      ),
    ),
    'Bans of the shield whose packets the kernel dropped since the last heartbeat.',
  ),
  listed: field(Type.Optional(listedPackets), 'Blocklists whose packets the kernel counted since the last heartbeat.'),
  capabilities: field(
    Type.Optional(
      openResource('HostCapabilities', {
        nftables: field(Type.Optional(Type.Boolean()), 'Whether nftables is available, which port knocking needs.'),
        shield: field(
          Type.Optional(nullable(shieldReport)),
          "The agent's own table of bans; null before it was tried.",
        ),
      }),
    ),
    'What the server can do.',
  ),
  sealed: field(
    Type.Optional(
      nullable(
        openResource('SealPolicyReport', {
          types: field(Type.Array(text(1, 40), { maxItems: 64 }), 'Classes of commands that need a signature.'),
          operators: field(
            Type.Array(
              openResource('HostOperatorReport', {
                name: text(1, sealBounds.name),
                kind: text(1, 16),
                fingerprint: text(1, 64),
              }),
              { maxItems: sealBounds.operators },
            ),
            'Operators whose signatures the server accepts.',
          ),
          error: Type.Optional(nullable(text(0, 1000))),
        }),
      ),
    ),
    'What the server accepts only with an operator signature; null when it asks for none.',
  ),
  upgrades: field(
    Type.Optional(
      nullable(
        openResource('UpgradeReport', {
          able: field(Type.Boolean(), 'Whether the server takes upgrades that Stockade orders.'),
          reason: field(Type.Optional(nullable(Type.String({ maxLength: 1000 }))), 'Why it takes none.'),
          release: field(Type.Optional(nullable(text(1, 100))), 'Name of the release that runs.'),
          previous: field(Type.Optional(nullable(text(1, 100))), 'Name of the release before, which the server kept.'),
        }),
      ),
    ),
    'Releases of the agent on the server; older agents leave it out.',
  ),
  policy: field(
    Type.Optional(
      nullable(
        openResource('HostPolicyReport', {
          state: field(policyState, 'State of the policy file.'),
          error: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
        }),
      ),
    ),
    'The policy of the server; null when the agent knows none.',
  ),
  protection: field(
    Type.Optional(nullable(protectionReport)),
    'Whether what is banned on the server does not get through; null before the first look.',
  ),
})
