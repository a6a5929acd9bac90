import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import type { Reply } from '@stockade/client'
import { contentOf } from './content.ts'
import { contextOf } from './context.ts'
import { Failure, Misuse } from './failure.ts'
import { follow, places, printQueued, send, targetsAsked } from './orders.ts'
import type { Where } from './orders.ts'
import { print, printFields, printJson, printTable } from './print.ts'
import { safe, safeLines } from './safe.ts'
import { expectations, judgeSample, readSample } from './sample.ts'
import type { Expectation } from './sample.ts'
import { sendSigned } from './signing.ts'
import { agreeToUnguard } from './ssh.ts'
import { addTemplateTexts } from './template-texts.ts'
import { durationOf, wholeOf } from './times.ts'

type Template = Reply<'GET /templates/{templateId}'>
const categories = ['common', 'web', 'mail', 'custom'] as const
const types = ['builtin', 'custom'] as const

interface Tried {
  readonly filter?: string
  readonly sample?: string
  readonly expect: Expectation
}
interface Settings {
  readonly maxretry?: number
  readonly bantime?: number
  readonly findtime?: number
  readonly logpath?: string
}

const secondsOf = (text: string): number => {
  const seconds = durationOf(text)
  if (seconds < 1) throw new InvalidArgumentError('Give seconds, or 30m, 1h, 7d, up to 1y.')
  return seconds
}
const settingsOf = ({ settings }: Template): string =>
  Object.entries(settings)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')

const requireSense = (file: string, { filter, sample }: Tried, command: Command): void => {
  if ([file, filter, sample].filter(name => name === '-').length > 1)
    throw new Misuse('Standard input can be one of the files only.')
  if (sample === undefined && command.getOptionValueSource('expect') === 'cli')
    throw new Misuse('--expect says what lines should do: give them with --sample.')
}
const printVerdict = (
  { valid, problems }: Reply<'POST /templates/validate'>,
  names: Readonly<Record<'jail' | 'filter', string>>,
): void => {
  for (const { file, line, message, severity } of problems)
    print(`${safe(names[file])}${line === null ? '' : `:${line}`}: ${severity}: ${safe(message)}`)
  if (valid) print(problems.length > 0 ? 'It passes, with warnings.' : 'It passes.')
}

export const addTemplateCommands = (program: Command): void => {
  const templates = program.command('templates').description('jails to deploy to hosts')

  templates
    .command('list')
    .description('list the templates')
    .addOption(new Option('--category <category>', 'only these').choices(categories))
    .addOption(new Option('--type <type>', 'only these').choices(types))
    .option('--search <text>', 'part of the name or description')
    .action(
      async (
        query: { category?: (typeof categories)[number]; type?: (typeof types)[number]; search?: string },
        command: Command,
      ) => {
        const { client, json } = contextOf(command)
        const list = await client.call('GET /templates', { query })
        if (json) return printJson(list)
        printTable(
          ['NAME', 'TITLE', 'CATEGORY', 'TYPE', 'WATCHES', 'ID'],
          list.templates.map(template => [
            template.name,
            template.display_name,
            template.category,
            template.type,
            template.description,
            String(template.id),
          ]),
        )
        print(`\n${list.total} ${list.total === 1 ? 'template' : 'templates'}`)
      },
    )

  templates
    .command('show')
    .description('show one template and its texts')
    .argument('<name-or-id>')
    .action(async (templateId: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const template = await client.call('GET /templates/{templateId}', { params: { templateId } })
      if (json) return printJson(template)
      printFields([
        ['name', template.name],
        ['id', template.id],
        ['title', template.display_name],
        ['watches', template.description],
        ['category', template.category],
        ['type', template.type],
        ['settings', settingsOf(template)],
        ['needs', template.required_files.join(' ')],
        ['made for', template.compatible_os.join(' ')],
      ])
      print(`\n${safeLines(template.jail_config.trimEnd())}`)
      if (template.filter_config.trim()) print(`\n${safeLines(template.filter_config.trimEnd())}`)
    })

  places(
    templates.command('deploy').description('put a template on hosts, or put it there anew').argument('<name-or-id>'),
  )
    .option('--maxretry <number>', 'failures that are one too many', wholeOf)
    .option('--findtime <time>', 'within which they count: seconds, 30m, 1h, 1d', secondsOf)
    .option('--bantime <time>', 'how long a ban lasts: seconds, 30m, 1h, 7d, or perm', durationOf)
    .option('--logpath <path>', 'the log, a path or a glob')
    .option('--yes', 'yes, sign it')
    .action(async (templateId: string, options: Where & Settings, command: Command) => {
      const { client, json } = contextOf(command)
      const targets = await targetsAsked(client, options)
      const { maxretry, findtime, bantime, logpath } = options
      const settings = Object.fromEntries(
        Object.entries({ maxretry, findtime, bantime, logpath }).filter(([, value]) => value !== undefined),
      )
      const server_ids = targets.map(({ id }) => id)
      if (options.sign !== undefined) {
        const { sign, yes } = options
        const params = { template_id: templateId, settings }
        const signed = await sendSigned(
          client,
          sign,
          targets,
          { type: 'deploy-template', params, server_ids },
          yes === true,
        )
        if (options.wait) return follow({ client, json }, [signed], options.timeout)
        return json ? printJson(signed) : printQueued(targets, signed.commands)
      }
      const batch = await client.call('POST /templates/{templateId}/deploy', {
        params: { templateId },
        body: { server_ids, settings },
      })
      if (options.wait) return follow({ client, json }, [batch], options.timeout)
      if (json) return printJson(batch)
      printQueued(
        targets,
        batch.commands.map(({ command_id, server_id }) => ({ id: command_id, server_id, status: 'pending' })),
      )
    })

  places(templates.command('remove').description('take a template off hosts').argument('<name>'))
    .option('--yes', 'yes, also where it guards SSH')
    .action(async (template_name: string, options: Where & { yes?: boolean }, command: Command) => {
      const context = contextOf(command)
      const targets = await targetsAsked(context.client, options)
      if (!options.yes) await agreeToUnguard(context.client, 'template', template_name, targets)
      // By its name and not its id: a host may still have one that is gone from the server.
      await send(context, options, targets, { type: 'remove-template', params: { template_name } })
    })

  templates
    .command('status')
    .description('where a template is')
    .argument('<name-or-id>')
    .action(async (templateId: string, _: object, command: Command) => {
      const { client, json } = contextOf(command)
      const status = await client.call('GET /templates/{templateId}/status', { params: { templateId } })
      if (json) return printJson(status)
      printTable(
        ['SERVER', 'DEPLOYED', 'STATE', 'BANNED NOW', 'ID'],
        status.servers.map(server => [
          server.hostname,
          server.deployed ? 'yes' : 'no',
          server.deployed ? (server.enabled ? 'enabled' : 'disabled') : null,
          server.deployed ? server.current_bans : null,
          server.id,
        ]),
      )
      const there = status.servers.filter(({ deployed }) => deployed).length
      print(`\n${safe(status.template_name)} is on ${there} of ${status.servers.length} servers.`)
    })

  addTemplateTexts(templates)
  templates
    .command('validate')
    .description('check a template; exit 1 when it is refused')
    .argument('<file>', 'the jail, or - for standard input')
    .option('--filter <file>', 'the filter of its own')
    .option('--sample <file>', 'lines of a log to try, or - for standard input; exit 1 unless they match')
    .addOption(
      new Option('--expect <what>', 'with --sample: that every line matches, none does, or either')
        .choices(expectations)
        .default('match'),
    )
    .action(async (file: string, options: Tried, command: Command) => {
      const { client, json } = contextOf(command)
      const { filter } = options
      requireSense(file, options, command)
      const sample = options.sample === undefined ? undefined : await readSample(options.sample)
      const verdict = await client.call('POST /templates/validate', {
        body: {
          jail_config: await contentOf(file),
          ...(filter === undefined ? {} : { filter_config: await contentOf(filter) }),
          ...(sample === undefined ? {} : { sample }),
        },
      })
      if (json) printJson(verdict)
      else printVerdict(verdict, { jail: file, filter: filter ?? '' })
      if (!verdict.valid)
        throw new Failure(
          `It is refused for ${verdict.errors.length} ${verdict.errors.length === 1 ? 'error' : 'errors'}.`,
        )
      if (sample === undefined) return
      if (!json) print('')
      judgeSample(sample, verdict, options.expect, json)
    })
}
