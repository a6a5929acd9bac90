import type { ServerRow } from '../../api/queries.ts'

export type Status = ServerRow['status']
/** What needs a look stands on top. */
export const order = ['offline', 'pending', 'online'] as const satisfies readonly Status[]

/** In which group each server was put, by its id. */
export type Places = ReadonlyMap<string, Status>

/** Servers that are new to the list go where they belong; those that are known keep their place, whatever became of them. */
export const placesOf = (rows: readonly Pick<ServerRow, 'id' | 'status'>[], before: Places = new Map()): Places =>
  new Map(rows.map(({ id, status }) => [id, before.get(id) ?? status]))

/** How many stand in a group that is no longer theirs. */
export const strayed = (rows: readonly Pick<ServerRow, 'id' | 'status'>[], places: Places): number =>
  rows.filter(({ id, status }) => (places.get(id) ?? status) !== status).length

export const groupsOf = <Row extends Pick<ServerRow, 'id' | 'status'>>(rows: readonly Row[], places: Places) =>
  order
    .map(status => ({ status, rows: rows.filter(row => (places.get(row.id) ?? row.status) === status) }))
    .filter(group => group.rows.length > 0)

const numbers = (version: string) => (/^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? []).slice(1).map(Number)
/** Whether an agent is older than the server, which brings the newest one; unknown versions are not. */
export const isOlder = (agent: string | null, newest: string): boolean => {
  const [mine, theirs] = [numbers(agent ?? ''), numbers(newest)]
  if (mine.length === 0 || theirs.length === 0) return false
  const at = mine.findIndex((part, index) => part !== theirs[index])
  return at !== -1 && (mine[at] ?? 0) < (theirs[at] ?? 0)
}
