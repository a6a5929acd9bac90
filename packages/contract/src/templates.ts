import { Type } from 'typebox'
import type { Static } from 'typebox'
import { duration } from './bans.ts'
import { endpoint } from './endpoint.ts'
import { bounds } from './limits.ts'
import { templateNamePattern } from './names.ts'
import { count, id, message, timestamp, uuid } from './common.ts'
import { field, nullable, oneOf, resource, shape, text } from './shapes.ts'

const tag = 'Templates'
/** The id or the name. Names never look like numbers, so the two can share a path. */
const templateId = text(1, 64, { examples: ['sshd', '1'] })
const params = shape({ templateId })
/** Far beyond any real jail or filter, and small enough to analyse at once. */
const config = (minLength: number, options: object = {}) => text(minLength, 64 * 1024, options)

/** The engine makes firewall chain names of it: short, lower case, no surprises. */
export const templateName = Type.String({ pattern: templateNamePattern, minLength: 1, maxLength: 24 })
/** Sections that mean something else to the engine or to the agent. */
export const reservedTemplateNames = ['stockade', 'default', 'includes', 'known'] as const
export const templateCategory = oneOf(['common', 'web', 'mail', 'custom'], { title: 'TemplateCategoryId' })
export const templateType = oneOf(['builtin', 'custom'], { title: 'TemplateType' })

/** Options that a deployment can set; null, as a read shows it, stands for "as `jail_config` says". Times in seconds. */
export const templateSettings = resource('TemplateSettings', {
  maxretry: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1000 }))),
  bantime: Type.Optional(Type.Union([duration, Type.Null()])),
  findtime: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: bounds.seconds }))),
  logpath: field(
    Type.Optional(nullable(Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]+$', minLength: 1, maxLength: 4096 }))),
    'Log files that the jail reads; no control characters.',
  ),
})
export type TemplateSettings = Static<typeof templateSettings>

const summaryFields = {
  id,
  name: Type.String(),
  display_name: Type.String(),
  description: Type.String(),
  category: templateCategory,
  type: field(templateType, 'Whether the template is built in or custom.'),
  default_enabled: field(Type.Boolean(), 'Whether the jail is switched on after a deployment.'),
  settings: resource('TemplateDefaults', {
    maxretry: nullable(Type.Integer()),
    bantime: nullable(Type.Integer()),
    findtime: nullable(Type.Integer()),
    logpath: nullable(Type.String()),
  }),
  required_files: Type.Array(Type.String()),
  compatible_os: field(Type.Array(Type.String()), 'Operating systems that the template works on.'),
}
export const templateSummary = resource('TemplateSummary', {
  ...summaryFields,
  deployed_on: field(count, 'Number of visible servers that have the template, enabled or not.'),
  own_on: field(count, 'Number of visible servers that run a jail of this name from their own configuration.'),
})
export type TemplateSummary = Static<typeof templateSummary>
export const template = resource('Template', {
  ...summaryFields,
  jail_config: Type.String(),
  filter_config: Type.String(),
})
export type Template = Static<typeof template>

export const listTemplates = endpoint('GET /templates', {
  tag,
  summary: 'List jail templates',
  description: 'All of them, without their configuration texts. `search` looks in names and description.',
  access: 'read',
  query: shape({
    category: Type.Optional(templateCategory),
    type: field(Type.Optional(templateType), 'Whether to list built-in or custom templates.'),
    search: Type.Optional(text(1, bounds.name)),
  }),
  reply: shape({
    templates: field(Type.Array(templateSummary), 'The templates.'),
    total: field(count, 'Number of templates.'),
  }),
})

export const getTemplate = endpoint('GET /templates/{templateId}', {
  tag,
  summary: 'Read one template',
  description: 'By id or by name.',
  access: 'read',
  params,
  reply: template,
  refusals: [404],
})

export const createTemplate = endpoint('POST /templates', {
  tag,
  summary: 'Create a template',
  description:
    "A template is root's configuration on every server that it goes to, so only an allow-list of jail and filter options passes; `/templates/validate` says what is wrong and where. `name` is fixed for good; `stockade`, `default`, `includes` and `known` are reserved.",
  access: 'admin',
  lasts: true,
  leaves: { what: 'templates', most: bounds.templates, per: 'fleet' },
  fleet: true,
  licence: 'custom_templates',
  body: shape({
    name: templateName,
    display_name: Type.Optional(text(1, bounds.name)),
    description: Type.Optional(text(0, bounds.description, { default: '' })),
    category: Type.Optional(oneOf(['common', 'web', 'mail', 'custom'], { default: 'custom' })),
    settings: Type.Optional(templateSettings),
    jail_config: config(1),
    filter_config: Type.Optional(config(0, { default: '' })),
  }),
  status: 201,
  reply: shape({
    id,
    name: Type.String(),
    display_name: Type.String(),
    type: field(templateType, 'Always `custom`.'),
    created_at: timestamp,
  }),
  refusals: [409],
})

export const updateTemplate = endpoint('PATCH /templates/{templateId}', {
  tag,
  summary: 'Change a template',
  description:
    'Built-in templates cannot be modified (403). In `settings` only the options that are sent change; null takes one out. Servers keep what was deployed until it is deployed again.',
  access: 'admin',
  lasts: true,
  fleet: true,
  licence: 'custom_templates',
  params,
  body: shape({
    display_name: Type.Optional(text(1, bounds.name)),
    description: Type.Optional(text(0, bounds.description)),
    category: Type.Optional(templateCategory),
    settings: Type.Optional(templateSettings),
    jail_config: Type.Optional(config(1)),
    filter_config: Type.Optional(config(0)),
  }),
  reply: shape({ id, name: Type.String(), display_name: Type.String(), updated_at: timestamp }),
  refusals: [404],
})

export const deleteTemplate = endpoint('DELETE /templates/{templateId}', {
  tag,
  summary: 'Delete a template',
  description: 'Built-in templates cannot be deleted (403), nor one that is deployed somewhere (409).',
  access: 'admin',
  lasts: true,
  fleet: true,
  params,
  reply: message,
  refusals: [404, 409],
})

export const deployTemplate = endpoint('POST /templates/{templateId}/deploy', {
  tag,
  summary: 'Deploy a template to servers',
  description:
    'Queues one `deploy-template` command a server; the template is frozen as it is now. `settings` win over those of the template. A key that is bound to one server may name that one.',
  access: 'write',
  lasts: true,
  leaves: { what: 'waiting commands', most: bounds.waitingCommands, per: 'server' },
  forServerKeys: true,
  params,
  body: shape({
    server_ids: Type.Array(uuid, { minItems: 1, maxItems: 10_000 }),
    settings: Type.Optional(templateSettings),
  }),
  reply: shape({
    message: Type.String(),
    batch_id: uuid,
    commands: Type.Array(resource('DeploymentCommand', { server_id: uuid, command_id: uuid })),
  }),
  refusals: [404],
})

export const removeTemplate = endpoint('DELETE /templates/{templateId}/servers/{serverId}', {
  tag,
  summary: 'Take a template off a server',
  description: 'Queues a `remove-template` command.',
  access: 'write',
  lasts: false,
  forServerKeys: true,
  params: shape({ templateId, serverId: uuid }),
  reply: shape({ message: Type.String(), command_id: uuid }),
  refusals: [404],
})

export const listTemplateCategories = endpoint('GET /templates/categories', {
  tag,
  summary: 'List the categories',
  access: 'read',
  reply: shape({
    categories: field(
      Type.Array(
        resource('TemplateCategory', {
          id: Type.String(),
          name: Type.String(),
          description: Type.String(),
          template_count: field(count, 'Number of templates in the category.'),
        }),
      ),
      'The categories.',
    ),
  }),
})

/** One finding of the validator, and where: `line` counts from 1, null where no single line is to blame. */
const problems = Type.Array(
  resource('TemplateProblem', {
    file: field(oneOf(['jail', 'filter']), 'The text that has the problem.'),
    line: field(nullable(count), 'Line number from 1; null when the problem is not in a single line.'),
    message: Type.String(),
    severity: field(oneOf(['error', 'warning']), 'Whether the template is refused for it.'),
  }),
)
/** What became of the lines of a sample, where one was sent. */
const trial = {
  matches: field(
    Type.Optional(
      Type.Array(
        resource('SampleMatch', {
          line: field(Type.Integer({ minimum: 1 }), 'Line number from 1.'),
          matched: field(Type.Boolean(), 'Whether the filter matches.'),
          ip: field(nullable(Type.String()), 'Address in the line; null without a match or address.'),
        }),
      ),
    ),
    'What the filter finds in each line of the sample.',
  ),
  sample_note: field(
    Type.Optional(nullable(Type.String())),
    'What could not be tried here, and why; null when everything was.',
  ),
}
export const validateTemplate = endpoint('POST /templates/validate', {
  tag,
  summary: 'Check a template before saving it',
  description:
    'Reads both texts as the engine would, as far as Stockade can without the files of a server. `problems` is the same with line numbers. With `sample`, lines of a log, `matches` says what the filter finds in each: the same as the engine does, or nothing about that line. `sample_note` says in words what could not be tried here and why, such as a filter that lies on the servers. How old a line is makes no difference.',
  access: 'write',
  lasts: false,
  leaves: null,
  forServerKeys: true,
  body: shape({
    jail_config: config(0),
    filter_config: Type.Optional(config(0, { default: '' })),
    sample: Type.Optional(
      text(0, bounds.sample.length, {
        description: `Lines of a log: ${bounds.sample.lines} at most, each of ${bounds.sample.line} characters at most.`,
      }),
    ),
  }),
  reply: Type.Union(
    [
      resource('ValidTemplate', {
        valid: field(Type.Literal(true), 'Always true.'),
        warnings: Type.Array(Type.String()),
        problems: field(problems, 'The problems with their lines.'),
        ...trial,
      }),
      resource('InvalidTemplate', {
        valid: field(Type.Literal(false), 'Always false.'),
        errors: field(Type.Array(Type.String()), 'What is wrong.'),
        problems: field(problems, 'The problems with their lines.'),
        ...trial,
      }),
    ],
    { title: 'TemplateValidation' },
  ),
})

export const templateStatus = endpoint('GET /templates/{templateId}/status', {
  tag,
  summary: 'Where a template is deployed',
  access: 'read',
  params,
  reply: shape({
    template_id: field(id, 'Id of the template.'),
    template_name: field(Type.String(), 'Name of the template.'),
    servers: field(
      Type.Array(
        resource('TemplatePlacement', {
          id: uuid,
          hostname: Type.String(),
          deployed: field(Type.Boolean(), 'Whether the template is on this server.'),
          own: field(Type.Boolean(), 'Whether the server runs a jail of this name from its own configuration.'),
          enabled: Type.Boolean(),
          current_bans: count,
        }),
      ),
      'All servers by host name.',
    ),
  }),
  refusals: [404],
})
