import * as fs from 'node:fs'
import { join } from 'node:path'
import { faultsOf } from '../engine/config.ts'
import type { CheckedJail, EngineConfig } from '../engine/config.ts'
import type { Engine } from '../engine/engine.ts'
import type { JailLoader } from '../engine/jail-loader.ts'
import type { Places } from '../engine/places.ts'
import { jailStateFile, readState, whitelistFile } from '../engine/own-files.ts'
import type { Interpreter } from '../python/interpreter.ts'
import type { PolicyOfHost } from '../policy/policy.ts'
import { errorText } from '../text.ts'
import { deployedTemplates, noTemplateFiles, referenceFiles, templateFiles } from './files.ts'
import { chooseSource } from './logs.ts'
import { checkTemplateName, readTemplate, trialOf } from './model.ts'
import type { Template } from './model.ts'
import { strangers } from './stream.ts'

export interface Templates {
  deploy(sent: unknown): Promise<string>
  /** The jail that a deployment would make, after the same checks; nothing is written. @throws Error as `deploy` */
  examine(sent: unknown): Promise<{ readonly name: string; readonly checked: CheckedJail }>
  remove(name: string): Promise<string>
}

/**
 * Deploys and removes templates, each of which is one jail. After a failure, files and jail are as before. Each method
 * returns the output of the command, or throws with the phase and a sentence.
 */
export const createTemplates = (needs: {
  engine: Engine
  config: EngineConfig
  loader: JailLoader
  python: Interpreter
  policy: Pick<PolicyOfHost, 'allowsLog' | 'namesLog'>
  places: Pick<Places, 'outside' | 'isMapped'>
  drain: () => Promise<void>
}): Templates => {
  const { engine, config, loader } = needs

  /** What is known of a template before any file is written, and what judges the jail that it makes. */
  const prepare = async (sent: unknown) => {
    const template = await inPhase('refused', () => readTemplate(sent, namesLog))
    const { name } = template
    mustHaveFiles(template)
    const source = await inPhase('precondition', () => chooseSource(needs, template))
    const files = templateFiles(config.directory, template, source)
    // A disabled jail stays disabled, but its configuration is checked now.
    const state = jailStateFile(config.directory, name, false)
    const off = readState(state.path) === false
    const asEnabled = { path: state.path, text: null }
    const reference = await inPhase('check', () =>
      loader.stage(name, [...referenceFiles(config.directory, template, source), asEnabled]),
    )
    const trial = trialOf(template)
    const vet = (checked: CheckedJail): void => {
      const otherCommands = strangers(name, checked.stream, reference.stream)
      if (otherCommands.length > 0)
        throw new Error(`it would set more than a template may: ${otherCommands.slice(0, 3).join(' ')}`)
      if (source?.named === true) mustLieInPlace(checked)
    }
    const examined = async (): Promise<CheckedJail> => {
      const checked = await inPhase('check', () => loader.stage(name, [...files, asEnabled], { trial }))
      vet(checked)
      return checked
    }
    return { template, files, off, trial, vet, examined }
  }

  const deploy = async (sent: unknown): Promise<string> => {
    const { template, files, off, trial, vet, examined } = await prepare(sent)
    const { name } = template
    if (off) {
      await examined()
      await loader.stop(name, files)
      return `${name} is deployed; its jail stays disabled, as it was ordered`
    }
    await needs.drain().catch(() => undefined)
    await loader.start(name, files, { vet, trial })
    return `${name} is deployed and runs${await effective(template)}${await otherFaults(name)}`
  }

  /** A log in a folder of a container is named by its path there, and judged by the one here. */
  const namesLog = (name: string): boolean => {
    const path = needs.places.outside(name)
    return path !== null && (path.startsWith('/var/log/') || needs.policy.namesLog(path))
  }

  const isAllowed = (name: string): boolean => {
    const path = needs.places.outside(name)
    return path !== null && needs.policy.allowsLog(path)
  }

  /** The files themselves, once links and globs are followed. */
  const mustLieInPlace = ({ stream }: CheckedJail): void => {
    for (const [, , what, path] of stream)
      if (what === 'addlogpath' && !isAllowed(String(path)))
        throw new Error(
          `refused: the log ${String(path)} lies outside /var/log; "log_paths" in policy.json on this host does not name it either`,
        )
  }

  const mustHaveFiles = ({ name, requiredFiles, filter }: Template): void => {
    const bare = filter?.split('[')[0] ?? ''
    const missing = requiredFiles.find(file => !fs.existsSync(join(config.directory, file)))
    if (missing !== undefined)
      throw new Error(`precondition: ${name} needs ${missing}, which this host's fail2ban does not have`)
    if (bare !== '' && (bare.startsWith('stockade') || !isThere(join('filter.d', bare))))
      throw new Error(`precondition: ${name} needs the filter ${bare}, which this host's fail2ban does not have`)
  }

  const isThere = (part: string): boolean =>
    ['.conf', '.local'].some(end => fs.existsSync(join(config.directory, `${part}${end}`)))

  /** A file of the administrator that is read later wins, so the output names the effective values. */
  const effective = async ({ name, options }: Template): Promise<string> => {
    const real = await engine.thresholds(name)
    const differing = (['maxretry', 'findtime', 'bantime'] as const).filter(
      option => /^-?\d+$/.test(options.get(option)?.[0] ?? '') && Number(options.get(option)?.[0]) !== real[option],
    )
    const values = `maxretry ${real.maxretry}, findtime ${real.findtime} s, bantime ${real.bantime} s`
    return `: ${values}${differing.length > 0 ? ` (a file of the host that is read later sets ${differing.join(', ')})` : ''}`
  }

  const otherFaults = async (name: string): Promise<string> => {
    const faults = faultsOf(await config.check(null, { streams: false })).filter(
      fault => !fault.startsWith(`${name}: `),
    )
    return faults.length === 0
      ? ''
      : `\nWarning: other jails of this host have errors, and the next restart of fail2ban may fail:\n${faults.join('\n')}`
  }

  const remove = async (sent: string): Promise<string> => {
    const name = checkTemplateName(sent)
    if (!deployedTemplates(config.directory).has(name)) return `${name} was not deployed on this host`
    const state = jailStateFile(config.directory, name, true)
    const files = noTemplateFiles(config.directory, name)
    // If the state file enabled a jail without a log, fail2ban could not start at all.
    const hosts = await loader.exists(name, [
      ...files,
      { path: state.path, text: null },
      { path: whitelistFile(config.directory), text: null },
    ])
    const spent = readState(state.path) === true || (!hosts && readState(state.path) !== null)
    await needs.drain().catch(() => undefined)
    const left = await loader.settle(name, spent ? [...files, { path: state.path, text: null }] : files)
    return left === 'running'
      ? `${name} is removed; the host's own configuration goes on with the jail`
      : `${name} is removed; its jail is stopped and its bans have left the firewall`
  }

  return {
    deploy,
    remove,
    async examine(sent) {
      const { template, examined } = await prepare(sent)
      return { name: template.name, checked: await examined() }
    },
  }
}

const inPhase = async <T>(phase: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw new Error(`${phase}: ${errorText(error)}`, { cause: error })
  }
}
