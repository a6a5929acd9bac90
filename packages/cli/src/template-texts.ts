import { Option } from 'commander'
import type { Command } from 'commander'
import { agree } from './ask.ts'
import { contentOf } from './content.ts'
import { contextOf } from './context.ts'
import { Misuse } from './failure.ts'
import { print, printEither, printJson, printTable } from './print.ts'
import { safe } from './safe.ts'
import { durationOf, wholeOf } from './times.ts'

/* Templates of one's own: their texts come from files. */

interface Texts {
  readonly jail?: string
  readonly filter?: string
  readonly title?: string
  readonly description?: string
  readonly category?: 'common' | 'web' | 'mail' | 'custom'
  readonly maxretry?: number
  readonly findtime?: number
  readonly bantime?: number
  readonly logpath?: string
}
const bodyOf = async ({ jail, filter, title, description, category, ...rest }: Texts) => {
  if (jail === '-' && filter === '-') throw new Misuse('Standard input can be one of the files only.')
  const { maxretry, findtime, bantime, logpath } = rest
  const settings = Object.fromEntries(
    Object.entries({ maxretry, findtime, bantime, logpath }).filter(([, value]) => value !== undefined),
  )
  return {
    ...(jail === undefined ? {} : { jail_config: await contentOf(jail) }),
    ...(filter === undefined ? {} : { filter_config: await contentOf(filter) }),
    ...(title === undefined ? {} : { display_name: title }),
    ...(description === undefined ? {} : { description }),
    ...(category === undefined ? {} : { category }),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
  }
}
const runAdd = async (name: string, jail: string, options: Texts, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const body = { jail_config: '', ...(await bodyOf({ ...options, jail })), name }
  const newTemplate = await client.call('POST /templates', { body })
  if (json) printJson(newTemplate)
  else
    print(
      `${safe(newTemplate.name)} is template ${newTemplate.id}. Put it on hosts: stockade templates deploy ${safe(newTemplate.name)} --all`,
    )
}
const runChange = async (templateId: string, options: Texts, command: Command): Promise<void> => {
  const body = await bodyOf(options)
  if (Object.keys(body).length === 0) throw new Misuse('Say what to change, such as --jail FILE.')
  const { client, json } = contextOf(command)
  const done = await client.call('PATCH /templates/{templateId}', { params: { templateId }, body })
  printEither(json, done, `${safe(done.name)} is changed. Hosts keep what they have until it is deployed again.`)
}
const runDelete = async (templateId: string, { yes }: { yes?: boolean }, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  if (!yes) await agree(`${safe(templateId)}: hosts that have it keep it.`, 'Delete it?', 'Nothing was deleted.')
  const done = await client.call('DELETE /templates/{templateId}', { params: { templateId } })
  printEither(json, done, safe(done.message))
}
const runCategories = async (_: object, command: Command): Promise<void> => {
  const { client, json } = contextOf(command)
  const list = await client.call('GET /templates/categories')
  if (json) return printJson(list)
  printTable(
    ['CATEGORY', 'NAME', 'TEMPLATES', 'WHAT IT HOLDS'],
    list.categories.map(({ id, name, template_count: count, description }) => [id, name, count, description]),
  )
}

const withTexts = (command: Command): Command =>
  command
    .option('--filter <file>', 'the filter of its own, or - for standard input')
    .option('--title <text>', 'what people call it')
    .option('--description <text>', 'what it watches')
    .addOption(new Option('--category <category>', 'where it is listed').choices(['common', 'web', 'mail', 'custom']))
    .option('--maxretry <number>', 'failures that are one too many', wholeOf)
    .option('--findtime <time>', 'within which they count: seconds, 30m, 1h, 1d', durationOf)
    .option('--bantime <time>', 'how long a ban lasts: seconds, 30m, 1h, 7d, or perm', durationOf)
    .option('--logpath <path>', 'the log, a path or a glob')

export const addTemplateTexts = (templates: Command): void => {
  withTexts(
    templates
      .command('add')
      .description('add a template of your own (Pro)')
      .argument('<name>', 'its name, which the jail has on hosts')
      .argument('<file>', 'the jail, or - for standard input'),
  ).action(runAdd)
  withTexts(templates.command('change').description('change a template of your own').argument('<name-or-id>'))
    .option('--jail <file>', 'the jail, or - for standard input')
    .action(runChange)
  templates
    .command('delete')
    .description('delete a template of your own; "remove" takes one off hosts')
    .argument('<name-or-id>')
    .option('--yes', 'yes, without being asked')
    .action(runDelete)
  templates.command('categories').description('list the categories').action(runCategories)
}
