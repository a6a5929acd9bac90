import { number } from '../../../lib/numbers.ts'
import type { Texts } from '../texts.ts'

const onServers = (count: number) => (count === 1 ? '1 Server' : `${number(count)} Servern`)

export const targets: Texts['targets'] = {
  what: 'die Tags',
  where: 'Wo',
  all: 'Alle Server, auch später hinzugefügte',
  byTag: 'Server mit einem Tag, auch spätere',
  some: 'Diese Server',
  everywhere: 'Alle Server',
  servers: count => `${number(count)} Server`,
  tags: 'Tags',
  find: 'Tags durchsuchen',
  noTags:
    'Noch kein Server hat ein Tag. Tags vergeben Sie auf der Seite eines Servers oder in der Liste für ausgewählte Server.',
  noneFound: 'Kein Tag mit diesem Namen.',
  moreFound: count => `${number(count)} weitere: Geben Sie einen Namen ein, um sie zu finden.`,
  chosen: count => (count === 1 ? '1 Tag ausgewählt' : `${number(count)} Tags ausgewählt`),
  missingTag: 'Wählen Sie mindestens ein Tag.',
  missingServer: 'Wählen Sie mindestens einen Server.',
  edit: {
    help: 'Kleinbuchstaben, Ziffern und Bindestriche; Tags durch Leerzeichen trennen. Höchstens 20.',
    wrong: tag => `„${tag}“ ist kein Tag. Verwenden Sie 1 bis 32 Kleinbuchstaben, Ziffern oder Bindestriche.`,
    tooMany: 'Ein Server hat höchstens 20 Tags.',
    add: tag => `${tag} hinzufügen`,
    remove: tag => `${tag} entfernen`,
  },
  bulk: {
    open: 'Tags…',
    title: count => `Tags von ${onServers(count)}`,
    add: 'Hinzufügen',
    remove: 'Entfernen',
    nothing: 'Geben Sie ein Tag ein, das hinzugefügt oder entfernt werden soll.',
    both: tag => `„${tag}“ kann nicht zugleich hinzugefügt und entfernt werden.`,
    submit: count => `Auf ${onServers(count)} ändern`,
    done: count => `Tags auf ${onServers(count)} geändert.`,
  },
}
