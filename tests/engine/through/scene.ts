import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until, type Host } from '../host.ts'
import { neighboursOf, sources, type Neighbours } from '../neighbours.ts'
import { reports, wellAgain } from '../protection.ts'
import type { RecordedScene } from '../stage.ts'

/*
 * What lets banned addresses through, and what only looks like it. A real attacker connects to a real port; the host has to say that a ban
 * does not hold exactly where that connection opens.
 */

/** The port that the jails close and on which the host listens. */
const port = 8080
const attacker = sources.bad

/** Bans with an action of its own, written as public configurations have it. */
const ownAction = (name: string, lines: Readonly<Record<string, string>>): string => {
  const options = { actionstart: '', actionstop: '', actioncheck: '', ...lines }
  return `${name}\0[Definition]\n${Object.entries(options)
    .map(([option, text]) => `${option} = ${text.replaceAll('\n', '\n  ')}`)
    .join('\n')}\n`
}

const ownActions = [
  ownAction('own-input', {
    actionban: 'iptables -w -I INPUT -s <ip> -j DROP',
    actionunban: 'iptables -w -D INPUT -s <ip> -j DROP',
  }),
  ownAction('own-raw', {
    actionban: 'iptables -w -t raw -I PREROUTING -s <ip> -j DROP',
    actionunban: 'iptables -w -t raw -D PREROUTING -s <ip> -j DROP',
  }),
  ownAction('own-range', {
    actionstart: 'iptables -w -N net24\niptables -w -I INPUT -j net24',
    actionstop: 'iptables -w -D INPUT -j net24\niptables -w -F net24\niptables -w -X net24',
    actionban: 'iptables -w -I net24 1 -s <ip>/24 -j DROP',
    actionunban: 'iptables -w -D net24 -s <ip>/24 -j DROP',
  }),
  ownAction('own-mark', {
    actionstart: 'iptables -w -I INPUT -m mark --mark 0x5 -j DROP',
    actionstop: 'iptables -w -D INPUT -m mark --mark 0x5 -j DROP',
    actionban: 'iptables -w -t mangle -I PREROUTING -s <ip> -j MARK --set-mark 0x5',
    actionunban: 'iptables -w -t mangle -D PREROUTING -s <ip> -j MARK --set-mark 0x5',
  }),
  ownAction('own-chain', {
    actionstart:
      'iptables -w -N LOGDROP\niptables -w -A LOGDROP -j DROP\niptables -w -N bl\niptables -w -I INPUT -p tcp --dport <port> -j bl',
    actionstop:
      'iptables -w -D INPUT -p tcp --dport <port> -j bl\niptables -w -F bl\niptables -w -X bl\niptables -w -F LOGDROP\niptables -w -X LOGDROP',
    actionban: 'iptables -w -A bl -s <ip> -j LOGDROP',
    actionunban: 'iptables -w -D bl -s <ip> -j LOGDROP',
  }),
  ownAction('own-nft-range', {
    actionstart:
      "nft 'add table ip own; add set ip own bad { type ipv4_addr; flags interval; }; add chain ip own in { type filter hook prerouting priority -300; }; add rule ip own in ip saddr @bad drop'",
    actionstop: 'nft delete table ip own',
    actionban: 'nft add element ip own bad \\{ <ip>/28 \\}',
    actionunban: 'nft delete element ip own bad \\{ <ip>/28 \\}',
  }),
  ownAction('own-cdn', {
    actionban: 'echo "ban <ip> at the edge" >/dev/null',
    actionunban: 'true',
  }),
]

/** Jail -> its settings. None of them reads a log that grows. */
const jails: Readonly<Record<string, string>> = {
  nft: 'banaction = nftables-multiport',
  'nft-all': 'banaction = nftables-allports',
  other: 'banaction = nftables[type=multiport, name=other, table="other-table"]',
  ipt: 'banaction = iptables-multiport',
  'ipt-all': 'banaction = iptables-allports',
  'ipt-new': 'banaction = iptables-new',
  'ipt-log': 'banaction = iptables-multiport-log',
  docker: 'banaction = iptables-multiport\nchain = DOCKER-USER',
  elsewhere: 'banaction = iptables-multiport\nport = 2222',
  input: 'action = own-input',
  raw: 'action = own-raw',
  range: 'action = own-range',
  mark: 'action = own-mark',
  chain: `action = own-chain[port=${port}]`,
  'nft-range': 'action = own-nft-range',
  cdn: 'action = own-cdn',
}

/** Programs that not every machine has. */
export const hasProgram = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(':').some(place => place !== '' && fs.existsSync(join(place, name)))

const jailsOfPrograms: Readonly<Record<string, string>> = {
  'iptables-legacy': 'banaction = iptables-multiport[iptables="iptables-legacy -w"]',
  ipset: 'banaction = iptables-ipset-proto6',
}

/** A subject that comes and goes more than three times in an hour is slow to be well again. */
const canaries = Array.from({ length: 8 }, (_, index) => `canary${index}`)

const jailText = (name: string, text: string): string =>
  `[${name}]\nenabled = true\nfilter = sshd\nlogpath = /dev/null\n${/^port =/m.test(text) ? '' : `port = ${port}\n`}${text}\n`

export const settings = { bantime: 7200, agentArgs: ['--check-pace', '0.05'] }

export interface Through {
  readonly host: Host
  readonly neighbours: Neighbours
  /** The chain of docker, the jails and their actions. */
  prepare(): Promise<void>
  ban(jail: string): Promise<void>
  unban(jail: string): Promise<void>
  /** Waits until the attacker gets in, or does not. */
  getsIn(isIn: boolean): Promise<void>
  /** Waits until the report names this jail so. */
  told(jail: string, level: string, says: RegExp): Promise<void>
  /** Waits until the agent has looked at everything anew, and found nothing about the jail but `states`. */
  silent(jail: string, states?: readonly string[]): Promise<void>
  well(): Promise<void>
  end(): Promise<void>
}

export const throughOn = async (scene: RecordedScene): Promise<Through> => {
  const { host } = scene
  const neighbours = await neighboursOf(host)
  const banned = '203.0.113.250'
  let silences = 0
  const ofJail = (jail: string) =>
    (reports(scene).at(-1)?.checks ?? []).filter(({ subject }) => subject === jail || subject?.startsWith(`${jail}: `))

  const through: Through = {
    host,
    neighbours,
    async prepare() {
      for (const text of ownActions) {
        const [name = '', body = ''] = text.split('\0')
        fs.writeFileSync(join(host.f2bConfig, 'action.d', `${name}.conf`), body)
      }
      const texts = [
        ...Object.entries(jails).map(([name, text]) => jailText(name, text)),
        ...Object.entries(jailsOfPrograms).flatMap(([name, text]) => (hasProgram(name) ? [jailText(name, text)] : [])),
        ...canaries.map(name => jailText(name, 'banaction = nftables-multiport')),
      ]
      fs.writeFileSync(join(host.f2bConfig, 'jail.d', 'through.local'), texts.join(''))
      await host.inside('iptables', '-w', '-N', 'DOCKER-USER')
      await host.inside('iptables', '-w', '-A', 'DOCKER-USER', '-j', 'RETURN')
      await host.inside('iptables', '-w', '-I', 'FORWARD', '-j', 'DOCKER-USER')
      await host.client('reload')
    },
    ban: async jail => void (await host.client('set', jail, 'banip', attacker)),
    unban: async jail => void (await host.client('set', jail, 'unbanip', attacker)),
    getsIn: isIn =>
      until(
        async () => (await neighbours.reachesHost(attacker)) === isIn,
        `the attacker ${isIn ? 'inside' : 'outside'}`,
      ),
    async told(jail, level, says) {
      await until(
        () => reports(scene).at(-1)?.level === level && ofJail(jail).some(({ detail }) => says.test(detail)),
        `${jail} ${level}: ${says.source}`,
        () => reports(scene).at(-1),
      )
    },
    async silent(jail, states = []) {
      // A ban that is lost now is told after two looks at all jails.
      const canary = canaries[silences++ % canaries.length] ?? ''
      await host.client('set', canary, 'banip', banned)
      await until(() => host.bannedInNft(banned), 'the ban of the canary')
      await host.inside('nft', 'delete', 'element', 'inet', 'f2b-table', `addr-set-${canary}`, `{ ${banned} }`)
      await until(
        () => ofJail(canary).some(({ state }) => state === 'bad'),
        'the loss of the canary',
        () => reports(scene).at(-1),
      )
      expect(ofJail(jail).filter(({ state }) => !states.includes(state))).toEqual([])
      await host.client('set', canary, 'unbanip', banned).catch(() => undefined)
      await wellAgain(scene)
      expect(ofJail(jail).filter(({ state }) => !states.includes(state))).toEqual([])
    },
    well: () => wellAgain(scene),
    end: () => neighbours.end(),
  }
  return through
}

/** What somebody does to the firewall of a jail after its ban, and how it ends. */
export interface Sabotage {
  readonly jail: string
  /** Commands on the host, one a line. */
  readonly does: string
  readonly mends: string
  /** What the host has to say; null: the ban still holds, and nothing is said. */
  readonly says: RegExp | null
  readonly level?: string
}

const commands = async (host: Host, lines: string): Promise<void> => {
  for (const line of lines.split('\n').filter(Boolean)) await host.inside('sh', '-ec', line)
}

/** The attacker is banned, the sabotage is done, and the host has to say what really happens to the attacker's packets. */
export const play = async (
  through: Through,
  { jail, does, mends, says, level = 'unprotected' }: Sabotage,
): Promise<void> => {
  const { host } = through
  await through.ban(jail)
  try {
    await commands(host, does)
    await through.getsIn(says !== null)
    if (says === null) await through.silent(jail)
    else await through.told(jail, level, says)
    await commands(host, mends)
    await through.getsIn(false)
    await through.well()
  } catch (error) {
    await commands(host, mends).catch(() => undefined)
    throw error
  } finally {
    await through.unban(jail)
  }
  await through.getsIn(true)
}
