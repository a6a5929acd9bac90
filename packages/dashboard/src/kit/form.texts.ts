import { number } from '../lib/numbers.ts'
import { plural } from '../lib/texts/catalogue.ts'
import type { Catalogue } from '../lib/texts/catalogue.ts'

const en = {
  unsaved: 'Unsaved changes',
  changes: (count: number) => plural(count, { one: '1 change', other: `${number(count)} changes` }),
  ofField: (name: string) => `${name}:`,
  saveChanges: 'Save changes',
  saved: 'Saved.',
  discard: 'Discard',
  fixFirst: 'Fix the errors first.',
  overtaken: (names: string) =>
    `Someone else changed this meanwhile: ${names}. The form shows the new values. Save again to replace them.`,
  on: 'on',
  off: 'off',
  set: 'set',
  notSet: 'not set',
  newSecret: 'a new one',
  isSet: 'Set. Leave empty to keep it.',
  isNotSet: 'Not set.',
  willBeRemoved: 'It will be removed.',
  remove: 'Remove it',
  keep: 'Keep it',
  removeOf: (name: string) => `Remove it: ${name}`,
  keepOf: (name: string) => `Keep it: ${name}`,
  noMatch: 'Nothing matches.',
  chooseFile: 'Choose a file…',
}
export const formTexts: Catalogue<typeof en> = { name: 'form', en }
