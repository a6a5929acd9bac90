import * as fs from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { within } from '../../packages/server/src/testing/waiting.ts'
import { aHost, describeHosts, loudly, type Host } from './host.ts'
import { anInstallServer } from './install-server.ts'
import { ownMachine, type OwnMachine } from './own-machine.ts'
import { aRecorder, type Recorder } from './recorder.ts'

/*
 * A machine whose power is cut while the installer installs, upgrades or removes the agent: every file that it needs to boot is then as it was
 * before, or as it would have been, and never half of it. All processes end at once; what a disk loses of unwritten data is not part of this.
 */

/** Where the installer and the agent put files. */
const folders = ['etc/systemd/system', 'etc/fail2ban', 'etc/stockade-agent', 'opt', 'var/lib/stockade-agent'] as const
/** Relative path and content of what a host needs to boot and to start the agent; a link by where it leads. */
type Files = ReadonlyMap<string, string>

const isNeeded = (path: string): boolean =>
  !/\.(new|staging)|\/\.|^var\/lib|policy\.json$/.test(path) && !path.endsWith('agent.json')

const filesIn = (root: string, place = ''): [string, string][] => {
  const folder = join(root, place)
  if (!fs.existsSync(folder)) return []
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry): [string, string][] => {
    const path = join(place, entry.name)
    if (entry.isDirectory()) return filesIn(root, path)
    const full = join(root, path)
    return [[path, entry.isSymbolicLink() ? `link to ${fs.readlinkSync(full)}` : fs.readFileSync(full, 'utf8')]]
  })
}

describeHosts('a cut of the power', () => {
  let host: Host
  let server: Recorder
  let files: Awaited<ReturnType<typeof anInstallServer>>
  let machine: OwnMachine | null = null
  beforeAll(async () => {
    server = await aRecorder()
    host = await aHost()
    files = await anInstallServer(host, server)
    const own = await ownMachine(host)
    if ('cannot' in own) return loudly(`SKIPPED: a cut of the power: ${own.cannot}`)
    machine = own
  })
  afterAll(async () => {
    await machine?.end()
    files.close()
    await host.stop()
    await server.close()
  })

  const looksAt = ({ path }: OwnMachine): Files =>
    new Map(folders.flatMap(place => filesIn(path('.'), place)).filter(([name]) => isNeeded(name)))
  const saved = (name: string) => join(host.directory, 'saved', name)
  const save = ({ path }: OwnMachine, name: string): void => {
    for (const place of folders)
      if (fs.existsSync(path(place)))
        fs.cpSync(path(place), join(saved(name), place), { recursive: true, verbatimSymlinks: true })
  }
  const putBack = ({ path }: OwnMachine, name: string): void => {
    for (const place of folders) {
      fs.rmSync(path(place), { recursive: true, force: true })
      if (fs.existsSync(join(saved(name), place)))
        fs.cpSync(join(saved(name), place), path(place), { recursive: true, verbatimSymlinks: true })
    }
  }
  const token = async (): Promise<string> => (await server.addServer(host.name)).token
  /** Runs the installer. The power goes as soon as it has come to the line of its trace with this number; null: it stays. Resolves to the trace. */
  const install = async (own: OwnMachine, options: string, cutAt: number | null): Promise<readonly string[]> => {
    const child = own.start(
      `curl -fsSL ${files.url}/install.sh -o /tmp/install.sh && exec sh -x /tmp/install.sh --no-packages --insecure-http ${options}`,
    )
    const ended = new Promise(resolve => child.once('close', resolve))
    const trace: string[] = []
    let cut: Promise<void> | null = null
    if (!child.stderr) throw new Error('no trace')
    createInterface({ input: child.stderr }).on('line', line => {
      trace.push(line)
      if (trace.length === cutAt) cut = own.cutPower()
    })
    await within(ended, 'the end of the installer', () => trace)
    await cut
    return trace
  }
  /** Evenly spread over the trace, and each moment at which it makes a unit. */
  const momentsOf = (trace: readonly string[], count: number): number[] => {
    const units = trace.flatMap((line, index) => (/stockade-agent unit \w+$/.test(line) ? [index + 1] : []))
    const even = Array.from({ length: count - units.length }, (_, n) =>
      Math.ceil(((n + 1) * trace.length) / (count - units.length + 1)),
    )
    return [...units, ...even]
  }

  it('leaves whole files at any moment of an installation, an upgrade and a removal', async ctx => {
    if (machine === null) return ctx.skip()
    const own = machine
    save(own, 'bare')
    const bare = looksAt(own)
    const whole = { install: await install(own, `--token ${await token()}`, null) }
    await own.cutPower()
    const old = looksAt(own)
    expect(old.get('etc/systemd/system/stockade-agent.service')).toContain('WatchdogSec')
    save(own, 'old')
    await own.boot()
    files.offered.change = program => program.replaceAll(/"0\.\d+\.\d+"/g, '"9.0.0"')
    const upgrade = await install(own, '--upgrade', null)
    const renewed = looksAt(own)
    expect(renewed.get('opt/stockade-agent/current')).toContain('9.0.0')
    const remove = await install(own, '--uninstall --purge', null)
    await own.cutPower()
    const steps = [
      { from: 'bare', before: bare, after: old, options: 'token', moments: momentsOf(whole.install, 7) },
      { from: 'old', before: old, after: renewed, options: '--upgrade', moments: momentsOf(upgrade, 8) },
      { from: 'old', before: old, after: bare, options: '--uninstall --purge', moments: momentsOf(remove, 5) },
    ]
    for (const { from, before, after, options, moments } of steps) {
      files.offered.change = options === '--upgrade' ? program => program.replaceAll(/"0\.\d+\.\d+"/g, '"9.0.0"') : null
      for (const moment of moments) {
        putBack(own, from)
        await own.boot()
        const trace = await install(own, options === 'token' ? `--token ${await token()}` : options, moment)
        const which = `${options}, line ${moment}: ${trace[moment - 1]}`
        // A trace may be shorter by what a wait took.
        if (trace.length < moment) await own.cutPower()
        const found = looksAt(own)
        for (const [name, text] of found)
          expect([before.get(name), after.get(name)], `${name} after a cut at ${which}`).toContain(text)
        for (const [name, text] of before)
          if (after.get(name) === text) expect(found.get(name), `${name} after a cut at ${which}`).toBe(text)
        // What both have, changed or not, is there.
        for (const name of before.keys())
          if (after.has(name)) expect(found.has(name), `${name} after a cut at ${which}`).toBe(true)
        const identity = own.path('etc/stockade-agent/agent.json')
        if (fs.existsSync(identity))
          expect(JSON.parse(fs.readFileSync(identity, 'utf8')), which).toHaveProperty('api_key')
      }
    }
  })
})
