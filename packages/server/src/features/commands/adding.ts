import type { EventName } from '@stockade/contract'
import type { Author } from '../../core/author.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Snapshot, TemplatesService } from '../templates/templates.service.ts'
import { insertCommands } from './commands.store.ts'
import type { CommandRow } from './commands.store.ts'
import type { Queue } from './queue.ts'
import { eventDataOf, paramsOf } from './rows.ts'
import type { Waiting } from './waiting.ts'

const templateEvents: Readonly<Record<string, EventName>> = {
  'deploy-template': 'template.deploy',
  'remove-template': 'template.remove',
}

/** New commands of one author, and what is written with them. */
export interface NewCommands {
  readonly author: Author
  readonly rows: readonly CommandRow[]
  readonly name: 'command.create' | 'command.retry'
  /** A second event for each command. */
  readonly also?: EventName | undefined
  readonly snapshot?: Snapshot | null
}

/** Writes new commands with their events, then wakes the agents that they are for. */
export const createAdding = (
  needs: Pick<StoreAccess, 'db' | 'events'> & {
    servers: Pick<ServersService, 'hostnameOf'>
    templates: Pick<TemplatesService, 'keep'>
    queue: Queue
    waiting: Waiting
  },
) => {
  const { db, events, servers, templates, queue, waiting } = needs
  /** One entry for a whole deployment or removal, beside those of its commands. */
  const recordTemplate = async (change: Change, { author, rows, snapshot }: NewCommands) => {
    const [row, other] = rows
    const name = templateEvents[row?.type ?? '']
    if (!row || !name) return
    const data = {
      ...paramsOf(row),
      ...(snapshot ? { name: snapshot.template.name } : {}),
      batch_id: row.batch_id,
      servers: rows.length,
    }
    await change.record({ name, author, data, ...(other ? {} : { serverNo: row.server_no }) })
  }
  return async (added: NewCommands): Promise<void> => {
    const { author, rows, name, also, snapshot } = added
    await events.change(async change => {
      if (snapshot) await templates.keep(change.sql, snapshot)
      await insertCommands(change.sql, db.engine, rows)
      if (name === 'command.create') await recordTemplate(change, added)
      await change.recordMany(
        rows.flatMap(row => {
          const hostname = servers.hostnameOf(row.server_no)
          const own = { name, author, serverNo: row.server_no, data: eventDataOf(row, hostname) }
          const more = { ...paramsOf(row), command_id: row.id, ...(hostname === undefined ? {} : { hostname }) }
          return also ? [own, { ...own, name: also, data: more }] : [own]
        }),
      )
    })
    for (const row of rows) queue.track(row)
    for (const serverNo of new Set(rows.map(row => row.server_no))) waiting.wake(serverNo)
  }
}
