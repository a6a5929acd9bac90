import { Type } from 'typebox'
import type { Static } from 'typebox'
import { field, resource } from '../shapes.ts'
import { templateSettings } from '../templates.ts'
import { commandTypeOf } from './command-type.ts'
import { templateReference } from './params.ts'

export const deployTemplate = commandTypeOf({
  type: 'deploy-template',
  documentation:
    'Writes a template to the server and starts its jail. The command carries the template as it was when it was queued.',
  permission: 'write',
  stepUp: true,
  takesTemplate: true,
  params: { template_id: templateReference, settings: templateSettings },
})

/** What `deploy-template` writes to a host, frozen when it was queued. `settings` are the options that win, merged. */
export const frozenTemplate = resource('FrozenTemplate', {
  name: Type.String(),
  jail_config: Type.String(),
  filter_config: Type.String(),
  required_files: Type.Array(Type.String()),
  settings: field(Type.Record(Type.String(), Type.Unknown()), 'Options that override those of `jail_config`.'),
})
export type FrozenTemplate = Static<typeof frozenTemplate>
