import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installedEngine, type EngineFiles } from '../../host-config.ts'
import { loudly } from '../../host.ts'
import { neighboursOf, type Neighbours } from '../../neighbours.ts'
import { onStage } from '../../stage.ts'
import { hasProgram } from '../../through/scene.ts'
import { firewallKinds } from '../firewalls.ts'
import { unpackedEngines } from '../settings.ts'
import { jailText, logOf, note, playRow, shell } from './play.ts'
import { firewalldBegins } from './prelude.ts'
import { firewallNames, rows, type FirewallName, type Row } from './rows.ts'

/*
 * `npm run check -- sabotage --table FILE` plays every row on fail2ban 1.0.2 and 1.1.0 with each firewall. SABOTAGE_ENGINES, SABOTAGE_FIREWALLS
 * and SABOTAGE_ROWS (an expression) choose some of them. Without the check a few rows on firewalld are a part of the long suite.
 */

const { STOCKADE_SABOTAGE, SABOTAGE_RECORD_ROWS, SABOTAGE_PACE } = process.env
const isWhole = STOCKADE_SABOTAGE === 'table'
const accelerated = Number(SABOTAGE_PACE ?? (isWhole ? '0.1' : '0.05'))
/** Seconds without a word after which a row is silent: two rounds of the slowest check. */
const silenceAt = (pace: number): number => Math.max(6, 60 * pace)

const chosen = (variable: string, name: string): boolean => {
  const wanted = process.env[variable] ?? ''
  return wanted === '' || wanted.split(',').includes(name)
}
const engines: readonly EngineFiles[] = isWhole
  ? [installedEngine, ...unpackedEngines().filter(({ version }) => version === '1.1.0')].filter(({ version }) =>
      chosen('SABOTAGE_ENGINES', version),
    )
  : STOCKADE_SABOTAGE === undefined
    ? [installedEngine]
    : []
if (engines.length === 0) it.skip('the table of sabotages: `npm run check -- sabotage --table FILE` plays it')
const firewalls = firewallNames.filter(name => (isWhole ? chosen('SABOTAGE_FIREWALLS', name) : name === 'firewalld'))
const pattern = new RegExp(process.env['SABOTAGE_ROWS'] ?? '')

const settingsOf = (firewall: FirewallName, version: string) =>
  firewall === 'firewalld'
    ? { banactions: ['firewallcmd-rich-rules', 'firewallcmd-rich-rules'] as const }
    : firewallKinds[firewall].settings(version)

const missingFor = (firewall: FirewallName): string[] => {
  const programs = { nftables: ['nft'], iptables: ['iptables'], legacy: ['iptables-legacy'], ipset: ['ipset'] }
  const needed = firewall === 'firewalld' ? ['firewalld', 'firewall-cmd', 'dbus-daemon'] : programs[firewall]
  return [...needed, 'bash'].filter(name => !hasProgram(name))
}

const titleOf = (engine: EngineFiles, firewall: FirewallName): string =>
  `the table of sabotages, fail2ban ${engine.version}, ${firewall}`

for (const engine of engines)
  for (const firewall of firewalls) {
    const missing = missingFor(firewall)
    const title = titleOf(engine, firewall)
    if (missing.length > 0) {
      loudly(`SKIPPED: ${title}: needs ${missing.join(', ')}`)
      it.skip(title)
      continue
    }
    const version = execFileSync(join(engine.bin, 'fail2ban-client'), ['-V'], { encoding: 'utf8' }).trim()
    const played = rows
      .map((row, index) => ({ row, jail: `r${index}` }))
      .filter(({ row }) => row.on.includes(firewall) && (isWhole || row.on.length === 1))
      .filter(({ row }) => pattern.test(row.name))
      .filter(({ row }) => !/ufw/.test(row.name) || hasProgram('ufw'))
    onHost(
      engine,
      firewall,
      version,
      accelerated,
      played.filter(({ row }) => row.isAtRealPace !== true),
    )
    onHost(
      engine,
      firewall,
      version,
      1,
      played.filter(({ row }) => row.isAtRealPace === true),
    )
  }

interface Played {
  readonly row: Row
  readonly jail: string
}

function onHost(
  engine: EngineFiles,
  firewall: FirewallName,
  version: string,
  pace: number,
  played: readonly Played[],
): void {
  if (played.length === 0) return
  const client = join(engine.bin, 'fail2ban-client')
  onStage(
    `${titleOf(engine, firewall)}, pace ${pace}`,
    [],
    scene => {
      let neighbours: Neighbours
      beforeAll(async () => {
        const { host } = scene()
        neighbours = await neighboursOf(host)
        // Attackers come from the Internet.
        await host.inside('ip', 'route', 'add', 'default', 'via', '10.91.1.2', 'dev', 'att0')
        // A resolver that is reached and never answers makes each start of fail2ban wait 20 s.
        await shell(host, {}, 'rm -f /etc/resolv.conf; echo nameserver 127.0.0.1 >/etc/resolv.conf')
        if (firewall === 'firewalld') await shell(host, {}, firewalldBegins)
        for (const { row, jail } of played) if (row.hasLog === true) fs.writeFileSync(logOf(jail, host.directory), '')
        fs.writeFileSync(
          join(host.f2bConfig, 'jail.d', 'table.local'),
          played.map(({ row, jail }) => jailText(row, jail, host.directory)).join(''),
        )
        await host.client('reload')
      })
      afterAll(() => neighbours.end())
      for (const { row, jail } of played)
        it(row.name, async () => {
          const outcome = await playRow(scene(), neighbours, row, { jail, client, silence: silenceAt(pace) })
          note(SABOTAGE_RECORD_ROWS, { fail2ban: version, firewall, pace, row: row.name, harm: row.harm, ...outcome })
          expect(outcome.wrong, outcome.words).toBeNull()
        })
    },
    {
      ...settingsOf(firewall, engine.version),
      ...{ engine, bantime: 7200, hasOwnSystem: true, hasUnitRights: true },
      agentArgs: ['--check-pace', String(pace)],
    },
  )
}
