import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const counted =
  (none: string, one: string, other: (said: string) => string) =>
  (said: string, count: number | null): string =>
    count === null ? none : plural(count, { one, other: other(said) })

export const reasons: Texts['reasons'] = {
  kinds: {
    'failed-logins': counted('Échecs de connexion', '1 échec de connexion', said => `${said} échecs de connexion`),
    'mail-logins': counted(
      'Échecs de connexion à une boîte',
      '1 échec de connexion à une boîte',
      said => `${said} échecs de connexion à une boîte`,
    ),
    requests: counted('Requêtes refusées', '1 requête refusée', said => `${said} requêtes refusées`),
    probes: counted('Sondages', '1 sondage', said => `${said} sondages`),
    'repeat-offender': counted(
      'Bannie à plusieurs reprises',
      'Revenue après 1 ban',
      said => `Revenue après ${said} bans`,
    ),
    'rate-limit': counted(
      'Trop de requêtes',
      '1 requête au-delà de la limite',
      said => `${said} requêtes au-delà de la limite`,
    ),
    manual: counted('Bannie à la main', 'Bannie à la main', () => 'Bannie à la main'),
    other: counted('Cause inconnue', '1 tentative', said => `${said} tentatives`),
  },
  about: (what, names) => `${what} pour ${names}`,
  quoted: (what, text) => `${what}\u00a0: «\u00a0${text}\u00a0»`,
  none: 'Aucune ligne de journal',
}
