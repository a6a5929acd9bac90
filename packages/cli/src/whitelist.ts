import { Option } from 'commander'
import type { Command } from 'commander'
import type { Client, Reply } from '@stockade/client'
import { contentOf } from './content.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { findServer } from './named.ts'
import { print, printEither, printJson, printPlace, printTable } from './print.ts'
import { writeOut } from './printed.ts'
import { withPage } from './rows.ts'
import type { PageOptions } from './rows.ts'
import { safe } from './safe.ts'
import { endOf, timeText } from './times.ts'

type Format = 'plain' | 'json' | 'csv'
const formats: readonly Format[] = ['plain', 'json', 'csv']
const formatOf = (file: string): Format => (/\.json$/i.test(file) ? 'json' : /\.csv$/i.test(file) ? 'csv' : 'plain')
const described = (ip: string, description: string) => (description ? `${ip} (${description})` : ip)

/** An entry by its id, or by its address or range. */
const entryNamed = async (client: Client, typed: string): Promise<{ id: number; ip: string }> => {
  if (/^\d{1,15}$/.test(typed)) return client.call('GET /whitelist/{id}', { params: { id: Number(typed) } })
  if (!typed.includes('/')) {
    // However the address is written, the server knows its one form.
    const { ip, matched_entry } = await client.call('GET /whitelist/check/{ip}', { params: { ip: typed } })
    if (matched_entry?.ip === ip) return matched_entry
    throw new Failure(
      matched_entry
        ? `${ip} has no entry of its own; ${described(matched_entry.ip, matched_entry.description)} covers it.`
        : `${ip} is not on the whitelist.`,
    )
  }
  for (let page = 1; ; page++) {
    const list = await client.call('GET /whitelist', { query: { search: typed, limit: 100, page } })
    const entry = list.whitelist.find(({ ip }) => ip === typed.toLowerCase())
    if (entry) return entry
    if (page * list.limit >= list.total)
      throw new Failure(`${typed} is not on the whitelist. Write the range as it is listed: stockade whitelist list`)
  }
}

/** A DNS name: neither an address nor a range nor an id. */
const isName = (typed: string): boolean => /[^\d.]/.test(typed) && !/[:/]/.test(typed)
type Name = Reply<'GET /whitelist/names'>['names'][number]
const nameWords = ({ name, addresses, last_error }: Name): string =>
  addresses.length === 0
    ? `${name} is on the whitelist, and has no address yet. ${last_error ?? ''}`.trim()
    : `${name} is on the whitelist: ${addresses.join(', ')}.${last_error === null ? '' : ` ${last_error}`}`

const addNames = (whitelist: Command): void => {
  whitelist
    .command('names')
    .description('list the DNS names and the addresses that they have now')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('GET /whitelist/names')
      if (json) return printJson(reply)
      printTable(
        ['NAME', 'ADDRESSES', 'SINCE', 'CHECKED', 'ERROR', 'DESCRIPTION', 'BY', 'ID'],
        reply.names.map(row => [
          row.name,
          row.addresses.join(' ') || null,
          timeText(row.since),
          timeText(row.checked_at),
          row.last_error,
          row.description,
          row.created_by,
          String(row.id),
        ]),
      )
    })
}
/** Takes a DNS name off. @throws Failure if it is not on the whitelist */
const removeName = async (client: Client, typed: string) => {
  const { names } = await client.call('GET /whitelist/names')
  const name = typed.toLowerCase().replace(/\.$/, '')
  const row = names.find(each => each.name === name)
  if (!row) throw new Failure(`${typed} is not on the whitelist. Its names: stockade whitelist names`)
  return client.call('DELETE /whitelist/names/{id}', { params: { id: row.id } })
}

const addChanges = (whitelist: Command): void => {
  whitelist
    .command('remove')
    .description('take entries off, all or none')
    .argument('<ip-or-id...>', 'an address or range, an id, or one DNS name')
    .action(async (typed: readonly string[], _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const name = typed.find(isName)
      if (name !== undefined) {
        if (typed.length > 1) throw new Misuse('A DNS name is removed alone.')
        const reply = await removeName(client, name)
        return json ? printJson(reply) : print(safe(reply.message))
      }
      const ids: number[] = []
      for (const each of typed) ids.push((await entryNamed(client, each)).id)
      const [id, ...more] = ids
      if (id !== undefined && more.length === 0) {
        const reply = await client.call('DELETE /whitelist/{id}', { params: { id } })
        return json ? printJson(reply) : print(safe(reply.message))
      }
      const reply = await client.call('POST /whitelist/remove', { body: { ids } })
      printEither(json, reply, `${reply.removed} entries are off the whitelist.`)
    })

  whitelist
    .command('change')
    .description('describe an entry anew, or let it end')
    .argument('<ip-or-id>', 'its address or range, or its id')
    .option('--description <text>', 'whose it is')
    .option('--until <time>', 'a time, a date, 7d for so long from now, or none', endOf)
    .action(
      async (typed: string, { description, until }: { description?: string; until?: string }, command: Command) => {
        if (description === undefined && until === undefined)
          throw new Misuse('Say what to change, such as --until 7d.')
        const { client, json } = contextOf(command)
        const { id } = await entryNamed(client, typed)
        const body = {
          ...(description === undefined ? {} : { description }),
          ...(until === undefined ? {} : { expires_at: until === 'none' ? null : until }),
        }
        const entry = await client.call('PATCH /whitelist/{id}', { params: { id }, body })
        if (json) return printJson(entry)
        const end = entry.expires_at === null ? 'until it is removed' : `until ${timeText(entry.expires_at) ?? ''}`
        print(`${safe(described(entry.ip, entry.description))} is on the whitelist ${end}.`)
      },
    )
}

export const addWhitelistCommands = (program: Command): void => {
  const whitelist = program.command('whitelist').description('addresses that no host ever bans')

  const list = whitelist
    .command('list')
    .description('list the entries, oldest first')
    .option('--search <text>', 'part of the address or description')
  withPage(list).action(async (query: { search?: string } & PageOptions, command: Command) => {
    const { client, json } = contextOf(command)
    const list = await client.call('GET /whitelist', { query })
    if (json) return printJson(list)
    printTable(
      ['ADDRESS', 'DESCRIPTION', 'BY', 'ADDED', 'ID'],
      list.whitelist.map(entry => [
        entry.ip,
        entry.description,
        entry.created_by,
        timeText(entry.created_at),
        String(entry.id),
      ]),
    )
    printPlace('entries', list, list.whitelist.length)
  })

  whitelist
    .command('add')
    .description('add an address, a range or a DNS name; active bans that it covers are lifted')
    .argument('<ip-or-name>', 'an address, a CIDR no wider than /8 (IPv4) or /16 (IPv6), or a DNS name')
    .option('--description <text>', 'whose it is')
    .action(async (ip: string, { description = '' }: { description?: string }, command: Command) => {
      const { client, json } = contextOf(command)
      if (isName(ip)) {
        const row = await client.call('POST /whitelist/names', { body: { name: ip, description } })
        return json ? printJson(row) : print(safe(nameWords(row)))
      }
      const entry = await client.call('POST /whitelist', { body: { ip, description } })
      if (json) return printJson(entry)
      print(`${safe(described(entry.ip, entry.description))} is on the whitelist.`)
      if (entry.lifted_bans > 0)
        print(`${entry.lifted_bans} active ${entry.lifted_bans === 1 ? 'ban is' : 'bans are'} being lifted.`)
    })

  addNames(whitelist)
  addChanges(whitelist)

  whitelist
    .command('check')
    .description('whether an address is covered, and by which entry')
    .argument('<ip>', 'an address')
    .action(async (ip: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('GET /whitelist/check/{ip}', { params: { ip } })
      if (json) return printJson(reply)
      const entry = reply.matched_entry
      print(
        entry
          ? `${reply.ip} is whitelisted by ${safe(described(entry.ip, entry.description))}.`
          : `${reply.ip} is not whitelisted.`,
      )
    })

  whitelist
    .command('import')
    .description('add the entries of a file; exit 1 when a line was not taken')
    .argument('<file>', 'the file, or - for standard input')
    .addOption(new Option('--format <format>', "what it holds (default: by the file's ending)").choices(formats))
    .option('--prefix <text>', 'put before each description')
    .action(async (file: string, options: { format?: Format; prefix?: string }, command: Command) => {
      const { client, json } = contextOf(command)
      const { format = formatOf(file), prefix } = options
      const reply = await client.call('POST /whitelist/import', {
        body: {
          format,
          content: await contentOf(file),
          ...(prefix === undefined ? {} : { description_prefix: prefix }),
        },
      })
      if (json) printJson(reply)
      else {
        print(`${reply.imported} added, ${reply.skipped} there already.`)
        if (reply.errors.length > 0) {
          print('')
          printTable(
            ['LINE', 'VALUE', 'ERROR'],
            reply.errors.map(({ line, value, error }) => [line, value, error]),
          )
        }
      }
      if (reply.error_count > 0)
        throw new Failure(`${reply.error_count} ${reply.error_count === 1 ? 'line was' : 'lines were'} not taken.`)
    })

  whitelist
    .command('export')
    .description('print all entries')
    .addOption(new Option('--format <format>', 'in which form').choices(formats).default('plain'))
    .option('--out <file>', 'into this file, which must not be there yet')
    .action(async ({ format, out }: { format: Format; out?: string }, command: Command) => {
      const { client } = contextOf(command)
      const reply = await client.call('GET /whitelist/export', { query: { format } })
      writeOut(out, reply)
    })

  whitelist
    .command('status')
    .description('which servers have applied the present list')
    .action(async (_: object, command: Command) => {
      const { client, json } = contextOf(command)
      const reply = await client.call('GET /whitelist/sync-status')
      if (json) return printJson(reply)
      printTable(
        ['SERVER', 'STATUS', 'ENTRIES', 'CONFIRMED', 'ERROR'],
        reply.servers.map(server => [
          server.hostname,
          server.sync_status,
          server.entry_count,
          timeText(server.last_sync),
          server.error,
        ]),
      )
      const synced = reply.servers.filter(({ sync_status }) => sync_status === 'synced').length
      print(`\n${synced} of ${reply.servers.length} servers have the present list.`)
    })

  whitelist
    .command('sync')
    .description('have servers apply the list again')
    .option('--server <name-or-id...>', 'these servers (default: all)')
    .action(async ({ server }: { server?: readonly string[] }, command: Command) => {
      const { client, json } = contextOf(command)
      const ids = server && (await Promise.all(server.map(name => findServer(client, name))))
      const reply = await client.call('POST /whitelist/sync', { body: ids ? { server_ids: ids } : {} })
      if (json) return printJson(reply)
      print(safe(reply.message))
    })
}
