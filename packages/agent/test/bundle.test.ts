import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtinModules } from 'node:module'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildAgent } from '../build.mjs'

const script = join(import.meta.dirname, '../install.sh')
const version = (
  JSON.parse(fs.readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as { version: string }
).version

describe('the bundle', () => {
  let file = ''
  let text = ''
  beforeAll(async () => {
    file = await buildAgent()
    text = fs.readFileSync(file, 'utf8')
  })

  it('is one file that needs nothing but Node', () => {
    const imports = [...text.matchAll(/^import .*?from ["'](.+?)["'];?$/gm)].map(match => match[1] ?? '')
    expect(imports.length).toBeGreaterThan(5)
    for (const name of imports) expect(builtinModules).toContain(name.replace(/^node:/, ''))
    expect(text).not.toMatch(/\brequire\(/)
  })

  it('has its checksum beside it, and its version and the Python programs in it', () => {
    const hash = createHash('sha256').update(text).digest('hex')
    expect(fs.readFileSync(`${file}.sha256`, 'utf8')).toBe(`${hash}  stockade-agent.mjs\n`)
    const lonely = join(fs.mkdtempSync(join(tmpdir(), 'stockade-bundle-')), 'stockade-agent.mjs')
    fs.copyFileSync(file, lonely)
    const say = (...args: string[]): string => execFileSync(process.execPath, [lonely, ...args]).toString()
    expect(say('--version')).toBe(`${version}\n`)
    expect(say('action')).toBe(fs.readFileSync(join(import.meta.dirname, '../src/python/stockade_action.py'), 'utf8'))
    expect(say('unit', 'systemd')).toContain('CapabilityBoundingSet=CAP_NET_ADMIN CAP_DAC_READ_SEARCH')
    expect(say('--help')).toContain('stockade-agent enroll')
    fs.rmSync(join(lonely, '..'), { recursive: true })
  })

  it('says what is wrong in a sentence', () => {
    const failing = (...args: string[]): string => {
      try {
        execFileSync(process.execPath, [file, ...args], { stdio: 'pipe' })
      } catch (error) {
        return (error as { stderr: Buffer }).stderr.toString()
      }
      return 'no failure'
    }
    const nowhere = join(tmpdir(), 'stockade-nowhere')
    expect(failing('run', '--config', nowhere)).toMatch(
      /^stockade-agent: this host is not enrolled: .*agent\.json is missing/,
    )
    expect(failing('enroll', '--base-url', 'ftp://x', '--token', 'abcdefghij', '--config', nowhere)).toMatch(
      /must be http or https/,
    )
    expect(failing('enroll', '--base-url', 'http://localhost:1', '--config', nowhere)).toMatch(/the token is missing/)
    expect(failing('--frobnicate')).toMatch(/frobnicate/)
  })
})

describe('the installer', () => {
  const text = fs.readFileSync(script, 'utf8')

  it('is POSIX sh', () => {
    const shell = ['/usr/bin/dash', '/bin/dash', '/bin/sh'].find(path => fs.existsSync(path)) ?? 'sh'
    execFileSync(shell, ['-n'], { input: text.replaceAll('@@BASE_URL@@', 'https://stockade.example') })
  })

  it('runs nothing when the download was cut, wherever', () => {
    const lines = text.split('\n')
    expect(lines.at(-2)).toBe('stockade_install "$@"')
    expect(lines.filter(line => line.startsWith('stockade_install'))).toEqual([
      'stockade_install() {',
      'stockade_install "$@"',
    ])
    const outside = text
      .slice(0, text.indexOf('stockade_install() {'))
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'))
    expect(outside).toEqual([])
  })

  it('puts the address only where it is quoted', () => {
    const code = text.split('\n').filter(line => line.includes('@@BASE_URL@@') && !line.startsWith('#'))
    expect(code).toEqual(["  base_url='@@BASE_URL@@'"])
  })
})
