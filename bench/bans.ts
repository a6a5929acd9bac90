import { randomBytes, randomUUID } from 'node:crypto'

/*
 * What the bench writes: attacks as hosts report them. Random addresses on purpose, since sorted ones would make their
 * index cheaper than it is.
 */

const jails = ['sshd', 'sshd', 'sshd', 'sshd', 'nginx-http-auth', 'postfix-sasl', 'dovecot', 'recidive', 'wordpress']
const countries = 'US CN DE NL FR RU BR IN VN KR GB SG ID TW HK JP CA IT PL UA TH TR MX AR ES SE RO BG CZ AT'.split(' ')
/** About 400 bytes, as three attempts on a mail or SSH server make. */
const logLines = Array.from(
  { length: 3 },
  (_, index) =>
    `Nov 21 09:30:0${index} web-01 sshd[22${index}41]: Failed password for invalid user admin from 198.51.100.23 port 4${index}122 ssh2: reason: authentication failure`,
).join('\n')

export const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T
const byte = () => Math.floor(Math.random() * 256)

/** The four bytes of an address outside of the special ranges' first octets. */
export const anAddress = (): Uint8Array => Uint8Array.of(11 + Math.floor(Math.random() * 85), byte(), byte(), byte())

/** A row, in the shape in which the server hands it to its writer. */
export const aRow = (serverNo: number, bannedAt: number, ip = anAddress(), duration = 3600) => {
  const asn = 1000 + Math.floor(Math.random() * 2000)
  return {
    kind: 'ban' as const,
    serverNo,
    jail: pick(jails),
    country: pick(countries),
    ip,
    prefix: null,
    bannedAt,
    duration,
    asn,
    asnOrg: `Network ${asn}`,
    city: null,
    latitude: null,
    longitude: null,
    logLines,
    bannedBy: null,
    eventId: eventIdAt(bannedAt) as Uint8Array,
  }
}

/** As the server makes them for reports without one: the time, then noise (UUID version 7). */
const eventIdAt = (at: number): Buffer => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at, 0, 6)
  return bytes
}
/** With which event id a report comes: none, our agent's (its second, then noise), or noise all through. */
export type EventIds = 'none' | 'agent' | 'random'
const idOf: Record<EventIds, () => string | undefined> = {
  none: () => undefined,
  agent: () => {
    const bytes = eventIdAt(Math.floor(Date.now() / 1000) * 1000).toString('hex')
    return `${bytes.slice(0, 8)}-${bytes.slice(8, 12)}-8${bytes.slice(13, 16)}-8${bytes.slice(17, 20)}-${bytes.slice(20)}`
  },
  random: () => randomUUID(),
}
/** A report as the interface has it; `event_id` is what an agent may add, so that a repetition is none. */
export const aReport = (ids: EventIds = 'none'): string =>
  JSON.stringify({
    ip: anAddress().join('.'),
    jail: pick(jails),
    log_lines: logLines,
    ban_duration: 3600,
    event_id: idOf[ids](),
  })

/** The same as CrowdSec's agents report it: an alert with the log lines as its one event, and the decision about it. */
export const aPeerAlert = (): string => {
  const ip = anAddress().join('.')
  const at = new Date().toISOString()
  const scenario = `bench/${pick(jails)}`
  return JSON.stringify([
    {
      ...{
        scenario,
        scenario_hash: '',
        scenario_version: '',
        message: '',
        events_count: 1,
        capacity: 3,
        leakspeed: '10s',
      },
      ...{ start_at: at, stop_at: at, simulated: false, source: { scope: 'Ip', value: ip, ip } },
      events: [{ timestamp: at, meta: [{ key: 'log_lines', value: logLines }] }],
      decisions: [{ duration: '1h', origin: 'crowdsec', scenario, scope: 'Ip', type: 'ban', value: ip }],
    },
  ])
}

/** A host with six jails, as the agent describes it every half minute. */
export const aHeartbeat = (): string =>
  JSON.stringify({
    hostname: 'web-01.example',
    os: 'Debian GNU/Linux 12 (bookworm)',
    engine_version: '1.0.2',
    agent_version: '0.1.0',
    metrics: {
      cpu_percent: Math.round(Math.random() * 1000) / 10,
      memory_percent: 41.3,
      disk_percent: 63.1,
      uptime: 812_345,
    },
    jails: [...new Set(jails)].map(name => ({ name, enabled: true, current_bans: Math.floor(Math.random() * 50) })),
    capabilities: { nftables: true },
  })

export const countryCodes: readonly string[] = countries
export const jailNames: readonly string[] = [...new Set(jails)]
