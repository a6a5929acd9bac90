import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildDashboard } from '../build.mjs'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const kilobyte = 1024
const read = (file: string) => readFileSync(dist + file, 'utf8')

/** An entry of Vite's manifest: a chunk, what it imports at once, and the styles of its own. */
interface Chunk {
  readonly file: string
  readonly imports?: readonly string[]
  readonly css?: readonly string[]
}

describe('what the dashboard weighs, compressed', () => {
  let manifest: Readonly<Record<string, Chunk>>
  beforeAll(async () => {
    if (!existsSync(`${dist}.vite/manifest.json`)) await buildDashboard()
    manifest = JSON.parse(read('.vite/manifest.json')) as Record<string, Chunk>
  })

  const sum = (files: Iterable<string>, ending: string): number =>
    [...files]
      .filter(file => file.endsWith(ending))
      .reduce((total, file) => total + gzipSync(readFileSync(dist + file)).length, 0) / kilobyte
  /** The files of modules and of all that they import at once. */
  const filesOf = (names: readonly string[]): Set<string> => {
    const seen = new Set<string>()
    const files = new Set<string>()
    const visit = (name: string) => {
      if (seen.has(name)) return
      seen.add(name)
      const chunk = manifest[name]
      if (!chunk) throw new Error(`There is no ${name} in the manifest.`)
      files.add(chunk.file)
      for (const style of chunk.css ?? []) files.add(style)
      chunk.imports?.forEach(visit)
    }
    names.forEach(visit)
    return files
  }
  const inHead = () => [...read('index.html').matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, at]) => at ?? '')
  const firstLoad = (pages: readonly string[]) =>
    new Set([...inHead(), ...filesOf(['index.html', 'src/app/app.tsx', ...pages])])

  const shell = ['src/app/shell/shell.tsx', 'src/app/shell/account-menu.tsx', 'src/features/overview/overview.tsx']
  it.each([
    ['sign-in', ['src/features/sign-in/sign-in.tsx'], 151],
    ['the second factor', ['src/features/sign-in/second-factor.tsx'], 190],
    ['the enrolment', ['src/features/sign-in/enrol.tsx'], 190],
    ['set-up', ['src/features/set-up/set-up.tsx'], 190],
    ['the empty shell', shell, 221],
  ])('the first load of %s: scripts within its budget and 40 KB of styles', (name, pages, most) => {
    const files = firstLoad(pages)
    const [scripts, styles] = [sum(files, '.js'), sum(files, '.css')]
    // Too little would mean that something was not found.
    expect(scripts).toBeGreaterThan(100)
    expect(styles).toBeGreaterThan(8)
    expect(scripts, name).toBeLessThanOrEqual(most)
    expect(styles, name).toBeLessThanOrEqual(40)
  })

  it('each further chunk, with what it alone brings: at most 60 KB', () => {
    // Every page of signed-in users has what they share.
    const sharedByPages = Object.keys(manifest).filter(name => /^_(?:shared-pages|shared-features|icons)-/.test(name))
    const first = new Set([...firstLoad([]), ...filesOf(sharedByPages)])
    const later = Object.entries(manifest).filter(([, { file }]) => file.endsWith('.js') && !first.has(file))
    expect(later.length).toBeGreaterThan(6)
    const heavy = later
      .map(([name]) => ({
        name,
        kilobytes: sum(
          [...filesOf([name])].filter(file => !first.has(file)),
          '.js',
        ),
      }))
      .filter(({ kilobytes }) => kilobytes > 60)
    expect(heavy).toEqual([])
  })

  it.each(['de', 'fr', 'es'])('the texts of %s: three files of at most 24 KB', language => {
    const parts = ['first', 'later', 'policy'].map(name => filesOf([`src/app/texts/${language}/${name}.ts`]))
    for (const files of parts) {
      const own = [...files].filter(file => !firstLoad([]).has(file))
      const kilobytes = sum(own, '.js')
      expect(kilobytes).toBeGreaterThan(2)
      expect(kilobytes).toBeLessThanOrEqual(24)
    }
  })

  it('the first paint waits for one style sheet of about a kilobyte', () => {
    const sheets = [...read('index.html').matchAll(/rel="stylesheet" href="\.\/([^"]+)"/g)].map(([, at]) => at ?? '')
    expect(sheets).toHaveLength(1)
    expect(sum(sheets, '.css')).toBeLessThan(2.5)
  })

  it('holds nothing of the contract’s code and loads nothing from elsewhere', () => {
    const scripts = readdirSync(`${dist}assets`).filter(name => name.endsWith('.js'))
    for (const name of scripts) expect(read(`assets/${name}`), name).not.toContain('ip-or-range')
    expect(read('index.html')).not.toMatch(/https?:/)
    for (const name of readdirSync(`${dist}assets`).filter(name => name.endsWith('.css')))
      expect(read(`assets/${name}`), name).not.toMatch(/url\(["']?https?:|@import/)
  })
})
