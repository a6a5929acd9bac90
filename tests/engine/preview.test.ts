import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JailPreviewResult } from '@stockade/contract/command-types/index.ts'
import { writeOperatorKey } from '@stockade/contract/seal.ts'
import { findInterpreter } from '../../packages/agent/src/python/interpreter.ts'
import { preview as previewProgram } from '../../packages/agent/src/python/programs.ts'
import { stamp } from './host-config.ts'
import { authLog } from './protection.ts'
import { carriedOut } from './scenarios.ts'
import { onStage, type RecordedScene } from './stage.ts'

/* What a jail would have banned, asked of a real fail2ban's own filter. */

const hour = 3600
let lastPid = 9000
/** Log lines of sshd, ten seconds apart, that begin the given number of hours ago. */
const lines = (text: string, { ago, times = 1 }: { ago: number; times?: number }): string =>
  Array.from(
    { length: times },
    (_, n) => `${stamp(-ago * hour + 10 * n)} host sshd[${(lastPid += 1)}]: ${text}\n`,
  ).join('')
const failed = (ip: string, when: { ago: number; times?: number }): string =>
  lines(`Failed password for invalid user secretname from ${ip} port 40001 ssh2`, when)

const previewOf = async (
  scene: RecordedScene,
  params: Record<string, unknown> = {},
  jail = 'quiet',
): Promise<JailPreviewResult> => {
  const { success, output } = await carriedOut(scene, 'jail-preview', { jail, ...params })
  expect([success, output]).toEqual([true, expect.any(String)])
  return JSON.parse(output) as JailPreviewResult
}
const addressesOf = ({ addresses }: JailPreviewResult) =>
  addresses.map(({ ip, failures, bans, stopped }) => [ip, failures, bans, stopped])

/** A jail of the configuration that does not run: the preview needs its files only. */
const addJail = ({ host }: RecordedScene, name: string, text: string, filter = 'sshd'): void =>
  fs.appendFileSync(
    join(host.f2bConfig, 'jail.local'),
    `\n[${name}]\nenabled = true\nfilter = ${filter}\nport = 22\n${text}\n`,
  )

onStage(
  'the preview of a jail',
  [],
  scene => {
    const logOf = (name: string): string => join(scene().host.directory, 'log', name)

    it('names who would have been banned, when, and who is spared or signed in later', async () => {
      addJail(scene(), 'quiet', `maxretry = 5\nlogpath = ${logOf('quiet.log')}`)
      const times = { times: 4 }
      fs.writeFileSync(
        logOf('quiet.log'),
        [
          failed('203.0.113.1', { ago: 30, times: 9 }),
          failed('203.0.113.2', { ago: 20, ...times }),
          failed('203.0.113.3', { ago: 15, ...times }),
          lines('Accepted password for root from 203.0.113.3 port 40001 ssh2', { ago: 14 }),
          failed('203.0.113.4', { ago: 10, ...times }),
          failed('198.51.100.5', { ago: 9, times: 7 }),
          failed('198.51.100.6', { ago: 8, times: 2 }),
          lines('Connection closed by 198.51.100.9 port 40001', { ago: 7 }),
        ].join(''),
      )
      const before = fs.readFileSync(logOf('quiet.log'))
      const own = await previewOf(scene())
      expect(own).toMatchObject({
        jail: 'quiet',
        settings: { maxretry: 5, findtime: 600, bantime: 600 },
        ...{ banned: 1, whitelisted: 0, signed_in: 0, failures: 21, other_ids: 0 },
        log: { lines: 32, long_lines: 0, cut: null, total_bytes: before.length },
      })
      expect(addressesOf(own)).toEqual([['198.51.100.5', 7, 1, 2]])

      const strict = await previewOf(scene(), { maxretry: 3, ignoreip: ['203.0.113.4/32'], bantime: -1 })
      expect(strict).toMatchObject({ banned: 3, whitelisted: 1, signed_in: 1, settings: { maxretry: 3, bantime: -1 } })
      expect(strict.addresses.find(({ ip }) => ip === '203.0.113.4')?.whitelisted).toBe(true)
      expect(strict.addresses.find(({ ip }) => ip === '203.0.113.3')?.signed_in_at).not.toBeNull()
      const { banned_at = '' } = strict.addresses.find(({ ip }) => ip === '198.51.100.5') ?? {}
      // Its third attempt, as the log has it.
      const attempts = before
        .toString()
        .split('\n')
        .filter(line => line.includes('198.51.100.5'))
      expect(attempts[2]).toContain(new Date(banned_at).toTimeString().slice(0, 8))

      expect(addressesOf(await previewOf(scene(), { days: 2 }))[0]).toEqual(['203.0.113.1', 9, 1, 4])
      expect(addressesOf(await previewOf(scene(), { maxretry: 3, findtime: 5 }))).toEqual([])

      // Nothing of it was banned, changed, or told.
      expect(fs.readFileSync(logOf('quiet.log')).equals(before)).toBe(true)
      expect(JSON.stringify(strict)).not.toContain('secretname')
      expect(scene().server.rows.map(({ ip }) => ip)).not.toContain('198.51.100.5')
      expect(await scene().host.bannedInNft('198.51.100.5')).toBe(false)
    })

    it('takes the settings of the jail that runs, and reads the log before the last rotation', async () => {
      const { host } = scene()
      const policy = join(host.agentConfig, 'policy.json')
      fs.writeFileSync(policy, JSON.stringify({ version: 1, log_paths: [join(host.directory, 'log', '*')] }))
      await host.client('set', 'sshd', 'maxretry', '9')
      await host.client('set', 'sshd', 'addignoreip', '198.51.100.0/24')
      fs.writeFileSync(`${authLog(host)}.1`, failed('203.0.113.20', { ago: 12, times: 10 }))
      fs.appendFileSync(authLog(host), failed('198.51.100.20', { ago: 11, times: 10 }))
      const preview = await previewOf(scene(), {}, 'sshd')
      expect(preview).toMatchObject({ banned: 1, whitelisted: 1, settings: { maxretry: 9 } })
      expect(addressesOf(preview)).toEqual([
        ['198.51.100.20', 10, 1, 1],
        ['203.0.113.20', 10, 1, 1],
      ])
    })

    it('reads the newest part of a very long log, and the beginning of very long lines', async () => {
      addJail(scene(), 'long', `logpath = ${logOf('long.log')}`)
      const log = fs.openSync(logOf('long.log'), 'w')
      fs.ftruncateSync(log, 10 * 1024 ** 3)
      fs.closeSync(log)
      for (let n = 0; n < 20; n += 1)
        fs.appendFileSync(
          logOf('long.log'),
          `\n${lines('x'.repeat(1_000_000), { ago: 6 })}${failed('203.0.113.30', { ago: 5, times: 1 })}`,
        )
      const { log: part, ...preview } = await previewOf(scene(), { maxretry: 3 }, 'long')
      expect(part).toMatchObject({ cut: 'bytes', read_bytes: 16 * 1024 * 1024 })
      expect(part.long_lines).toBeGreaterThan(10)
      expect(preview.banned).toBe(1)
    })

    it('refuses expressions that may take for ever', async () => {
      const { host } = scene()
      addJail(scene(), 'endless', `logpath = ${logOf('quiet.log')}`, 'stockade-endless')
      fs.writeFileSync(
        join(host.f2bConfig, 'filter.d', 'stockade-endless.conf'),
        '[Definition]\nfailregex = ^(?:\\w+\\s?)+ denied from <HOST>$\n',
      )
      const { success, output } = await carriedOut(scene(), 'jail-preview', { jail: 'endless' })
      expect([success, output]).toEqual([
        false,
        expect.stringContaining('nothing was tried, since the jail has errors'),
      ])
      expect(output).toMatch(/a repetition can take the same text in several ways/)
    })

    const template = (more: object = {}): Record<string, unknown> => ({
      name: 'shop',
      jail_config: `[shop]\nport = 443\nbackend = polling\nmaxretry = 5\nlogpath = ${logOf('shop.log')}\n`,
      filter_config: '[Definition]\nfailregex = ^ shop: wrong password from <HOST>$\n',
      required_files: [],
      settings: {},
      ...more,
    })
    const templatePreview = (params: Record<string, unknown>) =>
      carriedOut(scene(), 'template-preview', { template_id: 7, settings: {}, ...params })

    it('says of a template that is not deployed whom it would have banned, in 30,000 lines', async () => {
      const { host } = scene()
      const at = (n: number): string => stamp(-3 * hour + Math.floor(n / 10))
      const wrong = (n: number): string => `${at(n)} shop: wrong password from 198.18.${n % 50}.1\n`
      fs.writeFileSync(logOf('shop.log'), Array.from({ length: 30_000 }, (_, n) => wrong(n)).join(''))
      const files = (): string[] => fs.readdirSync(host.f2bConfig, { recursive: true, encoding: 'utf8' }).sort()
      const [before, jails] = [files(), await host.client('status')]
      const { success, output } = await templatePreview({
        template: template({ settings: { maxretry: 4, bantime: -1 } }),
      })
      expect([success, output]).toEqual([true, expect.any(String)])
      const { addresses, ...preview } = JSON.parse(output) as JailPreviewResult
      expect(preview).toMatchObject({
        ...{ jail: 'shop', settings: { maxretry: 4, findtime: 600, bantime: -1 } },
        ...{ banned: 50, whitelisted: 0, failures: 30_000, log: { lines: 30_000, cut: null } },
      })
      expect(addresses[0]).toMatchObject({ ip: '198.18.0.1', failures: 600, bans: 1, stopped: 596 })
      expect([files(), await host.client('status')]).toEqual([before, jails])
    })

    it('tries no expression of a template that may take for ever, and reads no log that a deployment would not', async () => {
      const endless = '[Definition]\nfailregex = ^(?:\\w+\\s?)+ denied from <HOST>$\n'
      const elsewhere = String(template()['jail_config']).replace(logOf('shop.log'), '/etc/shadow')
      for (const [sent, says] of [
        [template({ filter_config: endless }), /a repetition can take the same text in several ways/],
        [template({ jail_config: elsewhere }), /logpath \/etc\/shadow is not below \/var\/log/],
      ] as const) {
        const { success, output } = await templatePreview({ template: sent })
        expect([success, output]).toEqual([false, expect.stringMatching(says)])
      }
    })

    it('is ended by the kernel where one line alone takes an expression too long, which no trial foresaw', async () => {
      const stream = [
        ['add', 'slow', 'polling'],
        ['set', 'slow', 'addfailregex', '^.*a.*b.*c from <HOST>$'],
      ]
      fs.writeFileSync(logOf('slow.log'), `${stamp()} host shop: ${'abc'.repeat(2500)}\n`)
      const bounds = { bytes: 1_000_000, entries: 1, line: 8192, cpu: 0.5, addresses: 10 }
      const asked = {
        name: 'slow',
        stream,
        files: [logOf('slow.log')],
        since: 0,
        ignoreip: [],
        links: false,
        ...bounds,
      }
      const settings = { maxretry: 3, findtime: 600, bantime: 600 }
      const run = findInterpreter(null).run(previewProgram, { ...asked, ...settings })
      await expect(run).rejects.toThrow('stopped by SIGPROF')
    })

    it('refuses a log that leads out of its place, and what is no file', async () => {
      fs.symlinkSync('/etc/shadow', logOf('shadow.log'))
      execFileSync('mkfifo', [logOf('pipe.log')])
      for (const [jail, says] of [
        ['shadow', /lies outside \/var\/log; "log_paths" in policy\.json on this host does not name it either$/],
        ['pipe', /pipe\.log is no file$/],
      ] as const) {
        addJail(scene(), jail, `logpath = ${logOf(`${jail}.log`)}`)
        const { success, output } = await carriedOut(scene(), 'jail-preview', { jail })
        expect([success, output]).toEqual([false, expect.stringMatching(says)])
      }
    })

    it('refuses a jail that is not there or not enabled, and settings out of bounds', async () => {
      for (const [params, says] of [
        [
          { jail: 'nowhere' },
          /^nothing was tried, since the jail has errors:\nthere is no jail nowhere in the configuration$/,
        ],
        [{ jail: 'apache-auth' }, /^the jail apache-auth is not enabled on this host$/],
        [{ jail: 'sshd', days: 8 }, /^"days" must be 1 to 7$/],
        [{ jail: 'sshd', maxretry: 0 }, /^"maxretry" must be 1 to 1000$/],
        [{ jail: 'sshd', ignoreip: ['office.example'] }, /^"ignoreip" must be at most 100 addresses and ranges$/],
        [{ jail: '../etc' }, /^"jail" must be the name of a jail$/],
      ] as const) {
        const { success, output } = await carriedOut(scene(), 'jail-preview', params)
        expect([success, output]).toEqual([false, expect.stringMatching(says)])
      }
    })

    it('is refused where the policy of the host or its operators say so', async () => {
      const { host } = scene()
      const policy = join(host.agentConfig, 'policy.json')
      const text = fs.readFileSync(policy, 'utf8')
      fs.writeFileSync(policy, JSON.stringify({ ...(JSON.parse(text) as object), commands: ['ban-ip'] }))
      expect(await carriedOut(scene(), 'jail-preview', { jail: 'sshd' })).toMatchObject({
        success: false,
        output: 'policy.json on this host refuses jail-preview',
      })
      fs.writeFileSync(policy, text)
      fs.writeFileSync(policy, JSON.stringify({ ...(JSON.parse(text) as object), refuse: ['deploy-template'] }))
      expect(await templatePreview({ template: template() })).toMatchObject({
        success: false,
        output: 'policy.json on this host refuses template-preview',
      })
      fs.writeFileSync(policy, text)
      expect(await previewOf(scene(), {}, 'sshd')).toMatchObject({ jail: 'sshd' })
      const { publicKey } = generateKeyPairSync('ed25519')
      const key = writeOperatorKey({
        kind: 'ed25519',
        name: 'anna',
        spki: publicKey.export({ type: 'spki', format: 'der' }).toString('base64url'),
      })
      await host.agentCommand('trust', 'add', key, '--types', 'jail-preview')
      expect(await carriedOut(scene(), 'jail-preview', { jail: 'sshd' })).toMatchObject({
        success: false,
        output: "this host takes jail-preview only with an operator's signature, and this command has none",
      })
      expect(scene().server.complaints).toEqual([])
    })
  },
  { hasUnitRights: true },
)
