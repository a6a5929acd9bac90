import type { Kysely } from 'kysely'
import { allSiemTypes, eventKinds } from '@stockade/contract'
import type { EventName, SiemType } from '@stockade/contract'
import { keysOf } from '@stockade/contract/records.ts'
import { iso } from '../../core/clock.ts'
import { uuidText } from '../../core/ids.ts'
import { ipText } from '../../core/ip.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { Schema } from '../../db/schema.ts'
import { eventOf } from '../../events/events.ts'
import type { StockadeEvent } from '../../events/events.ts'
import { bansById } from '../bans/bans.store.ts'
import type { BanRow } from '../bans/bans.store.ts'
import type { BansService } from '../bans/bans.service.ts'
import type { SiemEvent } from './event.ts'
import { eventRows, serverNames } from './siem.store.ts'

/** As what an event is forwarded; null: it is not. */
export const siemTypeOf = (name: EventName): SiemType | null => {
  const kind: { siem?: SiemType; audited: boolean } = eventKinds[name]
  return kind.siem ?? (kind.audited ? 'audit' : null)
}
/** The names of the stream that are forwarded as one of these types. */
export const namesOf = (types: readonly SiemType[]): EventName[] =>
  keysOf(eventKinds).filter(name => {
    const type = siemTypeOf(name)
    return type !== null && types.includes(type)
  })

interface ServerRef {
  readonly id: string
  readonly hostname: string
}

/** Makes what is forwarded out of the stream: the same event reads the same whenever it is read. */
export const createCanonical = (needs: {
  secrets: Pick<Secrets, 'digest'>
  bans: Pick<BansService, 'viewAt'>
}): {
  /** A UUID made from the event alone: at every try, on every process and in every replay the same. */
  idOf(event: Pick<StockadeEvent, 'id' | 'at'>): string
  /** Those of the ids that are still there. */
  load(sql: Kysely<Schema>, ids: readonly number[]): Promise<Map<number, SiemEvent>>
} => {
  const idOf = ({ id, at }: Pick<StockadeEvent, 'id' | 'at'>): string => {
    // Version 7, with a digest where the random bits are: another installation's event of that moment is another id.
    const bytes = Buffer.from(needs.secrets.digest(`siem event ${id} ${at}`).slice(0, 32), 'hex')
    bytes.writeUIntBE(at, 0, 6)
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
    return uuidText(bytes)
  }
  const canonical = (
    event: StockadeEvent,
    type: SiemType,
    server: ServerRef | null,
    ban: BanRow | undefined,
  ): SiemEvent | null => {
    const isOfBan = type === 'ban' || type === 'unban'
    if (isOfBan && !ban) return null
    const { author, at } = event
    const data = ban && isOfBan ? { ...needs.bans.viewAt(ban, at) } : dataOf(event, type)
    return {
      id: idOf(event),
      type,
      severity: severityOf(type, event),
      timestamp: iso(at),
      message: ban && isOfBan ? banMessage(type, ban) : messageOf(event, type, server),
      server,
      actor: author === null ? null : { username: author.name, ip: author.ip },
      data,
    }
  }
  return {
    idOf,
    async load(sql, ids) {
      const siemEventById = new Map<number, SiemEvent>()
      if (ids.length === 0) return siemEventById
      const rows = await eventRows(sql, ids)
      const events = rows.flatMap(row => eventOf(row) ?? [])
      const nos = [...new Set(events.flatMap(({ serverNo }) => serverNo ?? []))]
      const servers = await serverNames(sql, nos)
      const serverOf = new Map(servers.map(({ no, id, hostname }) => [no, { id, hostname }]))
      const bans = await bansById(sql, [...new Set(events.flatMap(({ banId }) => banId ?? []))])
      const banOf = new Map(bans.map(ban => [ban.id, ban]))
      for (const event of events) {
        const type = siemTypeOf(event.name)
        if (type === null) continue
        const server = event.serverNo === null ? null : (serverOf.get(event.serverNo) ?? null)
        const siemEvent = canonical(event, type, server, event.banId === null ? undefined : banOf.get(event.banId))
        if (siemEvent) siemEventById.set(event.id, siemEvent)
      }
      return siemEventById
    },
  }
}

const valueText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

/** Good news is less severe than bad news of the same type. */
const severityOf = (type: SiemType, { data }: StockadeEvent): number =>
  type === 'protection' && data.to === 'protected' ? 2 : allSiemTypes[type]
const timeOrNull = (at: unknown): string | null => (typeof at === 'number' ? iso(at) : null)

const banMessage = (type: SiemType, ban: BanRow): string =>
  `${ipText(ban.ip, ban.prefix)} ${type === 'ban' ? 'banned' : 'unbanned'} on ${ban.hostname} (jail ${ban.jail})`

// oxlint-disable-next-line complexity -- one case for each type of event
const messageOf = ({ name, data, author }: StockadeEvent, type: SiemType, server: ServerRef | null): string => {
  const from = author?.ip ? ` from ${author.ip}` : ''
  const by = author ? ` by ${author.name}` : ''
  switch (type) {
    case 'server_offline':
      return `${server?.hostname ?? valueText(data.hostname)} is offline`
    case 'protection':
      return `${server?.hostname ?? valueText(data.hostname)} is ${valueText(data.to)}: ${valueText(data.summary)}`
    case 'login_success':
      return `${author?.name ?? 'somebody'} signed in${from}`
    case 'login_failed':
      return `Sign-in of ${author?.name ?? 'somebody'} failed${from}`
    case 'whitelist_add':
      return `${valueText(data.ip)} added to the whitelist${by}`
    case 'whitelist_remove':
      return `${valueText(data.ip)} removed from the whitelist${by}`
    case 'settings_change':
      return name === 'settings.import' ? `Settings imported${by}` : `Setting ${valueText(data.field)} changed${by}`
    case 'audit':
      return `${name}${by}${from}`
    case 'ban':
    case 'unban':
      return ''
  }
}

/** What an event carries, without what is our own business. */
const dataOf = ({ name, data }: StockadeEvent, type: SiemType): Readonly<Record<string, unknown>> => {
  switch (type) {
    case 'server_offline':
      return {
        id: data.id,
        hostname: data.hostname,
        last_heartbeat: timeOrNull(data.last_heartbeat),
      }
    case 'whitelist_add':
    case 'whitelist_remove':
      return { id: data.id, ip: data.ip, description: data.description }
    case 'protection':
      return {
        ...data,
        since: timeOrNull(data.since),
        from_since: timeOrNull(data.from_since),
      }
    case 'audit':
      return { action: name, details: data }
    case 'login_success':
      return { method: data.method }
    default:
      return data
  }
}
