import { number } from '../../lib/numbers.ts'
import { plural } from '../../lib/texts/catalogue.ts'
import type { Catalogue } from '../../lib/texts/catalogue.ts'

const servers = (count: number) => plural(count, { one: '1 server', other: `${number(count)} servers` })

const en = {
  what: 'the tags',
  where: 'Where',
  all: 'All servers, also those you add later',
  byTag: 'Servers with a tag, also later ones',
  some: 'These servers',
  everywhere: 'All servers',
  servers,
  tags: 'Tags',
  find: 'Search the tags',
  noTags: 'No server has a tag yet. Set tags on the page of a server, or for selected servers in the list.',
  noneFound: 'No tag of that name.',
  moreFound: (count: number) => `${number(count)} more: type a name to find them.`,
  chosen: (count: number) => `${plural(count, { one: '1 tag', other: `${number(count)} tags` })} chosen`,
  missingTag: 'Choose at least one tag.',
  missingServer: 'Choose at least one server.',
  edit: {
    help: 'Lower-case letters, digits and hyphens; separate tags by spaces. At most 20.',
    wrong: (tag: string) => `“${tag}” is not a tag. Use 1 to 32 lower-case letters, digits or hyphens.`,
    tooMany: 'A server has at most 20 tags.',
    add: (tag: string) => `Add ${tag}`,
    remove: (tag: string) => `Remove ${tag}`,
  },
  bulk: {
    open: 'Tags…',
    title: (count: number) => `Tags of ${servers(count)}`,
    add: 'Add',
    remove: 'Remove',
    nothing: 'Enter a tag to add or to remove.',
    both: (tag: string) => `“${tag}” can’t be added and removed.`,
    submit: (count: number) => `Change on ${servers(count)}`,
    done: (count: number) => `Tags changed on ${servers(count)}.`,
  },
}
export const targetsTexts: Catalogue<typeof en> = { name: 'targets', en }
