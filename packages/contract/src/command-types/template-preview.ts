import { Type } from 'typebox'
import { field } from '../shapes.ts'
import { templateSettings } from '../templates.ts'
import { times } from '../limits.ts'
import { commandTypeOf } from './command-type.ts'
import { previewDays, templateReference } from './params.ts'

export const templatePreview = commandTypeOf({
  type: 'template-preview',
  documentation:
    'Runs the expressions of a template over the log of the last days on the server, where the template need not be deployed, and answers whom its jail would have banned. The command carries the template as it was when it was queued. Nothing is banned or changed, and no line of the log leaves the server. The output is JSON, as of `jail-preview`.',
  permission: 'write',
  takesTemplate: true,
  expiresAfter: () => times.commandTtlShort,
  params: {
    template_id: templateReference,
    settings: field(Type.Optional(templateSettings), 'Options that win over those of the template.'),
    ...previewDays,
  },
})
