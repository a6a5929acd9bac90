import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { contextOf } from './context.ts'
import { addBanFigures } from './figures.ts'
import { findServer } from './named.ts'
import { printJson, printPlace, printTable } from './print.ts'
import { withPage, withPeriod } from './rows.ts'
import type { PageOptions, PeriodOptions } from './rows.ts'
import { timeText } from './times.ts'

const countryOf = (text: string): string => {
  if (!/^[A-Za-z]{2}$/.test(text)) throw new InvalidArgumentError('Give the two letters of a country, such as DE.')
  return text.toUpperCase()
}
const truthOf = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Give true or false.')
  return text === 'true'
}

interface ListOptions extends PeriodOptions, PageOptions {
  readonly q?: string
  readonly server?: string
  readonly jail?: string
  readonly ip?: string
  readonly country?: string
  readonly active?: boolean
}

export const addBanList = (program: Command): void => {
  const bans = program
    .command('bans')
    .description('list bans, newest first')
    .option('-q, --q <search>', 'a search as in the dashboard, such as "jail:sshd -country:NL"')
    .option('--server <name-or-id>', 'of this server')
    .option('--jail <jail>', 'of this jail')
    .option('--ip <address-or-cidr>', 'of this address, or of all in a range')
    .option('--country <code>', 'from this country, two letters', countryOf)
    .option('--active [true|false]', 'only those in force; with "false" only those that ended', truthOf)
  withPage(withPeriod(bans)).action(async (options: ListOptions, command: Command) => {
    const { client, json } = contextOf(command)
    const { server, ...query } = options
    const list = await client.call('GET /bans', {
      query: { ...query, ...(server === undefined ? {} : { server_id: await findServer(client, server) }) },
    })
    if (json) return printJson(list)
    printTable(
      ['ADDRESS', 'JAIL', 'SERVER', 'COUNTRY', 'BANNED AT', 'UNTIL', 'STATE', 'BY'],
      list.bans.map(ban => [
        ban.ip,
        ban.jail,
        ban.server.hostname,
        ban.country,
        timeText(ban.banned_at),
        ban.unbanned_at === null && ban.ban_duration === -1 ? 'permanent' : timeText(ban.unbanned_at ?? ban.expires_at),
        ban.active ? 'active' : 'ended',
        ban.banned_by,
      ]),
    )
    printPlace('bans', list, list.bans.length)
  })
  addBanFigures(bans)
}
