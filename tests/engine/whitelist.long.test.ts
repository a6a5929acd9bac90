import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sleep, until, type Host } from './host.ts'
import { carriedOut, ended, online, reported } from './scenarios.ts'
import { onStage, type RecordedScene } from './stage.ts'

const JAILS = ['sshd', 'nginx-http-auth', 'stockade']
/** In jail nginx-http-auth: the administrator's own, one of which the server's list names too. */
const OWN = ['192.0.2.200', '198.51.100.250']

async function ignored(host: Host, jail: string): Promise<string[]> {
  return (await host.client('get', jail, 'ignoreip')).match(/(?<=- )\S+/g) ?? []
}

async function agreed({ server }: RecordedScene, since = 0): Promise<void> {
  await until(() => server.agreed(since) !== null, `the acknowledgement of the whitelist`)
}

async function whitelist(scene: RecordedScene, ...entries: string[]): Promise<void> {
  scene.server.whitelist(entries)
  await agreed(scene)
  expect(scene.server.agreed()?.entry_count).toBe(entries.length)
}

/** Attacks, and what fail2ban made of it once it has surely read the lines. */
async function outcome(host: Host, ip: string, marker: string): Promise<boolean> {
  await host.attack(ip)
  await host.attack(marker)
  await until(() => host.bannedInEngine('sshd', marker), 'the ban of the marker')
  return host.bannedInEngine('sshd', ip)
}

onStage(
  'the whitelist on a real fail2ban',
  [],
  scene => {
    it('is in every ignore list and lifts what it covers, also of a range', async () => {
      const { host, server } = scene()
      await host.attack('203.0.113.5')
      await host.attack('2001:db8:5::5')
      await carriedOut(scene(), 'ban-ip', { ip: '203.0.113.6', duration: 3600 })
      await host.client('set', 'nginx-http-auth', 'banip', '198.51.100.64/26')
      for (const ip of ['203.0.113.5', '2001:db8:5::5', '203.0.113.6']) await reported(scene(), ip)
      server.whitelist(['203.0.113.5', '203.0.113.6', '2001:db8:5::/48', '198.51.100.65', '198.51.100.250'])
      await agreed(scene())
      expect(server.agreed()?.entry_count).toBe(5)
      for (const jail of JAILS)
        expect(await ignored(host, jail)).toEqual(
          expect.arrayContaining(['203.0.113.5', '203.0.113.6', '2001:db8:5::/48', '198.51.100.65']),
        )
      for (const ip of ['203.0.113.5', '2001:db8:5::5', '203.0.113.6']) {
        await until(async () => !(await host.bannedInNft(ip)), `${ip} to leave the firewall`)
        await ended(scene(), ip)
      }
      await until(async () => !(await host.client('banned')).includes('198.51.100.64'), 'the range to be lifted')
    })

    it('what it covers is not banned by attacks, by hand or by order', async () => {
      const { host } = scene()
      expect(await outcome(host, '203.0.113.5', '198.18.0.1')).toBe(false)
      expect(await outcome(host, '2001:db8:5::6', '2001:db8:6::1')).toBe(false)
      await host.client('set', 'sshd', 'banip', '203.0.113.5')
      await until(async () => !(await host.bannedInEngine('sshd', '203.0.113.5')), 'the ban by hand to be undone')
      await until(async () => !(await host.bannedInNft('203.0.113.5')), 'the end of the ban in the firewall')
      for (const force of [false, true])
        expect(await carriedOut(scene(), 'ban-ip', { ip: '2001:db8:5::7', force })).toMatchObject({
          success: false,
          output: '2001:db8:5::7 is whitelisted; nothing was done',
        })
    })

    it('survives a reload and a restart of fail2ban, and is told again', async () => {
      const { host, server } = scene()
      const file = fs.readFileSync(join(host.f2bConfig, 'jail.d', 'zz-stockade-70-whitelist.local'), 'utf8')
      expect(file).toMatch(/^# stockade: managed, do not edit\n\[DEFAULT\]\nstockade_whitelist = /)
      for (const again of [() => host.client('reload'), () => host.stopEngine().then(() => host.startEngine())]) {
        const since = Date.now()
        await again()
        // At once, before the agent has looked.
        expect(await ignored(host, 'sshd')).toEqual(expect.arrayContaining(['203.0.113.5', '2001:db8:5::/48']))
        expect(await ignored(host, 'nginx-http-auth')).toEqual(expect.arrayContaining([...OWN, '203.0.113.5']))
        await agreed(scene(), since)
        expect(server.agreed(since)?.entry_count).toBe(5)
      }
      await online(scene())
    })

    it('is put back after somebody took an entry out, and in a jail that is enabled later', async () => {
      const { host } = scene()
      await carriedOut(scene(), 'jail-disable', { jail: 'nginx-http-auth' })
      expect(await carriedOut(scene(), 'jail-enable', { jail: 'nginx-http-auth' })).toMatchObject({ success: true })
      expect(await ignored(host, 'nginx-http-auth')).toEqual(expect.arrayContaining([...OWN, '203.0.113.5']))
      const since = Date.now()
      await host.client('set', 'sshd', 'delignoreip', '203.0.113.5')
      // The agent may agree once more because of the jail that was started.
      const isBack = async (): Promise<boolean> => (await ignored(host, 'sshd')).includes('203.0.113.5')
      await until(isBack, 'the entry that was taken out')
      await agreed(scene(), since)
    })

    it('an entry that is gone is gone, and the own ignoreip of the host stays', async () => {
      const { host, server } = scene()
      await whitelist(scene(), '2001:db8:5::/48', '203.0.113.64/26')
      expect(await ignored(host, 'nginx-http-auth')).toEqual(expect.arrayContaining(OWN))
      expect(await ignored(host, 'sshd')).not.toContain('203.0.113.5')
      expect(await outcome(host, '203.0.113.5', '198.18.0.2')).toBe(true)
      await whitelist(scene())
      expect(fs.existsSync(join(host.f2bConfig, 'jail.d', 'zz-stockade-70-whitelist.local'))).toBe(false)
      expect(await ignored(host, 'sshd')).toEqual([])
      expect((await ignored(host, 'nginx-http-auth')).sort()).toEqual(OWN)
      await host.client('reload')
      expect((await ignored(host, 'nginx-http-auth')).sort()).toEqual(OWN)
      expect(server.complaints).toEqual([])
    })

    it('a list that is shorter than it should be is refused as a whole, and the old one stays', async () => {
      const { host, server } = scene()
      await whitelist(scene(), '203.0.113.5', '203.0.113.6')
      server.whitelist(['203.0.113.5'], 3)
      await until(() => server.acks.some(({ error }) => error?.includes('1 of 3 entries')), 'the refusal')
      expect(await ignored(host, 'sshd')).toEqual(expect.arrayContaining(['203.0.113.5', '203.0.113.6']))
      await whitelist(scene(), '203.0.113.5', '203.0.113.6')
      const since = Date.now()
      server.sync()
      await agreed(scene(), since)
    })

    it('holds when the agent starts without a server, and when fail2ban comes later', async () => {
      const { host, server } = scene()
      await host.killAgent()
      await host.stopEngine()
      await server.down()
      fs.rmSync(join(host.f2bConfig, 'jail.d', 'zz-stockade-70-whitelist.local'))
      await host.startEngine()
      expect(await ignored(host, 'sshd')).toEqual([])
      await host.startAgent()
      await until(async () => (await ignored(host, 'sshd')).includes('203.0.113.6'), 'the list of the last run')
      await server.up()
      const since = Date.now()
      server.sync()
      await agreed(scene(), since)
    })

    it('ranges beyond the 2,000 widest are enforced by the agent itself', async () => {
      const { host, server } = scene()
      const ranges = Array.from({ length: 2100 }, (_, i) => `10.${i >> 7}.${(i & 127) * 2}.0/24`)
      await whitelist(scene(), ...ranges, '203.0.113.0/30', '2001:db8:7::/120')
      expect((await ignored(host, 'sshd')).length).toBe(2000)
      expect(await ignored(host, 'sshd')).not.toContain('203.0.113.0/30')
      await host.attack('203.0.113.1')
      await host.attack('2001:db8:7::1')
      for (const ip of ['203.0.113.1', '2001:db8:7::1']) {
        await reported(scene(), ip)
        await ended(scene(), ip)
        await sleep(300)
        await until(async () => !(await host.bannedInNft(ip)), 'the end of the ban in the firewall')
      }
      expect(server.complaints).toEqual([])
    })
  },
  { jailLocal: `ignoreip = ${OWN.join(' ')}` },
)
