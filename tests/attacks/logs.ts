import * as fs from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { Host } from '../engine/host.ts'
import { carriedOut } from '../engine/scenarios.ts'
import type { RecordedScene } from '../engine/stage.ts'

/** A folder below /var/log, where templates may read; it goes with the tests of the file. */
export function logFolder(): string {
  const folder = fs.mkdtempSync('/var/log/stockade-test-')
  afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes lines with a time of now, as fail2ban reads it. */
export function writeLines(file: string, ...texts: readonly string[]): void {
  const stamp = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ')
  fs.appendFileSync(file, texts.map(text => `${stamp} ${text}\n`).join(''))
}

export interface Attack {
  readonly name?: string
  readonly logpath: string
  readonly jail?: string
  readonly filter: string
  readonly settings?: Readonly<Record<string, unknown>>
}

/** Orders the deployment of a template that no validator of a server has seen. */
export function deployed(scene: RecordedScene, { name = 'door', logpath, jail = '', filter, settings = {} }: Attack) {
  const template = {
    name,
    jail_config: `[${name}]\nport = 8080\nbackend = auto\nmaxretry = 1\nlogpath = ${logpath}\n${jail}`,
    filter_config: filter,
    required_files: [],
    settings,
  }
  return carriedOut(scene, 'deploy-template', { template_id: 7, settings, template })
}

/** What the host holds of templates. */
export function templatesOn(host: Host): string[] {
  return ['jail.d', 'filter.d'].flatMap(folder =>
    fs.readdirSync(join(host.f2bConfig, folder)).filter(name => /template|stockade-(?:door|mark)/.test(name)),
  )
}
