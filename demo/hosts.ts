import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import { createHash, randomUUID } from 'node:crypto'
import { ApiError, createClient } from '@stockade/client'
import type { Client, Reply } from '@stockade/client'
import { version } from '../packages/server/src/core/places.ts'
import { anAttack } from './attackers.ts'
import type { Draw } from './attackers.ts'
import { protectionOf } from './protection.ts'

/* Simulated hosts: they speak the interface as agents do, and have nobody to protect. */

export interface HostPlan {
  readonly hostname: string
  readonly description: string
  readonly ip: string
  readonly jails: readonly string[]
  /** Bans on a usual day. */
  readonly daily: number
  /** Whether it answers; else it has been silent since it was enrolled. */
  readonly up: boolean
}
const web = ['sshd', 'sshd', 'nginx-http-auth', 'nginx-botsearch', 'nginx-botsearch', 'recidive']
const mail = ['sshd', 'postfix', 'postfix', 'dovecot', 'dovecot', 'recidive']
const plain = ['sshd', 'sshd', 'sshd', 'recidive']
/** No packet is sent in the demo, and the steps say so. */
const simulatedTest = {
  result: 'held',
  steps: [
    { step: 'control', family: 4, ok: null, ms: 0, text: 'simulated host: no packet can be sent' },
    { step: 'ban', family: 4, ok: true, ms: 3, text: 'the simulated host holds a ban of 192.0.2.77' },
    { step: 'lift', family: 4, ok: true, ms: 2, text: 'the simulated host no longer holds it' },
  ],
} satisfies SelfTestResult

export const plans: readonly HostPlan[] = [
  { hostname: 'web-01', description: 'Shop, front', ip: '10.10.1.11', jails: web, daily: 160, up: true },
  { hostname: 'web-02', description: 'Shop, front', ip: '10.10.1.12', jails: web, daily: 150, up: true },
  { hostname: 'web-03', description: 'Blog and docs', ip: '10.10.1.13', jails: web, daily: 90, up: true },
  { hostname: 'web-04', description: 'Staging', ip: '10.10.1.14', jails: web, daily: 30, up: false },
  { hostname: 'mail-01', description: 'Mail in', ip: '10.10.2.11', jails: mail, daily: 140, up: true },
  { hostname: 'mail-02', description: 'Mail out', ip: '10.10.2.12', jails: mail, daily: 110, up: true },
  { hostname: 'db-01', description: 'PostgreSQL, leader', ip: '10.10.3.11', jails: plain, daily: 20, up: true },
  { hostname: 'db-02', description: 'PostgreSQL, follower', ip: '10.10.3.12', jails: plain, daily: 18, up: true },
  { hostname: 'git-01', description: 'Repositories', ip: '10.10.4.11', jails: plain, daily: 120, up: true },
  { hostname: 'vpn-01', description: 'Remote access', ip: '10.10.5.11', jails: plain, daily: 70, up: true },
  { hostname: 'backup-01', description: 'Nightly backups', ip: '10.10.6.11', jails: plain, daily: 12, up: true },
]
/** The twelfth is still waiting for its install command to be run. */
export const waiting = { hostname: 'edge-01', description: 'New rack, not installed yet' }

type FleetBanOrder = Reply<'GET /agent/shield/bans'>['add'][number]
/** One host has no IPv6 in its firewall, so that the demo shows a fleet ban that is not held everywhere. */
const refusedBy = ({ hostname }: HostPlan, orders: readonly FleetBanOrder[]): { id: number; reason: string }[] =>
  hostname === 'db-02'
    ? orders
        .filter(({ entry }) => entry.includes(':'))
        .map(({ id }) => ({ id, reason: 'simulated host: IPv6 is off in its firewall' }))
    : []
/** The digest of what a host holds, as `GET /agent/shield/bans` describes it. */
const digestOf = (orders: readonly FleetBanOrder[], refused: readonly { readonly id: number }[]): string => {
  const ends = new Map<string, number>()
  for (const { id, entry, expires_at: end } of orders)
    if (!refused.some(refusal => refusal.id === id))
      ends.set(entry, Math.max(ends.get(entry) ?? 0, end ?? Number.POSITIVE_INFINITY))
  const lines = [...ends].map(([entry, end]) => `${entry} ${end === Number.POSITIVE_INFINITY ? '-' : end}\n`)
  return createHash('sha256').update(lines.toSorted().join('')).digest('hex')
}

const shield = { supported: true, mode: 'stateful', owned: true, driver: 'netlink', reason: null } as const

const day = 86_400_000
const about = { os: 'Debian GNU/Linux 12 (bookworm)', engine_version: '1.0.2' }
/** Two hosts missed the last release. */
const agentVersionOf = ({ hostname }: HostPlan): string =>
  hostname === 'backup-01' || hostname === 'vpn-01' ? '0.0.9' : version

export interface Host {
  readonly plan: HostPlan
  readonly id: string
  /** Reports the bans of the last days, oldest first. */
  history(days: number): Promise<number>
  /** Beats, is attacked, and does what it is told, until the signal. */
  live(signal: AbortSignal): Promise<void>
}

/** What all hosts share; `offered`: the release that the server offers, null where no agent was built. */
interface Demo {
  readonly baseUrl: string
  readonly draw: Draw
  readonly offered: string | null
}

/** Enrols with the token of the server's install command. */
export const enrol = async (
  { baseUrl, draw, offered }: Demo,
  plan: HostPlan,
  installCommand: string,
): Promise<Host> => {
  const agent_id = randomUUID()
  const { api_key, server_id: id } = await createClient({ baseUrl }).call('POST /agent/enroll', {
    body: {
      token: installCommand.trim().split(' ').at(-1) ?? '',
      hostname: plan.hostname,
      agent_id,
      ...about,
      agent_version: agentVersionOf(plan),
    },
  })
  const client = createClient({ baseUrl, token: api_key })
  /** The jails of the host, and those that templates brought. */
  const jails = [...new Set([...plan.jails, 'stockade'])]
  const templates = new Set<string>()
  const began = Date.now()
  const enabled = new Map(jails.map(jail => [jail, true]))
  const banned = new Map<string, { ip: string; jail: string; until: number }>()

  const report = async (bans: readonly object[], unbans: readonly object[] = []) => {
    await client.call('POST /bans/batch', { body: { bans: [...bans], unbans: [...unbans] } })
  }
  const current = (jail: string) => [...banned.values()].filter(ban => ban.jail === jail).length
  const agentVersion = agentVersionOf(plan)
  let release = agentVersion === version && offered !== null ? offered : `${agentVersion}-5f1c2d3e`
  let previous: string | null = null
  let load = 20
  let memory = 35 + (hashed(plan.hostname) % 40)
  const beat = async () => {
    load = Math.min(90, Math.max(4, load + draw.below(21) - 10))
    memory = Math.min(92, Math.max(20, memory + draw.below(5) - 2))
    await client.call('POST /servers/heartbeat', {
      body: {
        hostname: plan.hostname,
        agent_id,
        ...about,
        agent_version: release.split('-')[0],
        upgrades: { able: true, reason: null, release, previous },
        metrics: {
          cpu_percent: load,
          memory_percent: memory,
          disk_percent: plan.hostname === 'backup-01' ? 88 : 20 + (hashed(plan.hostname) % 45),
          uptime: 86_400 * (3 + (hashed(plan.hostname) % 200)),
        },
        jails: jails.map(name => ({ name, enabled: enabled.get(name) === true, current_bans: current(name) })),
        protection: protectionOf(plan.hostname, began),
        capabilities: { nftables: true, shield },
      },
    })
  }
  const describeJails = async () => {
    await client.call('PUT /agent/jails', {
      body: {
        jails: jails.map(name => ({
          name,
          enabled: enabled.get(name) === true,
          current_bans: current(name),
          filter: name,
          logpath: name.startsWith('nginx') ? '/var/log/nginx/*.log' : '/var/log/auth.log',
          maxretry: name === 'recidive' ? 3 : 5,
          findtime: name === 'recidive' ? 86_400 : 600,
          bantime: name === 'recidive' ? 604_800 : 3600,
          template: templates.has(name) ? name : null,
        })),
      },
    })
  }
  const bansOf = (jail: unknown, ip: unknown) =>
    [...banned].filter(([, ban]) => ban.ip === ip && (jail === '*' || jail === undefined || ban.jail === jail))
  /** One host shows what happens where a release does not work. */
  const upgrade = async (params: Readonly<Record<string, unknown>>): Promise<{ ok: boolean; output: string }> => {
    const isReturn = params.rollback === true
    const version = String(params.version)
    const next = isReturn ? version : `${version}-${String(params.program_sha256).slice(0, 8)}`
    if (plan.hostname === 'backup-01' && !isReturn)
      return { ok: false, output: `${next}: the server did not answer it within 60 s; ${release} runs again.` }
    ;[previous, release] = [release, next]
    await beat()
    return { ok: true, output: `${previous} was replaced by ${next}.` }
  }
  const takeTemplate = async (name: string) => {
    if (!jails.includes(name)) jails.push(name)
    templates.add(name)
    enabled.set(name, true)
    await beat()
    await describeJails()
  }
  const dropTemplate = async (name: string) => {
    templates.delete(name)
    // A jail of the host itself stays when the template goes.
    if (!plan.jails.includes(name)) jails.splice(jails.indexOf(name), jails.includes(name) ? 1 : 0)
    await beat()
    await describeJails()
  }
  /** Does what an order says, to what little state there is, and tells the output. */
  const obey = async (
    type: string,
    params: Readonly<Record<string, unknown>>,
    template: string | undefined,
  ): Promise<{ ok: boolean; output: string }> => {
    if (type === 'deploy-template' && template !== undefined) {
      await takeTemplate(template)
      return { ok: true, output: `The jail ${template} runs.` }
    }
    if (type === 'remove-template') {
      await dropTemplate(String(params.template_name))
      return { ok: true, output: `The jail ${String(params.template_name)} is gone.` }
    }
    const { ip, jail } = params
    const now = Date.now()
    if (plan.hostname === 'db-02' && type === 'service-restart')
      return {
        ok: false,
        output: 'fail2ban.service: Job failed. The unit was started too often; see journalctl -u fail2ban.',
      }
    if (type === 'ban-ip') {
      const seconds = typeof params.duration === 'number' ? params.duration : 86_400
      const name = typeof jail === 'string' ? jail : 'stockade'
      banned.set(`${name} ${String(ip)}`, {
        ip: String(ip),
        jail: name,
        until: seconds < 0 ? Infinity : now + seconds * 1000,
      })
      await report([
        { ip, jail: name, ban_duration: seconds, event_id: randomUUID(), log_lines: '', command_id: params.command_id },
      ])
      return { ok: true, output: `${String(ip)} is banned in ${name}.` }
    }
    if (type === 'unban-ip') {
      const found = bansOf(jail, ip)
      for (const [key] of found) banned.delete(key)
      await report(
        [],
        found.map(([, ban]) => ({ ip: ban.ip, jail: ban.jail, event_id: randomUUID() })),
      )
      return {
        ok: true,
        output:
          found.length === 0
            ? `${String(ip)} was not banned.`
            : `${String(ip)} is free in ${found.length === 1 ? '1 jail' : `${found.length} jails`}.`,
      }
    }
    if (type === 'jail-enable' || type === 'jail-disable') {
      enabled.set(String(jail), type === 'jail-enable')
      await describeJails()
      await beat()
    }
    if (type === 'upgrade-agent') return upgrade(params)
    if (type === 'self-test') return { ok: true, output: JSON.stringify(simulatedTest) }
    if (type === 'jail-status')
      return { ok: true, output: `Jail ${String(jail)}: ${current(String(jail))} addresses banned now.` }
    return { ok: true, output: 'Done.' }
  }
  const obeyAll = async (signal: AbortSignal) => {
    let state = ''
    while (!signal.aborted) {
      const reply = await client.call('GET /servers/{serverId}/commands/pending', {
        params: { serverId: id },
        query: { wait: 25, ...(state === '' ? {} : { state }) },
        signal,
      })
      for (const { id: commandId, type, params, template } of reply.commands) {
        await pause(200 + draw.below(900), signal)
        const { ok, output } = await obey(type, { ...params, command_id: commandId }, template?.name)
        await client.call('POST /commands/{commandId}/result', {
          params: { commandId },
          body: { success: ok, output, exit_code: ok ? 0 : 1 },
        })
      }
      if (reply.desired_state.version === state) continue
      const wanted = await client.call('GET /agent/state')
      const fleetBans = await client.call('GET /agent/shield/bans')
      const refused = refusedBy(plan, fleetBans.add)
      await pause(100 + draw.below(1500), signal)
      await client.call('POST /agent/state/ack', {
        body: {
          version: wanted.version,
          whitelist_version: wanted.whitelist.version,
          entry_count: wanted.whitelist.count,
          portknock: {
            sequences: wanted.portknock.sequences.map(sequence => ({
              id: sequence.id,
              revision: sequence.revision,
              state: 'enforced' as const,
            })),
            openings: wanted.portknock.openings.map(opening => opening.id),
          },
          shield: {
            bans: {
              version: fleetBans.version,
              held: fleetBans.count - refused.length,
              digest: refused.length === 0 ? fleetBans.digest : digestOf(fleetBans.add, refused),
              refused,
            },
          },
        },
      })
      state = wanted.version
    }
  }
  const sufferAttacks = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      // Attackers come at random; the mean gap is what the plan says, a little livelier than the history.
      await pause((-Math.log(1 - draw.random()) * day) / (plan.daily * 4), signal)
      const now = Date.now()
      const attack = anAttack(draw, [...plan.jails, ...templates], new Date(now))
      const key = `${attack.jail} ${attack.ip}`
      if (enabled.get(attack.jail) !== true || banned.has(key)) continue
      banned.set(key, { ip: attack.ip, jail: attack.jail, until: now + attack.ban_duration * 1000 })
      await report([{ ...attack, event_id: randomUUID(), banned_at: new Date(now).toISOString() }])
    }
  }
  const forgetEnded = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await pause(1000, signal)
      for (const [key, { until }] of banned) if (until <= Date.now()) banned.delete(key)
    }
  }
  const keepBeating = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await beat()
      await pause(20_000 + draw.below(8000), signal)
    }
  }
  /** A server that is restarted, or away for a moment, ends nothing. */
  const persist = async (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => {
    while (!signal.aborted)
      try {
        await work(signal)
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return
        await pause(3000, signal)
      }
  }

  await beat()
  await describeJails()
  return {
    plan,
    id,
    async history(days) {
      const now = Date.now()
      const made: { at: number; attack: ReturnType<typeof anAttack> }[] = []
      for (let index = days; index > 0; index--) {
        // A campaign in the middle, quieter weekends, and fewer attacks in the small hours.
        const date = new Date(now - index * day)
        const weekend = [0, 6].includes(date.getUTCDay()) ? 0.7 : 1
        const campaign = index >= 11 && index <= 13 ? 2.2 : 1
        const count = Math.round(plan.daily * weekend * campaign * (0.8 + draw.random() * 0.4))
        for (let number = 0; number < count; number++) {
          const at = now - index * day + draw.random() * day
          if (draw.random() < 0.55 + 0.45 * Math.sin((new Date(at).getUTCHours() / 24) * 2 * Math.PI - 1.8)) {
            made.push({ at, attack: anAttack(draw, plan.jails, new Date(at)) })
            continue
          }
          made.push({ at: now - index * day + draw.random() * day, attack: anAttack(draw, plan.jails, new Date(at)) })
        }
      }
      made.sort((a, b) => a.at - b.at)
      const bans = made.map(({ at, attack }) => ({
        ...attack,
        banned_at: new Date(at).toISOString(),
        event_id: randomUUID(),
      }))
      for (let start = 0; start < bans.length; start += 500) await report(bans.slice(start, start + 500))
      for (const { at, attack } of made)
        if (at + attack.ban_duration * 1000 > now)
          banned.set(`${attack.jail} ${attack.ip}`, {
            ip: attack.ip,
            jail: attack.jail,
            until: at + attack.ban_duration * 1000,
          })
      return bans.length
    },
    async live(signal) {
      if (!plan.up) return
      // A fail2ban that does not run bans nobody.
      const works = [keepBeating, obeyAll, forgetEnded, ...(plan.hostname === 'db-02' ? [] : [sufferAttacks])]
      await Promise.all(works.map(work => persist(work, signal)))
    },
  }
}
const hashed = (text: string) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 9973, 7)
const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>(resolve => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(milliseconds, 2_000_000_000))
    signal.addEventListener('abort', end)
  })

/** Registers every host of the plan, and the one that waits. */
export const enrolAll = async (baseUrl: string, admin: Client, draw: Draw): Promise<Host[]> => {
  const hosts: Host[] = []
  const { release: offered } = await admin.call('GET /agents/release')
  for (const plan of plans) {
    const { install_command } = await admin.call('POST /servers', {
      body: {
        hostname: plan.hostname,
        description: plan.description,
        ip_address: plan.ip,
        tags: [plan.hostname.replace(/-\d+$/, ''), plan.description === 'Staging' ? 'staging' : 'production'],
      },
    })
    hosts.push(await enrol({ baseUrl, draw, offered }, plan, install_command))
  }
  await admin.call('POST /servers', { body: waiting })
  return hosts
}
