import { Option } from 'commander'
import type { Command } from 'commander'
import type { Reply } from '@stockade/client'
import type { Protection, ProtectionLevel } from '@stockade/contract'
import type { LastSelfTest } from '@stockade/contract/command-types/self-test.ts'
import { contextOf } from './context.ts'
import { addEnrolment } from './enrolment.ts'
import { addEnrolmentTokens } from './enrolment-tokens.ts'
import { addServerFigures } from './figures.ts'
import { findServer } from './named.ts'
import { addQuarantine } from './quarantine.ts'
import { print, printFields, printJson, printPlace, printTable, protectedWithWarnings } from './print.ts'
import { withPage } from './rows.ts'
import { safe } from './safe.ts'
import type { PageOptions } from './rows.ts'
import { addTags } from './tags.ts'
import { timeText, spanOf } from './times.ts'

const percent = (value: number | null | undefined) => (value === null || value === undefined ? null : `${value} %`)

/** A warning alone leaves the level as it is, and is to be seen all the same. */
const isWarned = ({ protection }: { readonly protection: Pick<Protection, 'level' | 'problem'> }): boolean =>
  protection.level === 'protected' && Boolean(protection.problem)
const levelOf = (server: { readonly protection: Pick<Protection, 'level' | 'problem'> }): string =>
  isWarned(server) ? protectedWithWarnings : server.protection.level

const shownTest = (test: LastSelfTest | null) => test && `${test.result}, ${timeText(test.at)}`

interface ListOptions extends PageOptions {
  readonly status?: 'online' | 'offline' | 'pending' | 'all'
  readonly protection?: ProtectionLevel
  readonly tag?: string
  readonly search?: string
}

export const addServerCommands = (program: Command): void => {
  const servers = program
    .command('servers')
    .description('list servers; add, remove and quarantine them')
    .addOption(new Option('--status <status>', 'only these').choices(['online', 'offline', 'pending', 'all']))
    .addOption(
      new Option('--protection <level>', 'only these').choices(['protected', 'degraded', 'unprotected', 'unknown']),
    )
    .option('--tag <tag>', 'those with this tag')
    .option('--search <text>', 'part of the hostname or address')
  withPage(servers).action(async (query: ListOptions, command: Command) => {
    const { client, json } = contextOf(command)
    const list = await client.call('GET /servers', {
      query: {
        ...(query.status ? { status: query.status } : {}),
        ...(query.protection ? { protection: query.protection } : {}),
        ...(query.tag ? { tag: query.tag } : {}),
        ...(query.search ? { search: query.search } : {}),
        ...(query.limit ? { limit: query.limit } : {}),
        ...(query.page ? { page: query.page } : {}),
      },
    })
    if (json) return printJson(list)
    printTable(
      ['HOSTNAME', 'STATUS', 'PROTECTION', 'ADDRESS', 'FAIL2BAN', 'AGENT', 'JAILS', 'BANS', 'LAST HEARTBEAT', 'ID'],
      list.servers.map(server => [
        server.hostname,
        server.status,
        levelOf(server),
        server.ip_address,
        server.engine_version,
        server.agent_version,
        server.active_jails,
        server.total_bans,
        timeText(server.last_heartbeat),
        server.id,
      ]),
    )
    const warned = list.servers.filter(isWarned)
    if (warned.length > 0) print('')
    for (const { hostname, protection } of warned) print(`${safe(hostname)}: ${safe(protection.summary ?? '')}`)
    printPlace('servers', list, list.servers.length)
  })
  addEnrolment(servers)
  addEnrolmentTokens(servers)
  addQuarantine(servers)
  addTags(servers)
  addServerFigures(servers)

  program
    .command('server')
    .description('show one server')
    .argument('<name-or-id>', 'its hostname or id')
    .option('--jails', 'all jails of its configuration, not only those that are enabled')
    .action(async (typed: string, { jails }: { jails?: boolean }, command: Command) => {
      const { client, json } = contextOf(command)
      const server = await client.call('GET /servers/{serverId}', {
        params: { serverId: await findServer(client, typed) },
      })
      if (json) return printJson(server)
      const uptime = server.metrics?.uptime
      printFields([
        ['hostname', server.hostname],
        ['calls itself', server.reported_hostname === server.hostname ? null : server.reported_hostname],
        ['id', server.id],
        ['status', server.status],
        ['protection', levelOf(server)],
        ['since', timeText(server.protection.since)],
        ['because', server.protection.level === 'protected' && !isWarned(server) ? null : server.protection.summary],
        ['self-test', shownTest(server.last_self_test)],
        ['address', server.ip_address],
        ['description', server.description],
        ['tags', server.tags.join(', ')],
        ['system', server.os],
        ['fail2ban', server.engine_version],
        ['agent', server.agent_version],
        ['bans', server.total_bans],
        ['bans today', server.bans_today],
        ['processor', percent(server.metrics?.cpu_percent)],
        ['memory', percent(server.metrics?.memory_percent)],
        ['disk', percent(server.metrics?.disk_percent)],
        ['up for', uptime === null || uptime === undefined ? null : spanOf(uptime)],
        ['last heartbeat', timeText(server.last_heartbeat)],
        ['registered', timeText(server.created_at)],
      ])
      const { checks } = server.protection
      if (checks.length > 0) {
        print('')
        printTable(
          ['CHECK', 'ABOUT', 'STATE', 'SINCE', 'WHAT IS WRONG'],
          checks.map(check => [check.id, check.subject, check.state, timeText(check.since), check.detail]),
        )
      }
      printJails(server.jails, jails === true)
    })
}

type Jail = Reply<'GET /servers/{serverId}'>['jails'][number]

/** fail2ban's packages come with a hundred jails, of which a server enables a few. */
const printJails = (jails: readonly Jail[], areAllShown: boolean): void => {
  const listed = areAllShown ? jails : jails.filter(({ enabled }) => enabled)
  const rest = jails.length - listed.length
  if (jails.length === 0) return
  print('')
  if (listed.length > 0)
    printTable(
      ['JAIL', 'STATE', 'BANNED NOW'],
      listed.map(jail => [jail.name, jail.enabled ? 'enabled' : 'disabled', jail.current_bans]),
    )
  if (rest > 0) print(`${rest} more in its configuration ${rest === 1 ? 'is' : 'are'} disabled; --jails lists them.`)
}
