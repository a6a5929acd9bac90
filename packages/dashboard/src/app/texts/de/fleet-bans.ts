import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) => `${number(count)} Server`
const onServers = (count: number) => (count === 1 ? '1 Server' : `${number(count)} Servern`)

export const fleetBans: Texts['fleet-bans'] = {
  title: 'Flottensperren',
  what: 'die Flottensperren',
  lead: 'Sperren, die auf jedem Server gelten, jetzt und auf Servern, die Sie später hinzufügen. Die Whitelist hat immer Vorrang.',
  caption: 'Flottensperren',
  add: 'Neue Flottensperre',
  addKey: 'Neue Flottensperre',
  search: 'Eintrag, Grund oder Autor suchen',
  standing: 'Aktiv',
  ended: 'Beendet',
  show: 'Anzeigen',
  columns: {
    entry: 'Adresse oder Bereich',
    reason: 'Warum',
    target: 'Wo',
    by: 'Von',
    ends: 'Endet',
    held: 'In der Firewall',
  },
  noReason: 'Kein Grund angegeben',
  by: (name, when) => `${name}, ${when}`,
  permanent: 'Dauerhaft',
  expired: when => `Abgelaufen ${when}`,
  removed: when => `Aufgehoben ${when}`,
  held: (held, all) => `${held} von ${number(all)}`,
  heldTitle: (held, all) => `In der Firewall von ${held} von ${onServers(all)}.`,
  pending: count =>
    plural(count, {
      one: '1 hat sie noch nicht bestätigt.',
      other: `${number(count)} haben sie noch nicht bestätigt.`,
    }),
  failed: count => plural(count, { one: '1 hat sie abgelehnt.', other: `${number(count)} haben sie abgelehnt.` }),
  notCovered: count =>
    plural(count, { one: '1 kann sie nicht halten.', other: `${number(count)} können sie nicht halten.` }),
  details: 'Details…',
  open: entry => `Details zu ${entry}`,
  lift: 'Überall aufheben',
  liftOf: entry => `Überall aufheben: die Flottensperre von ${entry}`,
  change: 'Ändern…',
  changeOf: entry => `Flottensperre von ${entry} ändern`,
  lifted: entry => `${entry} ist nicht mehr flottenweit gesperrt. Andere Sperren davon bleiben.`,
  noMatch: 'Keine Flottensperre passt.',
  emptyTitle: 'Noch keine Flottensperren',
  empty:
    'Sperren Sie eine Adresse oder einen Bereich mit einem Eintrag auf allen Servern. Server, die offline sind oder später dazukommen, übernehmen ihn.',
  emptyEnded: 'In den letzten 90 Tagen ist keine beendet worden.',
  inJail: hosts => `Auf ${onServers(hosts)} ohne Schild hält fail2ban sie.`,
  states: { held: 'Gehalten', pending: 'Wartet', refused: 'Abgelehnt', not_covered: 'Nicht abgedeckt' },
  serversOf: 'Server, die sie nicht halten',
  allHold: 'Jeder Server hält sie.',
  more: count => `${servers(count)} weitere`,
  dialog: {
    changeTitle: entry => `${entry} ändern`,
    newDuration: 'Neue Dauer, ab jetzt',
    newDurationHelp: 'Leer lassen, um das Ende zu behalten.',
    reason: 'Grund',
    reasonHelp: 'Optional. Alle, die die Sperre sehen, sehen ihn.',
  },
}
