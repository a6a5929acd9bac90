import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const counted =
  (none: string, one: string, other: (said: string) => string) =>
  (said: string, count: number | null): string =>
    count === null ? none : plural(count, { one, other: other(said) })

export const reasons: Texts['reasons'] = {
  kinds: {
    'failed-logins': counted(
      'Fehlgeschlagene Anmeldungen',
      '1 fehlgeschlagene Anmeldung',
      said => `${said} fehlgeschlagene Anmeldungen`,
    ),
    'mail-logins': counted(
      'Fehlgeschlagene Postfach-Anmeldungen',
      '1 fehlgeschlagene Postfach-Anmeldung',
      said => `${said} fehlgeschlagene Postfach-Anmeldungen`,
    ),
    requests: counted('Abgewiesene Anfragen', '1 abgewiesene Anfrage', said => `${said} abgewiesene Anfragen`),
    probes: counted('Sondierungen', '1 Sondierung', said => `${said} Sondierungen`),
    'repeat-offender': counted(
      'Immer wieder gesperrt',
      'Kam nach 1 Sperre wieder',
      said => `Kam nach ${said} Sperren wieder`,
    ),
    'rate-limit': counted('Zu viele Anfragen', '1 Anfrage über der Grenze', said => `${said} Anfragen über der Grenze`),
    manual: counted('Von Hand gesperrt', 'Von Hand gesperrt', () => 'Von Hand gesperrt'),
    other: counted('Ursache unbekannt', '1 Versuch', said => `${said} Versuche`),
  },
  about: (what, names) => `${what} für ${names}`,
  quoted: (what, text) => `${what}: „${text}“`,
  none: 'Keine Logzeilen',
}
const zahl = (one: string, others: string) => (said: string, count: number) =>
  plural(count, { one: `1 ${one}`, other: `${said} ${others}` })
const sperren = zahl('Sperre', 'Sperren')

export const attackers: Texts['attackers'] = {
  what: 'die Angreifer',
  show: 'Zeigen',
  attackers: 'Angreifer',
  single: 'Einzelne Sperren',
  count: zahl('Angreifer', 'Angreifer'),
  bans: sperren,
  bannedNow: zahl('Adresse jetzt gesperrt', 'Adressen jetzt gesperrt'),
  sums: (ofBans, ofAddresses) => `${ofBans}, ${ofAddresses}`,
  drag: 'Ziehen, um die Zeit einzugrenzen',
  columns: {
    attacker: 'Angreifer',
    network: 'Netz',
    why: 'Warum, laut Log',
    where: 'Wo',
    hours: '24 Stunden',
    when: 'Zuerst – zuletzt',
    state: 'Zustand',
  },
  order: 'Reihenfolge',
  orders: {
    '-last': 'Neueste zuerst',
    last: 'Am längsten ruhig zuerst',
    '-first': 'Zuletzt Hinzugekommene zuerst',
    first: 'Zuerst Gesehene zuerst',
    '-bans': 'Meiste Sperren zuerst',
    '-servers': 'Meiste Server zuerst',
  },
  servers: zahl('Server', 'Server'),
  jails: zahl('Jail', 'Jails'),
  inHours: (said, count) =>
    count === 0 ? 'Keine Sperren in den letzten 24 Stunden' : `${sperren(said, count)} in den letzten 24 Stunden`,
  between: (first, last) => `${first} – ${last}`,
  by: name => `durch ${name}`,
  atMost: left => `≤ ${left}`,
  unfold: ip => `Sperren von ${ip}`,
  more: (ofBans, onServers) => `${ofBans} auf ${onServers}`,
  moreBans: zahl('weitere Sperre', 'weitere Sperren'),
  unban: 'Überall entsperren',
  unbanOf: ip => `Überall entsperren: ${ip}`,
  copyOf: ip => `${ip} kopieren`,
  menuOf: ip => `Mehr zu ${ip}`,
  ban: 'Auf allen Servern sperren…',
  inForce: (said, count) => plural(count, { one: 'mit 1 aktiven Sperre', other: `mit ${said} aktiven Sperren` }),
  selectAll: total => `Alle ${total} auswählen`,
  selectNewest: (most, total) => `Die ersten ${most} von ${total} auswählen (Höchstzahl je Lauf)`,
  reading: read => `${read} Sperren gelesen`,
  views: 'Ansichten',
  any: 'Alle',
  remove: name => `${name} löschen`,
}
