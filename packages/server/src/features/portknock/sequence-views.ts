import type { portknock as contract } from '@stockade/contract'
import { atLeast, sees } from '../../core/actor.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import { parseJson } from '../../core/json-text.ts'
import type { Registry } from '../servers/registry.ts'
import type { PlaceRow, SequenceRow } from './sequences.store.ts'

type Sequence = contract.Sequence

export const portsOf = (row: Pick<SequenceRow, 'knock_ports'>): number[] => [...parseJson(row.knock_ports)]

/** Sequences as the API shows them: knock ports only to those who may write. */
export const createSequenceViews = (registry: Pick<Registry, 'byNo'>) => {
  const hostnameOf = (no: number) => registry.byNo(no)?.row.hostname ?? 'a removed server'
  const placeView = (actor: Principal, place: PlaceRow): Sequence['servers'] => {
    const server = registry.byNo(place.server_no)
    if (!server) return []
    const spoken = place.state !== null && place.acked_revision === place.revision ? place.state : null
    return [
      {
        id: server.row.id,
        hostname: server.row.hostname,
        state: spoken ?? 'pending',
        // What a host says of a failure may name a knock port.
        error:
          spoken === null
            ? null
            : spoken === 'failed' && !atLeast(actor.permission, 'write')
              ? 'The server could not apply it. Whoever may write sees why.'
              : place.error,
      },
    ]
  }
  const view = (actor: Principal, row: SequenceRow, places: readonly PlaceRow[]): Sequence => ({
    id: row.id,
    name: row.name,
    protected_port: row.protected_port,
    knock_ports: atLeast(actor.permission, 'write') ? portsOf(row) : null,
    protocol: row.protocol,
    timeout: row.timeout,
    knock_timeout: row.knock_timeout,
    max_attempts: row.max_attempts,
    block_duration: row.block_duration,
    servers: places
      .filter(place => sees(actor, place.server_no))
      .flatMap(place => placeView(actor, place))
      .sort((a, b) => a.hostname.localeCompare(b.hostname)),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  })
  return { hostnameOf, view }
}
