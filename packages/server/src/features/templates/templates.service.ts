import { createHash } from 'node:crypto'
import { bounds, isTemplateName, templates as contract } from '@stockade/contract'
import type { BodyOf, QueryOf, ReplyOf, commands as commandContract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import type { Principal } from '../../core/actor.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { jsonText, parseJson } from '../../core/json-text.ts'
import { admit } from '../../core/leaving.ts'
import { Problem, conflict, forbidden, invalid, notFound } from '../../core/problem.ts'
import { tame } from '../../core/text.ts'
import type { Database } from '../../db/database.ts'
import type { Events } from '../../events/events.ts'
import { builtins } from './builtin/catalogue.ts'
import type { Builtin } from './builtin/catalogue.ts'
import { reservedNames } from './names.ts'
import { createTrials, readSample } from './sample/trials.ts'
import {
  allTemplateRows,
  changeTemplate,
  countTemplates,
  findSnapshots,
  findTemplateRow,
  findTemplateRowByName,
  insertTemplate,
  keepSnapshot,
} from './templates.store.ts'
import type { TemplateRow } from './templates.store.ts'
import { validate } from './validator/validate.ts'
import type { Verdict } from './validator/validate.ts'
import { logpath } from './validator/values.ts'

type CreatedTemplate = ReplyOf<typeof contract.createTemplate>
type ChangedTemplate = ReplyOf<typeof contract.updateTemplate>
/** A template without its texts. */
type Summary = Omit<contract.Template, 'jail_config' | 'filter_config'>
type Frozen = commandContract.FrozenTemplate
/** Options that a deployment sets; what is absent or null is as the template says. */
export type Settings = contract.TemplateSettings

/** A template as it is now, to be carried by commands. */
export interface Snapshot {
  readonly templateId: number
  readonly hash: string
  readonly template: Frozen
}

export interface TemplatesService {
  list(query: QueryOf<typeof contract.listTemplates>): Promise<readonly Summary[]>
  /** By id or by name. @throws Problem 404. */
  get(reference: string): Promise<contract.Template>
  categories(): Promise<ReplyOf<typeof contract.listTemplateCategories>>
  /** With a sample, also what the filter finds in its lines. @throws Problem 400 where that is beyond its bounds. */
  check(texts: BodyOf<typeof contract.validateTemplate>): Promise<ReplyOf<typeof contract.validateTemplate>>
  create(actor: Principal, input: BodyOf<typeof contract.createTemplate>): Promise<CreatedTemplate>
  update(actor: Principal, reference: string, input: BodyOf<typeof contract.updateTemplate>): Promise<ChangedTemplate>
  /**
   * Freezes the template with settings over its own. Null where there is none.
   * @throws Problem 400 naming `path` where a setting is no good.
   */
  freeze(reference: string | number, settings: Settings, path: string): Promise<Snapshot | null>
  /** Keeps what commands refer to, in their transaction. */
  keep(sql: Parameters<typeof keepSnapshot>[0], snapshot: Snapshot): Promise<void>
  /** What was frozen, by hash. */
  frozen(sql: Parameters<typeof findSnapshots>[0], hashes: readonly string[]): Promise<ReadonlyMap<string, Frozen>>
}

const noSettings = { maxretry: null, bantime: null, findtime: null, logpath: null }
const knownFilters: ReadonlySet<string> = new Set(
  builtins.map(builtin => /^filter = (.*)$/m.exec(builtin.jail_config)?.[1] ?? ''),
)
const categoryTexts = [
  ['common', 'Common', 'Logins and services of any host: SSH, FTP, databases, VPN, DNS, telephony, repeat offenders'],
  ['web', 'Web', 'Web servers, proxies and the applications behind them'],
  ['mail', 'Mail', 'Mail transport, mailboxes and webmail'],
  ['custom', 'Custom', 'Templates of your own'],
] as const

const ofBuiltin = (builtin: Builtin): contract.Template => ({
  ...builtin,
  type: 'builtin',
  required_files: [...builtin.required_files],
  compatible_os: [...builtin.compatible_os],
})
const builtinTemplates = builtins.map(ofBuiltin)
const ofRow = (row: TemplateRow): contract.Template => ({
  id: row.id,
  name: row.name,
  display_name: row.display_name,
  description: row.description,
  category: row.category,
  type: 'custom',
  default_enabled: false,
  settings: { ...noSettings, ...parseJson(row.settings) },
  jail_config: row.jail_config,
  filter_config: row.filter_config,
  required_files: [...parseJson(row.required_files)],
  compatible_os: [],
})
const summaryOf = ({ jail_config: _, filter_config: __, ...summary }: contract.Template): Summary => summary

/** Without what is null: as the template says. */
const set = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== undefined))
const checkSettings = (settings: Settings, path: string): Settings => {
  const wrong = typeof settings.logpath === 'string' ? logpath(settings.logpath) : null
  if (wrong) throw invalid(`${path}.logpath`, `${path}.logpath: ${wrong}`)
  return settings
}
const fileField = { jail: 'jail_config', filter: 'filter_config' } as const
const refuseFaults = ({ problems }: Verdict) => {
  const errors = problems.filter(({ severity, refuses }) => severity === 'error' || refuses)
  if (errors.length === 0) return
  const details = errors.map(({ file, line, message }) => ({
    path: fileField[file],
    message: line === null ? message : `Line ${line}: ${message}`,
  }))
  const [first] = details
  throw new Problem(
    400,
    'Bad Request',
    `The template is refused. ${first?.path ?? ''}: ${first?.message ?? ''}${details.length > 1 ? ` (and ${details.length - 1} more)` : ''}`,
    { details },
  )
}
const hashOf = (templateId: number, template: Frozen) =>
  createHash('sha256')
    .update(JSON.stringify([templateId, template]))
    .digest('hex')

export const createTemplates = (needs: { db: Database; clock: Clock; events: Events }): TemplatesService => {
  const { db, clock, events } = needs
  const trials = createTrials({ clock })

  /** A custom template comes before a built-in that took its name in a later version. */
  const find = async (reference: string | number): Promise<contract.Template | null> => {
    const isId = typeof reference === 'number' || /^[1-9]\d{0,15}$/.test(reference)
    const id = isId ? Number(reference) : 0
    if (isId && !Number.isSafeInteger(id)) return null
    const row = isId
      ? await findTemplateRow(db.read, id)
      : isTemplateName(String(reference))
        ? await findTemplateRowByName(db.read, String(reference))
        : undefined
    if (row) return ofRow(row)
    return builtinTemplates.find(builtin => (isId ? builtin.id === id : builtin.name === reference)) ?? null
  }
  const get = async (reference: string): Promise<contract.Template> => {
    const template = await find(reference)
    if (!template) throw notFound(`There is no template ${reference}.`)
    return template
  }
  const all = async (): Promise<contract.Template[]> => [
    ...builtinTemplates,
    ...(await allTemplateRows(db.read)).map(ofRow),
  ]
  const settingsOf = (template: contract.Template): Settings => set(template.settings)
  const word = (text: string, most: number) => tame(text, most * 4)

  return {
    get,
    async list({ category, type, search }) {
      const searchText = search?.toLowerCase()
      return (await all())
        .filter(
          template =>
            (category === undefined || template.category === category) &&
            (type === undefined || template.type === type) &&
            (searchText === undefined ||
              [template.name, template.display_name, template.description].some(text =>
                text.toLowerCase().includes(searchText),
              )),
        )
        .map(summaryOf)
    },
    async categories() {
      const templates = await all()
      return {
        categories: categoryTexts.map(([id, name, description]) => ({
          id,
          name,
          description,
          template_count: templates.filter(template => template.category === id).length,
        })),
      }
    },
    async check({ jail_config, filter_config = '', sample }) {
      const lines = sample === undefined ? null : readSample(sample)
      const problems = [...validate({ jail_config, filter_config }, { knownFilters }).problems]
      const problemsOf = (severity: 'error' | 'warning') =>
        problems
          .filter(problem => problem.severity === severity)
          .map(({ file, line, message }) => `${file}${line === null ? '' : `, line ${line}`}: ${message}`)
      const errors = problemsOf('error')
      if (errors.length > 0) {
        const untried = { matches: [], sample_note: 'Lines are tried once the template has no errors.' }
        return { valid: false, errors, problems, ...(lines ? untried : {}) }
      }
      const valid = { valid: true, warnings: problemsOf('warning'), problems } as const
      if (!lines) return valid
      const { matches, note } = await trials.try({ jail_config, filter_config }, lines)
      return { ...valid, matches: [...matches], sample_note: note }
    },
    async create(actor, input) {
      const { name, jail_config, filter_config = '' } = input
      if (reservedNames.has(name)) throw conflict(`The name ${name} is reserved. Choose another one.`)
      const settings = set(checkSettings(input.settings ?? {}, 'settings'))
      const verdict = validate({ jail_config, filter_config }, { name, knownFilters })
      refuseFaults(verdict)
      const nameTaken = () => conflict(`There is a template ${name} already. Choose another name.`)
      if (builtinTemplates.some(builtin => builtin.name === name)) throw nameTaken()
      const now = clock()
      const row = await events.change(async change => {
        admit(contract.createTemplate.leaves, { all: await countTemplates(change.sql) })
        const newTemplate = await insertTemplate(change.sql, {
          name,
          display_name: word(input.display_name ?? name, bounds.name),
          description: word(input.description ?? '', bounds.description),
          category: input.category ?? 'custom',
          settings: jsonText(settings),
          jail_config,
          filter_config,
          required_files: jsonText(verdict.requiredFiles),
          created_at: now,
          updated_at: now,
        })
        if (!newTemplate) throw nameTaken()
        await change.record({ name: 'template.create', author: authorOf(actor), data: { id: newTemplate.id, name } })
        return newTemplate
      })
      return {
        id: row.id,
        name: row.name,
        display_name: row.display_name,
        type: 'custom',
        created_at: iso(row.created_at),
      }
    },
    async update(actor, reference, input) {
      const before = await get(reference)
      const { id, name } = before
      if (before.type === 'builtin')
        throw forbidden('A built-in template can not be modified. Make one of your own with its texts.')
      checkSettings(input.settings ?? {}, 'settings')
      const { jail_config = before.jail_config, filter_config = before.filter_config } = input
      const texts = input.jail_config !== undefined || input.filter_config !== undefined
      const verdict = texts ? validate({ jail_config, filter_config }, { name, knownFilters }) : null
      if (verdict) refuseFaults(verdict)
      const row = await events.change(async change => {
        // Read again, inside: what two operators change at once must not undo one another.
        const now = await findTemplateRow(change.sql, id)
        if (!now) throw notFound(`There is no template ${reference}.`)
        if (Object.keys(input).length === 0) return now
        // The two texts were checked together, so what one of them was checked with must still stand.
        if (verdict && (now.jail_config !== before.jail_config || now.filter_config !== before.filter_config))
          throw conflict('Somebody changed the texts of this template at the same time. Read it again.')
        const done = await changeTemplate(change.sql, id, {
          ...(input.display_name === undefined ? {} : { display_name: word(input.display_name, bounds.name) }),
          ...(input.description === undefined ? {} : { description: word(input.description, bounds.description) }),
          ...(input.category === undefined ? {} : { category: input.category }),
          ...(input.settings === undefined
            ? {}
            : { settings: jsonText(set({ ...parseJson(now.settings), ...input.settings })) }),
          ...(verdict ? { jail_config, filter_config, required_files: jsonText(verdict.requiredFiles) } : {}),
          updated_at: clock(),
        })
        if (!done) throw notFound(`There is no template ${reference}.`)
        await change.record({
          name: 'template.update',
          author: authorOf(actor),
          data: { id, name, fields: Object.keys(input) },
        })
        return done
      })
      return { id: row.id, name: row.name, display_name: row.display_name, updated_at: iso(row.updated_at) }
    },
    async freeze(reference, settings, path) {
      checkSettings(settings, path)
      const template = await find(reference)
      if (!template) return null
      const { name, jail_config, filter_config, required_files } = template
      const frozen = {
        name,
        jail_config,
        filter_config,
        required_files,
        // A null that was sent takes the template's own setting back as well.
        settings: { ...set({ ...settingsOf(template), ...settings }) },
      }
      return { templateId: template.id, hash: hashOf(template.id, frozen), template: frozen }
    },
    async keep(sql, { hash, templateId, template }) {
      await keepSnapshot(sql, {
        hash,
        template_id: templateId,
        name: template.name,
        content: jsonText(template),
        created_at: clock(),
      })
    },
    async frozen(sql, hashes) {
      const rows = await findSnapshots(sql, [...new Set(hashes)])
      return new Map(rows.map(row => [row.hash, parseJson(row.content)]))
    },
  }
}
