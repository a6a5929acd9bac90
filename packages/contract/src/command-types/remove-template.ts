import { commandTypeOf } from './command-type.ts'
import { templateNameParam } from './params.ts'

export const removeTemplate = commandTypeOf({
  type: 'remove-template',
  documentation:
    'Removes the jail and the files of a template from the server. Stockade itself need not have the template any more.',
  permission: 'write',
  takesTemplate: true,
  params: { template_name: templateNameParam },
})
