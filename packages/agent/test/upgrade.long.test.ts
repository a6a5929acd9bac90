import { execFile, execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createInstallation } from '../src/upgrade/installation.ts'
import type { Installation } from '../src/upgrade/installation.ts'
import { readOrder, readOutcome, writeOrder, writeOutcome } from '../src/upgrade/order.ts'
import type { UpgradeOrder } from '../src/upgrade/order.ts'
import { fetchRelease } from '../src/upgrade/release-source.ts'
import { carryOutUpgrade } from '../src/upgrade/upgrader.ts'
import type { UpgraderNeeds } from '../src/upgrade/upgrader.ts'

const victimFile = fileURLToPath(new URL('upgrade-victim.ts', import.meta.url))
let root: string
let units: string
let state: string
let installation: Installation

/** A program that answers what the installer and the upgrader ask of an agent. */
const programOf = (version: string): Buffer =>
  Buffer.from(
    `const [command, unit] = process.argv.slice(2)
console.log(command === '--version' ? '${version}' : [command, unit, '${version}'].join(' ').trim())
`,
  )
const nameOf = (version: string): string =>
  `${version}-${createHash('sha256').update(programOf(version)).digest('hex').slice(0, 8)}`
const order = (more: Partial<UpgradeOrder> = {}): UpgradeOrder => ({
  id: 'c1',
  version: '2.0.0',
  manifest: null,
  program: null,
  isReturn: false,
  orderedAt: 0,
  switching: null,
  ...more,
})

beforeEach(async () => {
  root = fs.mkdtempSync(join(tmpdir(), 'stockade-upgrade-'))
  units = join(root, 'units')
  state = join(root, 'state')
  for (const folder of [units, state, join(root, 'releases')]) fs.mkdirSync(folder)
  installation = createInstallation(root, [
    { unit: 'systemd', path: join(units, 'stockade-agent.service'), mode: 0o644 },
  ])
  installation.switchTo(await installation.stage(programOf('1.0.0'), '1.0.0'))
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const canMount = process.platform === 'linux' && process.getuid?.() === 0
/** Fills a disk and leaves this number of 4 KiB pages free. */
const fillUp = (folder: string, pages: number): void => {
  const { bavail, bsize } = fs.statfsSync(folder)
  fs.writeFileSync(join(folder, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - pages * 4096)))
}
const unitText = () => fs.readFileSync(join(units, 'stockade-agent.service'), 'utf8')

/** A host whose agent is answered if its release works; time passes at each wait. */
const host = (works: (release: string) => boolean, more: Partial<UpgraderNeeds> = {}) => {
  let clock = 0
  let restarts = 0
  const needs: UpgraderNeeds = {
    state,
    installation,
    init: {
      restartAgent: () => {
        restarts++
        return Promise.resolve()
      },
    },
    stage: ({ version }) => installation.stage(programOf(version), version),
    isAlive: () => works(installation.current() ?? ''),
    reaches: () => Promise.resolve(true),
    wait: ms => {
      clock += ms
      return Promise.resolve()
    },
    now: () => clock,
    say: () => undefined,
    ...more,
  }
  return { needs, restarts: () => restarts, seconds: () => clock / 1000 }
}

describe('an upgrade', () => {
  it('replaces the release and its units, keeps the one before, and removes older ones', async () => {
    await installation.stage(programOf('0.9.0'), '0.9.0')
    const { needs } = host(() => true)
    expect(await carryOutUpgrade(order(), needs)).toEqual({
      id: 'c1',
      success: true,
      text: `${nameOf('1.0.0')} was replaced by ${nameOf('2.0.0')}.`,
    })
    expect([installation.current(), installation.previous()]).toEqual([nameOf('2.0.0'), nameOf('1.0.0')])
    expect(unitText()).toContain('unit systemd 2.0.0')
    expect(fs.readdirSync(join(root, 'releases')).sort()).toEqual([nameOf('1.0.0'), nameOf('2.0.0')])
    expect(fs.existsSync(join(root, 'upgrading'))).toBe(false)
    const again = await carryOutUpgrade(order({ version: nameOf('1.0.0'), isReturn: true }), needs)
    expect(again.success).toBe(true)
    expect(installation.current()).toBe(nameOf('1.0.0'))
    expect(unitText()).toContain('unit systemd 1.0.0')
  })
  it('puts the release and its units back when the server does not answer the new agent', async () => {
    const { needs, restarts, seconds } = host(release => release === nameOf('1.0.0'))
    const outcome = await carryOutUpgrade(order(), needs)
    expect(outcome).toMatchObject({ success: false })
    expect(outcome.text).toContain('the server did not answer it within 60 s')
    expect(outcome.text).toContain(`${nameOf('1.0.0')} runs again`)
    expect(installation.current()).toBe(nameOf('1.0.0'))
    expect(installation.previous()).toBeNull()
    expect(unitText()).toContain('unit systemd 1.0.0')
    expect(restarts()).toBe(2)
    expect(seconds()).toBeLessThan(90)
    expect(fs.readdirSync(join(root, 'releases'))).toEqual([nameOf('1.0.0')])
  })
  it('waits while the server is away, because no agent could be answered then', async () => {
    let asked = 0
    const { needs, seconds } = host(() => asked > 100, { reaches: () => Promise.resolve(++asked > 200) })
    expect((await carryOutUpgrade(order(), needs)).success).toBe(true)
    expect(seconds()).toBeGreaterThan(90)
  })
  it('does not trust an agent that stops after its first answer', async () => {
    let looks = 0
    const { needs } = host(release => release === nameOf('1.0.0') || ++looks % 4 === 0)
    expect((await carryOutUpgrade(order(), needs)).success).toBe(false)
  })
  it.each(['before it starts the agent', 'during the trial', 'while it puts the release back'])(
    'is ended by the next upgrader after one that was killed %s',
    async moment => {
      writeOrder(state, order())
      const works = (release: string): boolean => release === nameOf('1.0.0')
      const killed = new Error('killed')
      let said = 0
      const lastWords = moment.startsWith('before') ? 1 : 2
      const dying = host(works, {
        say() {
          if (++said === lastWords) throw killed
        },
        ...(moment === 'during the trial' ? { wait: () => Promise.reject(killed) } : {}),
      })
      await expect(carryOutUpgrade(order(), dying.needs)).rejects.toBe(killed)
      const left = readOrder(state)
      if (!left) throw new Error('the order is gone')
      expect(left.switching).toEqual({ from: nameOf('1.0.0'), to: nameOf('2.0.0') })
      const outcome = await carryOutUpgrade(left, host(works).needs)
      expect(outcome.success).toBe(false)
      expect(installation.current()).toBe(nameOf('1.0.0'))
    },
  )
  // Real processes, killed before each change of the disk, each restart and each look of the trial; `npm run check -- chaos-upgrade` takes all of them.
  it.each(['yes', 'no'])(
    'leaves a whole agent after a kill -9 at any moment, whether the new one is fit: %s',
    async fit => {
      const program = join(root, 'program.mjs')
      fs.writeFileSync(program, programOf('2.0.0'))
      const victim = async (killAt: number) => {
        const args = [victimFile, root, program, '2.0.0', String(killAt), fit]
        return promisify(execFile)(process.execPath, args).then(
          ({ stdout }) => Number(stdout),
          (error: { signal?: string; stderr?: string }) => {
            if (error.signal !== 'SIGKILL') throw new Error(error.stderr ?? '')
            return null
          },
        )
      }
      const startAgain = () => {
        if (installation.current() !== nameOf('1.0.0')) installation.switchTo(nameOf('1.0.0'))
        for (const left of fs.readdirSync(join(root, 'releases')))
          if (left !== nameOf('1.0.0')) fs.rmSync(join(root, 'releases', left), { recursive: true })
        // The installer puts unit files only where systemd reads them.
        fs.rmSync(join(root, 'releases', nameOf('1.0.0'), 'units'), { recursive: true, force: true })
        for (const name of ['previous', 'upgrading']) fs.rmSync(join(root, name), { force: true })
        fs.rmSync(join(state, 'upgrade.json'), { force: true })
        writeOrder(state, order())
      }
      startAgain()
      const all = (await victim(0)) ?? 0
      expect(all).toBeGreaterThan(20)
      const step = process.env['UPGRADE_KILLS'] === 'all' ? 1 : Math.ceil(all / 3)
      for (let killAt = 1; killAt <= all; killAt += step) {
        startAgain()
        // The trial is some looks shorter or longer than the last one.
        const isKilled = (await victim(killAt)) === null
        const which = `killed at ${killAt} of ${all}`
        const running = installation.current()
        if (running === null) throw new Error(`no agent is left, ${which}`)
        expect(running, which).toBe(`${await installation.versionOf(running)}-${running.slice(-8)}`)
        expect(unitText(), which).toMatch(/^unit systemd [12]\.0\.0\n$/)
        if (!isKilled || readOrder(state) === null) continue
        // The init system starts the upgrader again.
        expect(await victim(0), which).toBeGreaterThan(0)
        expect(readOutcome(state), which).toMatchObject({ id: 'c1', success: fit === 'yes' })
        const version = fit === 'yes' ? '2.0.0' : '1.0.0'
        expect([installation.current(), unitText()], which).toEqual([nameOf(version), `unit systemd ${version}\n`])
        const kept = fs.readdirSync(join(root, 'releases')).sort()
        expect(kept, which).toEqual(fit === 'yes' ? [nameOf('1.0.0'), nameOf('2.0.0')] : [nameOf('1.0.0')])
        expect(fs.readdirSync(root), which).not.toContain('upgrading')
      }
    },
  )
  it.skipIf(!canMount)('changes all or nothing on a disk that runs full, wherever that is', async () => {
    const small = join(root, 'small')
    fs.mkdirSync(small)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'stockade-test', small], { stdio: 'ignore' })
    try {
      for (const folder of ['units', 'state', 'releases']) fs.mkdirSync(join(small, folder))
      state = join(small, 'state')
      const unit = join(small, 'units', 'stockade-agent.service')
      installation = createInstallation(small, [{ unit: 'systemd', path: unit, mode: 0o644 }])
      const first = await installation.stage(programOf('1.0.0'), '1.0.0')
      const endings = new Set<string>()
      // The new release takes some pages of 4 KiB; each round leaves some more.
      for (const fit of [true, false])
        for (const pages of [0, 1, 2, 3, 4, 5, 8, 12]) {
          fs.rmSync(join(small, 'filler'), { force: true })
          fs.rmSync(join(small, 'previous'), { force: true })
          installation.switchTo(first)
          installation.prune([first])
          fs.rmSync(join(small, 'releases', first, 'units'), { recursive: true, force: true })
          writeOrder(state, order())
          fillUp(small, pages)
          const { needs } = host(release => fit || release === first)
          const text = await carryOutUpgrade(order(), needs).then(
            outcome => `${outcome.success}: ${outcome.text}`,
            (error: Error) => `refused: ${error.message}`,
          )
          endings.add(text)
          const isNew = text.startsWith('true')
          const version = isNew ? '2.0.0' : '1.0.0'
          const which = `${pages} pages, fit: ${fit}: ${text}`
          expect(installation.current(), which).toBe(isNew ? nameOf('2.0.0') : first)
          expect(await installation.versionOf(installation.current() ?? ''), which).toBe(version)
          expect(fs.readFileSync(unit, 'utf8'), which).toBe(`unit systemd ${version}\n`)
          expect(readOrder(state), which).not.toBeNull()
        }
      const full = 'refused: the disk of this host is full: nothing was changed'
      expect([...endings].filter(text => text.startsWith('refused'))).toEqual([full])
      expect([...endings].some(text => text.startsWith('true: '))).toBe(true)
      expect([...endings].some(text => text.startsWith('false: '))).toBe(true)
    } finally {
      execFileSync('umount', ['--lazy', small])
    }
  })
  it('changes nothing when the program does not run, or names another version', async () => {
    await expect(installation.stage(Buffer.from('process.exit(3)'), '2.0.0')).rejects.toThrow(
      'does not run on this host',
    )
    await expect(installation.stage(programOf('3.0.0'), '2.0.0')).rejects.toThrow(
      'says it is version 3.0.0 and not 2.0.0',
    )
    expect(fs.readdirSync(join(root, 'releases'))).toEqual([nameOf('1.0.0')])
    expect(installation.current()).toBe(nameOf('1.0.0'))
  })
  it('returns to no release but the one before', async () => {
    const { needs } = host(() => true)
    const wanted = order({ version: '0.1.0-11111111', isReturn: true })
    await expect(carryOutUpgrade(wanted, needs)).rejects.toThrow('does not keep the release')
    await expect(carryOutUpgrade(order({ version: '../../x', isReturn: true }), needs)).rejects.toThrow()
  })
  it('keeps its outcome until the agent has taken it', () => {
    writeOrder(state, order())
    writeOutcome(state, { id: 'c1', success: false, text: 'no' })
    expect(readOrder(state)).toBeNull()
    expect(readOutcome(state)).toEqual({ id: 'c1', success: false, text: 'no' })
    fs.writeFileSync(join(state, 'upgrade.json'), '{"id":')
    expect(readOutcome(state)).toBeNull()
  })
})

describe('a release from the server', () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const others = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const sum = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
  const program = programOf('2.0.0')
  const manifestOf = (version: string, content = program): Buffer =>
    Buffer.from(
      `stockade-release 1\nversion ${version}\nreleased 2026-11-23\nsha256 ${sum(content)} stockade-agent.mjs\n`,
    )
  const serverWith = (manifest: Buffer, signature: Buffer, content = program) => ({
    bytes: (path: string) =>
      Promise.resolve(path.endsWith('.sig') ? signature : path.endsWith('MANIFEST') ? manifest : content),
  })
  const signed = (manifest: Buffer, key = keys.privateKey): Buffer => sign('sha256', manifest, key)
  const about = (unsigned = false) => ({ configDirectory: root, identity: { unsigned }, running: '1.0.0' })
  const any = { version: null, manifest: null, program: null, allowDowngrade: false }
  const trust = () =>
    fs.writeFileSync(join(root, 'release-keys.pem'), keys.publicKey.export({ format: 'pem', type: 'spki' }))

  it('is taken when a key of this host signed it and it is the one that was ordered', async () => {
    trust()
    const manifest = manifestOf('2.0.0')
    const wanted = { ...any, version: '2.0.0', manifest: sum(manifest) }
    expect(await fetchRelease(serverWith(manifest, signed(manifest)), about(), wanted)).toEqual({
      version: '2.0.0',
      program,
    })
  })
  it('is refused when it is unsigned, altered, older, of another key, or not the one that was ordered', async () => {
    trust()
    const manifest = manifestOf('2.0.0')
    const altered = Buffer.from(manifest.toString().replace('2.0.0', '2.0.1'))
    const old = manifestOf('0.9.0')
    const refused = (server: ReturnType<typeof serverWith>, wanted: object = {}) =>
      expect(fetchRelease(server, about(), { ...any, ...wanted })).rejects
    await refused(serverWith(manifest, Buffer.alloc(0))).toThrow('not signed by a release key')
    await refused(serverWith(altered, signed(manifest))).toThrow('not signed by a release key')
    await refused(serverWith(manifest, signed(manifest, others.privateKey))).toThrow('not signed by a release key')
    await refused(serverWith(manifest, signed(manifest), Buffer.from('evil'))).toThrow('is not the file of release')
    await refused(serverWith(old, signed(old))).toThrow('is older than 1.0.0')
    await refused(serverWith(manifest, signed(manifest)), { version: '2.1.0' }).toThrow(
      'of version 2.0.0 and not 2.1.0',
    )
    await refused(serverWith(manifest, signed(manifest)), { manifest: 'f'.repeat(64) }).toThrow(
      'another release by now',
    )
  })
  it('is refused without a key, unless the host accepts releases that nobody signed', async () => {
    const server = serverWith(Buffer.alloc(0), Buffer.alloc(0))
    await expect(fetchRelease(server, about(), any)).rejects.toThrow('trusts no release key')
    expect((await fetchRelease(server, about(true), { ...any, program: sum(program) })).program).toEqual(program)
    await expect(fetchRelease(server, about(true), { ...any, program: 'f'.repeat(64) })).rejects.toThrow(
      'another program',
    )
    // A key on the host decides, whatever agent.json says.
    trust()
    await expect(fetchRelease(server, about(true), any)).rejects.toThrow('not signed by a release key')
  })
})
