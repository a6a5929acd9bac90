import { randomBytes } from 'node:crypto'

/*
 * What the bench writes: attacks as hosts report them. Random addresses and event ids on purpose, since sorted ones
 * would make every index cheaper than it is.
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
    eventId: randomBytes(16) as Uint8Array,
  }
}

let made = 0
const run = randomBytes(6).toString('hex')
/** A UUID that no other request of this or another run has. */
const anEventId = () => {
  const number = (made++).toString(16).padStart(8, '0')
  const noise = randomBytes(4).toString('hex')
  // Random in front: the agent's ids are hashes, so their index is written all over.
  return `${noise}-${run.slice(0, 4)}-4${run.slice(4, 7)}-8${run.slice(7, 10)}-${number}${run.slice(8, 12)}`
}
export const aReport = (): string =>
  JSON.stringify({
    ip: anAddress().join('.'),
    jail: pick(jails),
    log_lines: logLines,
    ban_duration: 3600,
    event_id: anEventId(),
  })

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
