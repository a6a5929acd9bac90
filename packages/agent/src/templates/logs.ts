import { join } from 'node:path'
import type { EngineConfig, LogPlace } from '../engine/config.ts'
import type { Engine } from '../engine/engine.ts'
import { readText } from '../files.ts'
import type { Interpreter } from '../python/interpreter.ts'
import type { Template } from './model.ts'

/** Where a jail reads: files, or the journal. Null: as the host's own section of that name says. */
export interface Source {
  readonly backend: string
  readonly logpaths: readonly string[]
  readonly journalmatch: readonly string[]
  /** The template itself says where the files are; else the host's own configuration does. */
  readonly named?: boolean
}

/** Stands for fail2ban's own log, wherever this host keeps it. */
const fail2banLog = '/var/log/fail2ban.log'

/**
 * Chooses what is there on this host. Throws with a sentence when there is nothing: a jail without a log keeps the whole
 * of fail2ban from starting.
 */
export const chooseSource = async (
  needs: { engine: Engine; config: EngineConfig; python: Interpreter },
  template: Template,
): Promise<Source | null> => {
  const { name, backend, logpaths, journalmatch } = template
  if (backend?.startsWith('systemd')) {
    const lack = await whyNoJournal(needs.python)
    if (lack !== null) throw new Error(`${name} reads the journal, but ${lack}`)
    return { backend, logpaths: [], journalmatch }
  }
  if (logpaths.length === 0) return null
  const files = backend === null || backend.startsWith('%') ? 'auto' : backend
  if (logpaths.length === 1 && logpaths[0] === fail2banLog) {
    const own = await needs.engine.logTarget()
    if (own !== null) return { backend: files, logpaths: [own], journalmatch: [] }
  }
  const places = await needs.config.logPlaces(logpaths.map(path => path.split(' ')[0] ?? ''))
  const there = logpaths.filter((_, index) => places[index]?.found === true)
  if (there.length > 0)
    return { backend: files, logpaths: there, journalmatch: [], named: there.some(path => path.startsWith('/')) }
  const none = `none of its logs is on this host: ${missingLogs(places)}`
  if (!journalmatch.length && !hasJournalmatch(needs.config.directory, template))
    throw new Error(`${name}: ${none}. ${whatToDo}`)
  const lack = await whyNoJournal(needs.python)
  if (lack !== null) throw new Error(`${name}: ${none}, and ${lack}. ${whatToDo}`)
  return { backend: 'systemd', logpaths: [], journalmatch }
}

/** As many paths as a reader takes in. */
const namedPlaces = 10

/** What fail2ban looked for, not what the template calls it: `%(apache_error_log)s` tells nobody which file to make. */
const missingLogs = (places: readonly LogPlace[]): string => {
  const logFiles = places.flatMap(({ asked, places: paths }) => {
    const variable = /^%\((.+)\)s$/.exec(asked)?.[1]
    if (variable === undefined) return paths.map(path => existence(path, ''))
    if (paths.length === 0) return [`this host's fail2ban does not define ${variable}`]
    return paths.map(path => existence(path, ` (${variable} of this host's fail2ban)`))
  })
  const rest = logFiles.length - namedPlaces
  return `${logFiles.slice(0, namedPlaces).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`
}

const existence = (path: string, origin: string): string => {
  const pathText = `${path.slice(0, 300)}${origin}`
  return /[*?[]/.test(path) ? `no file matches ${pathText}` : `${pathText} does not exist`
}

const whatToDo =
  'Start the program that writes the log, or deploy the template with the setting logpath that names where it is.'

/** A filter that does not say which journal lines it wants would read all of them. */
const hasJournalmatch = (config: string, { name, filter, filterText }: Template): boolean => {
  if (filterText) return filterText.some(({ options }) => options.has('journalmatch'))
  const file = join(config, 'filter.d', `${(filter ?? name).split('[')[0] ?? ''}.conf`)
  return /^journalmatch *=/m.test(readText(file) ?? '')
}

const whyNoJournal = async (python: Interpreter): Promise<string | null> => {
  const isThere = await python.run("import os; print(os.path.exists('/run/systemd/journal'))", {}).catch(() => '')
  if (!isThere.startsWith('True')) return 'there is no journal here'
  return python.run('import systemd.journal', {}).then(
    () => null,
    () => "fail2ban's Python cannot read the journal (python3-systemd is missing)",
  )
}
