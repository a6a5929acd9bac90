import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createEngineConfig,
  type Check,
  type CheckedJail,
  type EngineConfig,
} from '../../packages/agent/src/engine/config.ts'
import { ownJailFiles, type OwnFile } from '../../packages/agent/src/engine/own-files.ts'
import { findInterpreter } from '../../packages/agent/src/python/interpreter.ts'
import { checker, lister } from '../../packages/agent/src/python/programs.ts'
import { referenceFiles, templateFiles } from '../../packages/agent/src/templates/files.ts'
import { readTemplate, trialOf } from '../../packages/agent/src/templates/model.ts'
import { strangers } from '../../packages/agent/src/templates/stream.ts'
import { builtins } from '../../packages/server/src/features/templates/builtin/catalogue.ts'
import { describeHosts } from './host.ts'

/** Every template that ships, as its order comes to a host, read with fail2ban's own classes and tried out. */
describeHosts('the catalogue', () => {
  let directory = ''
  let config: EngineConfig
  const templates = builtins.map(({ name, jail_config, filter_config, required_files, settings }) =>
    readTemplate({ name, jail_config, filter_config, required_files, settings }),
  )
  const source = { backend: 'polling', logpaths: ['/dev/null'], journalmatch: [] }

  beforeAll(() => {
    directory = fs.mkdtempSync(join(tmpdir(), 'stockade-catalogue-'))
    fs.cpSync('/etc/fail2ban', directory, { recursive: true })
    for (const file of fs.readdirSync(join(directory, 'jail.d'))) fs.rmSync(join(directory, 'jail.d', file))
    config = createEngineConfig({ directory, runDirectory: tmpdir(), python: findInterpreter(null), lister, checker })
  })
  afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

  async function checked(files: readonly OwnFile[], trial: boolean): Promise<Check> {
    for (const { path, text } of files) if (text !== null) fs.writeFileSync(path, text)
    const jails: [string, CheckedJail][] = []
    const errors: string[] = []
    for (const whose of ['own', 'mixed', 'host'] as const) {
      const names = templates.filter(one => trialOf(one) === whose).map(({ name }) => name)
      const check = await config.check(names, { trial: trial ? whose : null })
      jails.push(...check.jails)
      errors.push(...check.errors)
    }
    return { jails: new Map(jails), errors }
  }

  it('is sound, quick, and sets nothing but what templates may', async () => {
    expect(templates.length).toBeGreaterThanOrEqual(30)
    for (const file of templates.flatMap(({ requiredFiles }) => requiredFiles))
      expect(fs.existsSync(join(directory, file)), file).toBe(true)
    const own = ownJailFiles(directory)
    const reference = await checked(
      [...own, ...templates.flatMap(one => referenceFiles(directory, one, source))],
      false,
    )
    const real = await checked([...own, ...templates.flatMap(one => templateFiles(directory, one, source))], true)
    expect(real.errors).toEqual([])
    for (const { name } of templates) {
      const jail = real.jails.get(name)
      expect({ name, enabled: jail?.enabled, errors: jail?.errors }).toEqual({ name, enabled: true, errors: [] })
      expect(strangers(name, jail?.stream ?? [], reference.jails.get(name)?.stream ?? []), name).toEqual([])
    }
  })
})
