import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const en = {
  help: 'How to search',
  helpTitle: 'How to search',
  clear: 'Clear the search',
  suggestions: 'Suggestions',
  found: (count: number) =>
    count === 0 ? '' : plural(count, { one: '1 suggestion', other: `${number(count)} suggestions` }),
  use: (word: string) => `Use ${word}`,
  remove: 'Remove',
  set: 'Set filters',
  fields: 'Fields',
  ways: 'Ways to write',
  examplesHelp: 'Choose an example to insert it into the search.',
  words: {
    and: 'Both',
    or: 'Either',
    not: 'Anything but it',
    several: 'Any of several values',
    star: '* is anything',
    exact: 'Words as they stand',
    group: 'Parentheses hold together',
  },
  menu: (value: string) => `What to do with ${value}`,
  filter: 'Show only this',
  exclude: 'Show all but this',
  copy: 'Copy',
  copied: (value: string) => `Copied ${value}`,
  notCopied: 'The browser does not allow copying here.',
  open: 'Open',
  onlyValue: (value: string) => `Show only ${value}`,
  allBut: (value: string) => `Show all but ${value}`,
}
export const searchTexts: Catalogue<typeof en> = { name: 'search', en }
