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
