import { Link } from '@tanstack/react-router'
import { useSaid } from '../fleet/said.ts'
import type { CommandRow } from '../fleet/queries.ts'
import { tookOf, tookWords } from '../fleet/took.ts'
import type { ListColumn } from '../../kit/list-rows.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { wordOf } from './rows.ts'

const Said = ({ row }: { row: CommandRow }) => <>{useSaid()(row)}</>

/** The servers of a batch, each leading to its command. */
export const batchColumns = (isMixed: boolean): readonly ListColumn<CommandRow>[] => {
  const t = textsOf(commandsTexts)
  const what: ListColumn<CommandRow> = {
    key: 'what',
    name: t.columns.what,
    at: 'about',
    cell: row => <Said row={row} />,
  }
  return [
    {
      key: 'server',
      name: t.columns.server,
      width: 220,
      at: 'title',
      cell: row => (
        <Link to="/commands/$commandId" params={{ commandId: row.id }} data-open>
          <Stranger text={row.server.hostname} most={60} />
        </Link>
      ),
    },
    ...(isMixed ? [what] : []),
    {
      key: 'output',
      name: t.detail.output,
      at: 'about',
      cell: row => (
        <span className={parts.muted}>{row.result && <Stranger text={row.result.output.trim()} most={200} />}</span>
      ),
    },
    { key: 'took', name: t.columns.took, width: 90, end: true, wideOnly: true, cell: row => tookWords(tookOf(row)) },
    { key: 'state', name: t.columns.state, width: 150, at: 'end', cell: row => <State is={wordOf(row)} /> },
  ]
}
