import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const enrolmentTokens: Texts['enrolment-tokens'] = {
  title: 'Viele Server hinzufügen',
  what: 'die Registrierungstoken',
  whatOne: 'das Registrierungstoken',
  lead: 'Ein Registrierungstoken nimmt so viele Server auf, wie Sie erlauben: mit cloud-init, Ansible oder einem Maschinenabbild, wo man nicht jedem Server einen eigenen Befehl geben kann.',
  add: 'Neues Token',
  emptyTitle: 'Noch keine Registrierungstoken',
  empty:
    'Erzeugen Sie eines für die Server, die kommen. Anzahl und Zeit sind begrenzt, und Sie sehen, wer es benutzt hat.',
  states: { open: 'Offen', suspended: 'Ausgesetzt', used_up: 'Verbraucht', ended: 'Beendet', revoked: 'Widerrufen' },
  suspended: maker => `${maker} hat es erzeugt und darf keine Server mehr hinzufügen. Es nimmt nichts auf.`,
  used: (used, most) => `${number(used)} von ${most} Servern`,
  ends: time => `endet ${time}`,
  ended: time => `endete ${time}`,
  by: maker => `von ${maker}`,
  tagged: tags => `Tags: ${tags}`,
  refused: count =>
    plural(count, {
      one: '1 Anfrage wurde abgelehnt, von',
      other: `${number(count)} Anfragen wurden abgelehnt, zuletzt von`,
    }),
  revoke: 'Widerrufen…',
  revokeOf: name => `${name} widerrufen`,
  revokeText: name => `${name} nimmt ab jetzt nichts mehr auf. Aufgenommene Server bleiben.`,
  revokeNow: 'Token widerrufen',
  revoked: name => `${name} wurde widerrufen.`,
  dialog: {
    title: 'Neues Registrierungstoken',
    name: 'Name',
    nameHelp: 'Wofür es ist, etwa „Herbst-Racks“.',
    missingName: 'Geben Sie dem Token einen Namen.',
    servers: 'Anzahl der Server',
    wrongServers: 'Geben Sie eine Zahl von 1 bis 10.000 ein.',
    life: 'Endet nach',
    lives: { 3600: '1 Stunde', 86400: '1 Tag', 604800: '7 Tagen', 2592000: '30 Tagen', 31536000: '365 Tagen' },
    tagsHelp: 'Jeder Server bekommt diese Tags.',
    create: 'Token erzeugen',
  },
  once: {
    title: name => `Befehl von ${name}`,
    text: 'Kopieren Sie ihn jetzt. Er enthält das Token, das nicht noch einmal gezeigt wird. Wer es hat, kann Server hinzufügen, bis es endet.',
    done: 'Fertig',
  },
  enrolled: 'Aufgenommene Server',
  nobody: 'Noch kein Server hat es benutzt.',
  from: 'von',
  gone: 'Dieses Registrierungstoken gibt es nicht. Vielleicht hat es neueren Platz gemacht.',
  more: count => `${number(count)} weitere: Die Befehlszeile nennt alle.`,
}
