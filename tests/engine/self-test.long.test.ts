import { expect, it } from 'vitest'
import type { SelfTestResult } from '@stockade/contract/command-types/self-test.ts'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { until } from './host.ts'
import { neighboursOf, publishContainer } from './neighbours.ts'
import { firewallKinds, silenceBans } from './sabotage/firewalls.ts'
import { carriedOut } from './scenarios.ts'
import { onStage } from './stage.ts'

/** A jail with a firewall action of its own. */
const jailLocal = `
[web]
enabled = true
filter = sshd
logpath = /dev/null
banaction = nftables-allports
`

onStage(
  'the self-test on a real kernel',
  [],
  scene => {
    const run = async (params: Record<string, unknown> = {}): Promise<SelfTestResult & { success: boolean }> => {
      const { success, output } = await carriedOut(scene(), 'self-test', params)
      return { success, ...(JSON.parse(output) as SelfTestResult) }
    }
    /** What the test may have left behind on the host. */
    const leftovers = async (): Promise<string> => {
      const { host } = scene()
      const links = await host.inside('ip', 'link')
      const routes = await host.inside('ip', 'route')
      const rules = await host.inside('nft', 'list', 'table', 'inet', 'stockade_shield')
      const ofEngine = [await host.inside('nft', 'list', 'ruleset'), await host.client('status')]
      const found = /stockprobe|stockade-probe|192\.0\.2\.\d+|2001:db8:ffff:.*/
      const folders = [host.agentState, join(host.f2bConfig, 'jail.d'), join(host.f2bConfig, 'filter.d')]
      const files = folders.flatMap(folder => fs.readdirSync(folder)).filter(name => /self-test|probe/.test(name))
      return [links, routes, rules, ...ofEngine].map(text => found.exec(text)?.[0] ?? '').join('') + files.join()
    }

    it('proves that a packet of a banned address is dropped, on both families, and leaves nothing behind', async () => {
      const { success, result, steps } = await run()
      expect({ success, result, steps }).toMatchObject({ success: true, result: 'proved' })
      expect(steps.map(({ family, step, ok }) => `${family} ${step} ${ok}`)).toEqual(
        [4, 6].flatMap(family => ['control', 'ban', 'drop', 'lift'].map(step => `${family} ${step} true`)),
      )
      // The kernel's own counter of the ban, not ours.
      expect(steps.filter(({ step }) => step === 'drop').map(({ text }) => text)).toEqual(
        [4, 6].map(() => expect.stringMatching(/; the kernel dropped [1-9]/)),
      )
      expect(await leftovers()).toBe('')
      expect(scene().server.rows.filter(({ ip }) => ip.startsWith('192.0.2.'))).toEqual([])
    })

    it('with fail2ban: a line in a log bans an address, and its packets do not get through', async () => {
      const { host, server, serverId } = scene()
      const { success, result, steps } = await run({ level: 'engine' })
      expect({ success, result, steps }).toMatchObject({ success: true, result: 'proved' })
      const hopsOfAction = [
        '4 engine-jail true',
        ...[4, 6].flatMap(family => ['engine-ban', 'engine-drop', 'engine-lift'].map(step => `${family} ${step} true`)),
      ]
      expect(steps.slice(8).map(({ family, step, ok }) => `${family} ${step} ${ok}`)).toEqual([
        ...hopsOfAction,
        ...hopsOfAction,
      ])
      // Those that jails use, the most used first, and not only the one of the configuration for all jails.
      expect(steps.filter(({ step }) => step === 'engine-jail').map(({ text }) => text)).toEqual([
        expect.stringMatching(/with the action nftables-multiport \(of jail (?:sshd|nginx-http-auth) and 1 more\)$/),
        expect.stringMatching(/with the action nftables-allports \(of jail web\)$/),
      ])
      expect(steps.filter(({ step }) => step === 'engine-drop').map(({ text }) => text)).toEqual(
        ['multiport', 'multiport', 'allports', 'allports'].map(
          kind => `packets of the address that fail2ban banned by nftables-${kind} do not get through`,
        ),
      )
      expect(await leftovers()).toBe('')
      expect(server.rows.filter(({ jail }) => jail === 'stockade-probe')).toEqual([])
      expect(server.jailDetails(serverId).map(({ name }) => name)).not.toContain('stockade-probe')

      const restore = await silenceBans(host, firewallKinds.nftables)
      try {
        const broken = await run({ level: 'engine' })
        expect(broken).toMatchObject({ success: false, result: 'failed' })
        expect(broken.steps.filter(({ ok }) => ok === false).map(({ step }) => step)).toEqual([
          ...Array.from({ length: 4 }, () => 'engine-drop'),
        ])
        expect(broken.steps.find(({ step }) => step === 'engine-drop')?.text).toMatch(
          /^fail2ban says that 192\.0\.2\.\d+ is banned by nftables-multiport, but .* still answers its packets$/,
        )
      } finally {
        restore()
      }
      expect(await leftovers()).toBe('')
    })

    it('says that it tried no packet where the action of a jail does not show itself to one', async () => {
      const { host } = scene()
      const file = join(host.f2bConfig, 'jail.d', 'web.local')
      fs.writeFileSync(file, `[web]\nbanaction = hostsdeny[file="${join(host.directory, 'hosts.deny')}"]\n`)
      try {
        const { success, result, steps } = await run({ level: 'engine' })
        expect({ success, result, steps }).toMatchObject({ success: true, result: 'held' })
        expect(steps.filter(({ ok }) => ok !== true)).toMatchObject(
          [4, 6].map(family => ({
            family,
            step: 'engine-drop',
            ok: null,
            text: expect.stringContaining('hosts.deny'),
          })),
        )
      } finally {
        fs.rmSync(file)
      }
    })

    it('removes the jail of a test that was cut off, and reports none of its bans', async () => {
      const { host, server } = scene()
      await host.stopAgent()
      await host.client('add', 'stockade-probe', 'polling')
      await host.client('start', 'stockade-probe')
      await host.client('set', 'stockade-probe', 'banip', '192.0.2.99')
      await host.startAgent()
      await until(async () => !(await host.client('status')).includes('stockade-probe'), 'the end of the jail')
      await host.attack('203.0.113.9')
      await until(() => server.rows.some(({ ip }) => ip === '203.0.113.9'), 'a later ban')
      expect(server.rows.filter(({ ip }) => ip.startsWith('192.0.2.'))).toEqual([])
    })

    it('tries published ports, and the ports that it is asked for', async () => {
      const { host } = scene()
      const neighbours = await neighboursOf(host)
      try {
        await publishContainer(host)
        // The test names who answers in time; a container whose link is cold may not, on a busy machine.
        await until(async () => {
          const { result, steps } = await run()
          expect({ result, steps }).toMatchObject({ result: 'proved' })
          const [first, second] = steps.filter(({ step }) => step === 'control').map(({ text }) => text)
          expect(first).toContain('10.91.1.1:8081 (forwarded to 10.92.1.2:80)')
          expect(second).toContain('[fd91:1::1]:8081 (forwarded to [fd92:1::2]:80)')
          return true
        }, 'an answer of both published ports')
        const chosen = await run({ ports: [8082] })
        expect(chosen.result).toBe('proved')
        expect(chosen.steps[0]?.text).toMatch(/^a packet from \S+ is answered by \S+:8082$/)
      } finally {
        await neighbours.end()
        await host.inside('nft', 'delete', 'table', 'inet', 'published').catch(() => undefined)
      }
    })

    it('does not claim more than it saw where the firewall of the host lets no test packet in', async () => {
      const { host } = scene()
      const closed =
        'add table inet closed; add chain inet closed in { type filter hook input priority 0; policy drop; }'
      await host.inside('nft', `${closed}; add rule inet closed in iifname != "stockprobe" accept`)
      try {
        const { success, result, steps } = await run()
        expect({ success, result }).toEqual({ success: true, result: 'held' })
        expect(steps.filter(({ step }) => step === 'control')).toMatchObject([{ ok: null }, { ok: null }])
        expect(steps.some(({ step }) => step === 'drop')).toBe(false)
      } finally {
        await host.inside('nft', 'delete', 'table', 'inet', 'closed')
      }
    })

    it('says why where the whitelist covers its addresses', async () => {
      scene().server.whitelist(['192.0.2.0/24'])
      await expect
        .poll(async () => (await carriedOut(scene(), 'self-test', {})).output)
        .toContain('the whitelist covers the addresses of the test')
    })
  },
  { jailLocal },
)
