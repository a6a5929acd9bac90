import { useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { commandsLimit } from '../fleet/queries.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { List } from '../../kit/list.tsx'
import type { ListProps } from '../../kit/list.tsx'
import { focusedRow } from '../../kit/row-of.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { columnsOf } from './columns.tsx'
import { commandsTexts } from './commands.texts.ts'
import { useCommandKeys } from './keys.ts'
import { RowAct } from './retry.tsx'
import { linesOf } from './rows.ts'
import type { Group, Line } from './rows.ts'

const keyOf = (line: Line) => (line.kind === 'batch' ? line.batchId : line.row.id)
const dataOf = (line: Line) => ({ 'data-name': keyOf(line) })
const isSub = (line: Line) => line.kind === 'one' && line.within
const actsOf = (line: Line): ReactNode => (line.kind === 'one' ? <RowAct row={line.row} short /> : null)

type Given = Pick<ListProps<Line>, 'query' | 'page' | 'total' | 'onPage' | 'empty' | 'filters' | 'onClear'>

/** Commands, the newest first; a batch is one row that unfolds. */
export const CommandList = (props: Given & { groups: readonly Group[] | undefined }) => {
  const t = textsOf(commandsTexts)
  const { groups, ...given } = props
  const rows = useMemo(
    (): readonly CommandRow[] => (groups ?? []).flatMap(group => (group.kind === 'one' ? [group.row] : group.rows)),
    [groups],
  )
  useCommandKeys(rows, focusedRow)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const toggle = (batchId: string) =>
    setUnfolded(before => {
      const next = new Set(before)
      if (!next.delete(batchId)) next.add(batchId)
      return next
    })
  return (
    <List
      {...given}
      what={t.what}
      caption={t.caption}
      columns={columnsOf(unfolded, toggle)}
      rows={groups && linesOf(groups, unfolded)}
      shown={rows.length}
      keyOf={keyOf}
      dataOf={dataOf}
      isSub={isSub}
      limit={commandsLimit}
      acts={actsOf}
      noMatch={t.noMatch}
    />
  )
}
