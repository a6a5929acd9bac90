import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../../packages/server/src/testing/waiting.ts'
import { aContainer } from './containers.ts'
import type { Container } from './containers.ts'
import { describeHosts } from './host.ts'
import { unpackedEngines } from './sabotage/settings.ts'

/* What becomes of a container while the agent on the host goes on. */

describeHosts('a container of fail2ban that changes', () => {
  let container: Container
  beforeEach(async () => {
    container = await aContainer()
  })
  afterEach(() => container.end())

  const isWatched = (jail: string): boolean => container.client('get', jail, 'actions').includes('stockade')
  const isWhole = async (): Promise<void> => {
    await until(() => isWatched('sshd') && isWatched('stockade'), `the action in all jails: ${container.agentLog()}`)
    await until(() => container.report().level === 'protected', `protection: ${container.agentLog()}`)
  }
  const checks = (): string[] => (container.report().checks ?? []).map(({ id }) => id)
  const banned = (ip: string): Promise<void> => {
    container.attack(ip)
    return until(() => container.reports(ip), `a report of ${ip}: ${container.agentLog()}`)
  }
  const emptied = (volume: string): void => {
    for (const name of fs.readdirSync(container.volume(volume)))
      fs.rmSync(join(container.volume(volume), name), { recursive: true })
  }

  it('without its database and without the shared folder, it is watched again', async () => {
    await container.startEngine('shared')
    await container.startAgent('host', container.mapped())
    await isWhole()
    await banned('203.0.113.51')
    await container.stopEngine()
    await until(() => container.report().level === 'unprotected', 'what is said while it is gone')
    for (const volume of ['data', 'share']) emptied(volume)
    await container.startEngine('shared')
    await isWhole()
    await banned('203.0.113.52')
    expect(checks()).toEqual(['log'])
  })

  it('that begins without any jail gets that of the agent, and the next ones are watched', async () => {
    const jails = join(container.volume('etc'), 'jail.local')
    const text = fs.readFileSync(jails, 'utf8')
    fs.writeFileSync(jails, text.replaceAll('enabled = true', 'enabled = false'))
    await container.startEngine('shared')
    await container.startAgent('host', container.mapped())
    await until(() => container.client('status').includes('stockade'), `the jail: ${container.agentLog()}`)
    await until(() => isWatched('stockade'), 'the action')
    // The agent may need it again for a moment, at any time.
    await until(() => !container.client('status').includes('stockade-helper'), 'the end of the jail of a moment')
    fs.writeFileSync(jails, text)
    await container.stopEngine()
    await container.startEngine('shared')
    await isWhole()
    await banned('203.0.113.54')
  })

  it('whose socket takes every connection and answers nothing is said to be silent, and the next one is watched', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>(resolve => silent.listen(join(container.volume('run'), 'fail2ban.sock'), resolve))
    await container.startAgent('host', container.mapped())
    const detail = (): string | undefined => container.report().checks?.find(({ id }) => id === 'engine')?.detail
    await until(() => detail()?.includes('fail2ban does not answer') === true, `what is said: ${container.agentLog()}`)
    silent.close()
    await container.startEngine('shared')
    await isWhole()
  })

  for (const engine of unpackedEngines())
    it(`of fail2ban ${engine.version} in the place of another version, it is watched and checked by its own Python`, async () => {
      await container.startEngine('shared')
      await container.startAgent('host', container.mapped())
      await isWhole()
      await container.stopEngine()
      await container.startEngine('shared', engine)
      await until(() => container.agentLog().includes(`fail2ban ${engine.version} answers`), 'the other version')
      await isWhole()
      await banned('203.0.113.53')
      expect(checks()).toEqual(['log'])
    })
})
