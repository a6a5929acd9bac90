import type { ClientBase } from 'pg'
import type { NewBan } from './ban-input.ts'

type Named = Pick<NewBan, 'jail' | 'country'>
export interface NameIds {
  readonly jailId: number
  /** 0 without a country. */
  readonly countryId: number
}

/**
 * What one connection has seen committed of jails and countries. Their rows are never changed or deleted, so bans that name only these are
 * written without a look-up. It lives as long as the connection: another database is another connection.
 */
export interface KnownNames {
  /** Null where one of the two is not known. */
  idsOf(ban: Named): NameIds | null
  /** The caller has seen committed that the names have these ids. */
  learn(ban: Named, ids: NameIds): void
}

/** Fleets have hundreds of jails. Hosts choose the names, so that there can be any number. */
const mostJails = 5000
const createKnownNames = (): KnownNames => {
  const jails = new Map<string, number>()
  const countries = new Map<string | null, number>([[null, 0]])
  return {
    idsOf({ jail, country }) {
      const jailId = jails.get(jail)
      const countryId = countries.get(country)
      return jailId === undefined || countryId === undefined ? null : { jailId, countryId }
    },
    learn({ jail, country }, { jailId, countryId }) {
      // Those in use come back with the next batch.
      if (jails.size >= mostJails) jails.clear()
      jails.set(jail, jailId)
      countries.set(country, countryId)
    },
  }
}

const byConnection = new WeakMap<ClientBase, KnownNames>()
export const knownNamesOf = (client: ClientBase): KnownNames => {
  const names = byConnection.get(client) ?? createKnownNames()
  byConnection.set(client, names)
  return names
}
