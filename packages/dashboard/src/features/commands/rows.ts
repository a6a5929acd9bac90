import type { CommandRow } from '../fleet/queries.ts'

export interface Batch {
  readonly kind: 'batch'
  readonly batchId: string
  /** The newest first; never empty. */
  readonly rows: readonly [CommandRow, ...CommandRow[]]
  /** Whether the batch may go on beyond this page of the list. */
  readonly open: boolean
}
export type Group = Batch | { readonly kind: 'one'; readonly row: CommandRow }
/** A row of the list: a batch, a command, or a command within the batch above it. */
export type Line = Batch | { readonly kind: 'one'; readonly row: CommandRow; readonly within: boolean }

export const linesOf = (groups: readonly Group[], unfolded: ReadonlySet<string>): readonly Line[] =>
  groups.flatMap((group): Line[] => {
    if (group.kind === 'one') return [{ ...group, within: false }]
    const within = unfolded.has(group.batchId) ? group.rows : []
    return [group, ...within.map((row): Line => ({ kind: 'one', row, within: true }))]
  })
export const newestOf = (line: Line): CommandRow => (line.kind === 'one' ? line.row : line.rows[0])

/** Commands of one batch stand together as one row, at the place of the newest. `first` and `last`: whether the page is. */
export const grouped = (rows: readonly CommandRow[], first: boolean, last: boolean): readonly Group[] => {
  const edge = new Set([first ? null : rows[0]?.batch_id, last ? null : rows.at(-1)?.batch_id])
  const listedIds = new Set<string>()
  return rows.flatMap((row): Group[] => {
    if (row.batch_id === null) return [{ kind: 'one', row }]
    if (listedIds.has(row.batch_id)) return []
    listedIds.add(row.batch_id)
    return [
      {
        kind: 'batch',
        batchId: row.batch_id,
        rows: [row, ...rows.filter(other => other !== row && other.batch_id === row.batch_id)],
        open: edge.has(row.batch_id),
      },
    ]
  })
}

/** What a batch asks for: the one thing, or of what kind its different things are. `said` puts a command in words. */
export const saidTogether = (
  rows: readonly CommandRow[],
  said: (row: CommandRow) => string,
  mixed: (newest: CommandRow, different: number) => string,
): string => {
  const [newest] = rows
  const different = new Set(rows.map(said)).size
  return !newest ? '' : different === 1 ? said(newest) : mixed(newest, different)
}

/** One word for where a command is, as the whole product says it. */
export const wordOf = (row: Pick<CommandRow, 'status' | 'cancelled'>): CommandRow['status'] | 'cancelled' =>
  row.cancelled ? 'cancelled' : row.status

/** How many of which state, in the order of a command's life. */
export const tallyOf = (rows: readonly CommandRow[]) =>
  (['pending', 'running', 'completed', 'failed', 'timeout', 'cancelled'] as const)
    .map(state => ({ state, count: rows.filter(row => wordOf(row) === state).length }))
    .filter(({ count }) => count > 0)

/** How long a batch took from the first server that fetched it to the last that answered; null until all have. */
export const tookTogether = (rows: readonly CommandRow[]): number | null => {
  const started = rows.flatMap(({ started_at: at }) => (at === null ? [] : [Date.parse(at)]))
  const completed = rows.flatMap(({ completed_at: at }) => (at === null ? [] : [Date.parse(at)]))
  return started.length === 0 || completed.length < rows.length ? null : Math.max(...completed) - Math.min(...started)
}
