import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const feeds: Texts['feeds'] = {
  title: 'Feeds',
  what: 'die Feeds',
  lead: 'Ein Feed ist eine URL, unter der Firewalls und andere Programme herunterladen, was gesperrt ist.',
  add: 'Neuer Feed',
  emptyTitle: 'Noch keine Feeds',
  empty:
    'Legen Sie einen an für eine Firewall oder einen Proxy ohne Agenten. Seine URL enthält die einzigen Zugangsdaten.',
  hosts: search => (search ? `Sperren von Servern zu ${search}` : 'Alle Sperren von Servern'),
  hostsAndFleet: search =>
    search ? `Sperren von Servern zu ${search} und Flottensperren` : 'Alle Sperren, auch Flottensperren',
  fleetOnly: 'Flottensperren',
  families: { both: 'IPv4 und IPv6', ipv4: 'nur IPv4', ipv6: 'nur IPv6' },
  atMost: count => `höchstens ${count} Einträge`,
  never: 'Nie abgerufen',
  used: 'Abgerufen',
  usedFrom: address => `von ${address}`,
  use: 'Verwenden…',
  useOf: name => `${name} verwenden`,
  edit: 'Ändern…',
  editOf: name => `${name} ändern`,
  rotate: 'Neues Token…',
  rotateOf: name => `Neues Token für ${name}`,
  remove: 'Löschen…',
  removeOf: name => `${name} löschen`,
  removed: name => `${name} wurde gelöscht.`,
  rotateText: 'Die alte URL endet sofort. Programme, die sie verwenden, brauchen die neue.',
  rotateNow: 'Neues Token erzeugen',
  removeText: name => `Die URL von ${name} endet sofort. Programme, die sie verwenden, behalten ihren letzten Stand.`,
  removeNow: 'Feed löschen',
  dialog: {
    newTitle: 'Neuer Feed',
    changeTitle: name => `${name} ändern`,
    name: 'Name',
    missingName: 'Geben Sie dem Feed einen Namen.',
    bans: 'Sperren von Servern',
    fleetBans: 'Flottensperren',
    nothing: 'Wählen Sie mindestens eines von beiden.',
    search: 'Nur Sperren, auf die das zutrifft',
    searchHelp: 'Eine Suche wie jail:sshd -country:NL; leer sind es alle Sperren.',
    family: 'Adressen',
    maximum: 'Einträge, höchstens',
    maximumHelp: 'Die neuesten Sperren bleiben.',
    wrongMaximum: 'Geben Sie eine Zahl von 1 bis 200.000 ein.',
    preview: 'Vorschau',
    create: 'Feed anlegen',
    save: 'Speichern',
  },
  size: (total, ipv4, ipv6) =>
    plural(total, {
      one: `Enthält jetzt 1 Eintrag (${ipv4} IPv4, ${ipv6} IPv6).`,
      other: `Enthält jetzt ${number(total)} Einträge (${ipv4} IPv4, ${ipv6} IPv6).`,
    }),
  none: 'Enthält jetzt nichts.',
  joined: count => `${count}, wenn Nachbarn zu Bereichen zusammengefasst werden.`,
  truncated: 'Ältere Sperren fehlen, weil es mehr als die Höchstzahl sind.',
  leftOut: {
    wide: count =>
      plural(count, {
        one: 'Ohne 1 Bereich eines Servers, der breiter als /24 (IPv4) oder /48 (IPv6) ist.',
        other: `Ohne ${number(count)} Bereiche von Servern, die breiter als /24 (IPv4) oder /48 (IPv6) sind.`,
      }),
    of_one_server: count =>
      plural(count, {
        one: 'Ohne 1 Sperre über dem, was ein Server beitragen darf.',
        other: `Ohne ${number(count)} Sperren über dem, was ein Server beitragen darf.`,
      }),
    of_some_servers: count =>
      plural(count, {
        one: 'Ohne 1 Flottensperre, die nicht für alle Server gilt.',
        other: `Ohne ${number(count)} Flottensperren, die nicht für alle Server gelten.`,
      }),
    protected: count =>
      plural(count, {
        one: 'Aus 1 Eintrag sind geschützte Adressen herausgenommen.',
        other: `Aus ${number(count)} Einträgen sind geschützte Adressen herausgenommen.`,
      }),
  },
  samples: entries => `Etwa ${entries}`,
  once: {
    title: name => `URL von ${name}`,
    text: 'Kopieren Sie sie jetzt. Sie enthält das Token, das nicht noch einmal angezeigt wird.',
    url: 'URL des Feeds',
    done: 'Fertig',
  },
  consumer: {
    title: name => `${name} verwenden`,
    program: 'Programm',
    lines: 'Zeilen für das Programm',
    help: 'Führen Sie die erste Zeile alle paar Minuten per Timer aus. Eine Änderung zeigt sich innerhalb von 5 s.',
    placeholder:
      'FEED steht für die URL des Feeds. Sie wurde einmal angezeigt; erzeugen Sie ein neues Token, wenn sie verloren ist.',
  },
}
