import { portknock as contract } from '@stockade/contract'
import { bounds } from '@stockade/contract/limits.ts'
import type { BodyOf, ReplyOf } from '@stockade/contract'
import { sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { authorOf } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import { jsonText } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { conflict, forbidden, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { StoreAccess } from '../../events/events.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { KnockHosts } from './hosts.ts'
import { checkBeside, checkPorts, warningsOf } from './rules.ts'
import { createSequenceViews, portsOf } from './sequence-views.ts'
import {
  allPlaces,
  changeSequence,
  countSequences,
  findSequence,
  insertSequence,
  isNameTaken,
  liveSequences,
  lockSequences,
  neighboursOf,
  placesOf,
  putPlaces,
  removePlaces,
  takeSequence,
} from './sequences.store.ts'
import type { PlaceRow, SequenceRow } from './sequences.store.ts'

type CreatedSequence = ReplyOf<typeof contract.createSequence>
type ChangedSequence = ReplyOf<typeof contract.updateSequence>

export interface Sequences {
  list(actor: Principal): Promise<ReplyOf<typeof contract.listSequences>>
  read(actor: Principal, id: number): Promise<contract.Sequence>
  create(actor: Principal, input: BodyOf<typeof contract.createSequence>): Promise<CreatedSequence>
  /** `server_ids` replaces the list; hosts that it leaves drop the sequence with all that is open by it. */
  update(actor: Principal, id: number, input: BodyOf<typeof contract.updateSequence>): Promise<ChangedSequence>
  /** Answers the name that it had. */
  remove(actor: Principal, id: number): Promise<string>
}

/** The fields that hosts get; other changes do not concern them. */
const enforced = [
  'protected_port',
  'knock_ports',
  'protocol',
  'timeout',
  'knock_timeout',
  'max_attempts',
  'block_duration',
] as const
/** Hostnames that an audit entry names. */
const mostNamed = 20

export const nameKeyOf = (name: string): string => tame(name, bounds.name * 4).toLowerCase()
export const createSequences = (
  needs: StoreAccess & {
    registry: Pick<Registry, 'byNo'>
    servers: Pick<ServersService, 'named'>
    hosts: Pick<KnockHosts, 'raise' | 'tell'>
  },
): Sequences => {
  const { db, clock, events, registry, servers, hosts } = needs

  const { hostnameOf, view } = createSequenceViews(registry)
  const hostnames = (nos: readonly number[]) => nos.slice(0, mostNamed).map(hostnameOf)
  /** A sequence that is on none of the caller's servers is none of the caller's business. */
  const maySee = (actor: Principal, places: readonly PlaceRow[]) =>
    actor.servers === 'all' || places.some(place => sees(actor, place.server_no))
  const targets = (actor: Principal, ids: readonly string[]): number[] => [
    ...new Set(ids.map((id, index) => servers.named(actor, `server_ids.${index}`, id).no)),
  ]
  const gone = (id: number) => notFound(`There is no sequence ${id}.`)
  const nameTaken = (name: string) => conflict(`There is a sequence "${name}" already. Choose another name.`)
  type Fields = Pick<SequenceRow, 'name' | 'protected_port' | 'protocol'> & { readonly knock_ports: readonly number[] }
  const checkNeighbours = async (
    sql: Parameters<typeof neighboursOf>[0],
    id: number | null,
    fields: Fields,
    serverNos: readonly number[],
  ) => {
    const neighbours = await neighboursOf(sql, id, serverNos)
    checkBeside(
      fields,
      neighbours.map(row => ({ ...row, knock_ports: portsOf(row), hostname: hostnameOf(row.server_no) })),
    )
  }

  return {
    async list(actor) {
      const rows = await liveSequences(db.read)
      const places = new Map<number, PlaceRow[]>(rows.map(({ id }) => [id, []]))
      for (const place of await allPlaces(db.read)) places.get(place.sequence_id)?.push(place)
      const sequences = rows.flatMap(row => {
        const mine = places.get(row.id) ?? []
        return maySee(actor, mine) ? [view(actor, row, mine)] : []
      })
      return { sequences, total: sequences.length }
    },
    async read(actor, id) {
      const row = await findSequence(db.read, id)
      if (!row || row.deleted_at !== null) throw gone(id)
      const places = await placesOf(db.read, id)
      if (!maySee(actor, places)) throw forbidden('You have no access to a server of this sequence.')
      return view(actor, row, places)
    },
    async create(actor, input) {
      const fields = {
        name: tame(input.name, bounds.name * 4),
        protected_port: input.protected_port,
        knock_ports: input.knock_ports,
        protocol: input.protocol ?? 'tcp',
        timeout: input.timeout ?? 30,
        knock_timeout: input.knock_timeout ?? 10,
        max_attempts: input.max_attempts ?? 5,
        block_duration: input.block_duration ?? 3600,
      } as const
      checkPorts(fields)
      const serverNos = targets(actor, input.server_ids)
      const now = clock()
      const { row, raised } = await events.change(async change => {
        await lockSequences(change.sql, db.engine)
        admit(contract.createSequence.leaves, { all: await countSequences(change.sql) })
        await checkNeighbours(change.sql, null, fields, serverNos)
        const newSequence = await insertSequence(change.sql, {
          ...fields,
          name_key: nameKeyOf(input.name),
          knock_ports: jsonText(fields.knock_ports),
          created_at: now,
          updated_at: now,
          deleted_at: null,
        })
        if (!newSequence) throw nameTaken(fields.name)
        const raised = await hosts.raise(change, serverNos)
        await putPlaces(
          change.sql,
          newSequence.id,
          raised.map(({ server_no, knock_revision }) => ({ server_no, revision: knock_revision })),
        )
        const { knock_ports: _, ...told } = fields
        await change.record({
          name: 'portknock.create',
          author: authorOf(actor),
          data: { id: newSequence.id, ...told, servers: serverNos.length, hostnames: hostnames(serverNos) },
        })
        return { row: newSequence, raised }
      })
      hosts.tell(raised)
      return {
        id: row.id,
        name: row.name,
        protected_port: row.protected_port,
        knock_ports: portsOf(row),
        created_at: iso(row.created_at),
        warnings: warningsOf(fields),
      }
    },
    async update(actor, id, input) {
      const serverNos = input.server_ids && targets(actor, input.server_ids)
      const { row, raised } = await events.change(async change => {
        await lockSequences(change.sql, db.engine)
        const before = await takeSequence(change.sql, db.engine, id)
        if (!before) throw gone(id)
        const old = { ...before, knock_ports: portsOf(before) }
        const { server_ids: _, ...set } = input
        const fields = { ...old, ...set, name: set.name === undefined ? old.name : tame(set.name, bounds.name * 4) }
        const changed = (['name', ...enforced] as const).filter(
          field => JSON.stringify(fields[field]) !== JSON.stringify(old[field]),
        )
        checkPorts(fields)
        const present = new Set((await placesOf(change.sql, id)).map(place => place.server_no))
        const targetServers = new Set(serverNos ?? present)
        const removed = [...present].filter(no => !targetServers.has(no))
        const added = [...targetServers].filter(no => !present.has(no))
        if (changed.length + removed.length + added.length === 0) return { row: before, raised: [] }
        await checkNeighbours(change.sql, id, fields, [...targetServers])
        if (await isNameTaken(change.sql, nameKeyOf(fields.name), id)) throw nameTaken(fields.name)
        const isNews = changed.some(field => field !== 'name')
        const raised = await hosts.raise(change, [...removed, ...(isNews ? targetServers : added)])
        const row = await changeSequence(change.sql, id, {
          name: fields.name,
          name_key: nameKeyOf(fields.name),
          protected_port: fields.protected_port,
          knock_ports: jsonText(fields.knock_ports),
          protocol: fields.protocol,
          timeout: fields.timeout,
          knock_timeout: fields.knock_timeout,
          max_attempts: fields.max_attempts,
          block_duration: fields.block_duration,
          updated_at: clock(),
        })
        await removePlaces(change.sql, id, removed)
        await putPlaces(
          change.sql,
          id,
          raised.flatMap(({ server_no, knock_revision }) =>
            targetServers.has(server_no) ? [{ server_no, revision: knock_revision }] : [],
          ),
        )
        const visibleFields = changed.filter(field => field !== 'knock_ports')
        await change.record({
          name: 'portknock.update',
          author: authorOf(actor),
          data: {
            id,
            name: before.name,
            fields: [...changed, ...(added.length + removed.length > 0 ? ['server_ids'] : [])],
            old: Object.fromEntries(visibleFields.map(field => [field, old[field]])),
            new: Object.fromEntries(visibleFields.map(field => [field, fields[field]])),
            ...(added.length > 0 ? { added: added.length, added_hostnames: hostnames(added) } : {}),
            ...(removed.length > 0 ? { removed: removed.length, removed_hostnames: hostnames(removed) } : {}),
          },
        })
        return { row, raised }
      })
      hosts.tell(raised)
      return {
        id: row.id,
        name: row.name,
        knock_ports: portsOf(row),
        timeout: row.timeout,
        updated_at: iso(row.updated_at),
        warnings: warningsOf({ ...row, knock_ports: portsOf(row) }),
      }
    },
    async remove(actor, id) {
      const { name, raised } = await events.change(async change => {
        await lockSequences(change.sql, db.engine)
        const row = await takeSequence(change.sql, db.engine, id)
        if (!row) throw gone(id)
        const present = (await placesOf(change.sql, id)).map(place => place.server_no)
        const raised = await hosts.raise(change, present)
        await removePlaces(change.sql, id, present)
        await changeSequence(change.sql, id, { knock_ports: jsonText([]), deleted_at: clock() })
        await change.record({
          name: 'portknock.delete',
          author: authorOf(actor),
          data: { id, name: row.name, servers: present.length, hostnames: hostnames(present) },
        })
        return { name: row.name, raised }
      })
      hosts.tell(raised)
      return name
    },
  }
}
