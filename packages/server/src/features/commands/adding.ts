import { bounds, commands } from '@stockade/contract'
import type { EventName } from '@stockade/contract'
import { system } from '../../core/author.ts'
import type { Author } from '../../core/author.ts'
import { day } from '../../core/clock.ts'
import { admit } from '../../core/leaving.ts'
import type { Change, StoreAccess } from '../../events/events.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Snapshot, TemplatesService } from '../templates/templates.service.ts'
import { countQueuedSince, countWaiting, insertCommands } from './commands.store.ts'
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
  needs: StoreAccess & {
    servers: Pick<ServersService, 'hostnameOf'>
    templates: Pick<TemplatesService, 'keep'>
    queue: Queue
    waiting: Waiting
  },
) => {
  const { db, clock, events, servers, templates, queue, waiting } = needs
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
  /** Whoever may queue for a server must not fill the disk with what its host never fetches, nor with what is cancelled again. */
  const refuseMore = async ({ sql }: Change, rows: readonly CommandRow[]): Promise<void> => {
    const added = new Map<number, number>()
    for (const { server_no } of rows) added.set(server_no, (added.get(server_no) ?? 0) + 1)
    const nos = [...added.keys()]
    const waiting = await countWaiting(sql, db.engine, nos)
    const ofDay = await countQueuedSince(sql, db.engine, nos, clock() - day)
    for (const [no, count] of added) {
      const server = servers.hostnameOf(no) ?? 'this server'
      const { most } = commands.createCommand.leaves
      admit({ what: `commands that wait for ${server}`, most }, { all: waiting.get(no) ?? 0 }, undefined, count)
      const what = `commands of the last 24 hours for ${server}`
      admit({ what, most: bounds.commandsPerDay }, { all: ofDay.get(no) ?? 0 }, undefined, count)
    }
  }
  return async (added: NewCommands): Promise<void> => {
    const { author, rows, name, also, snapshot } = added
    await events.change(async change => {
      if (author !== system) await refuseMore(change, rows)
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
