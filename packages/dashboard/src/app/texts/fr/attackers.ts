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
const nombre = (one: string, others: string) => (said: string, count: number) =>
  plural(count, { one: `${said}\u00a0${one}`, other: `${said}\u00a0${others}` })
const bansOf = nombre('ban', 'bans')

export const attackers: Texts['attackers'] = {
  what: 'les attaquants',
  show: 'Afficher',
  attackers: 'Attaquants',
  single: 'Bans un par un',
  count: nombre('attaquant', 'attaquants'),
  bans: bansOf,
  bannedNow: nombre('adresse bannie en ce moment', 'adresses bannies en ce moment'),
  sums: (ofBans, ofAddresses) => `${ofBans}, ${ofAddresses}`,
  drag: 'Glissez pour restreindre la période',
  columns: {
    attacker: 'Attaquant',
    network: 'Réseau',
    why: 'Motif, selon le journal',
    where: 'Où',
    hours: '24 heures',
    when: 'Premier – dernier',
    state: 'État',
  },
  order: 'Ordre',
  orders: {
    '-last': 'Plus récents d’abord',
    last: 'Silencieux depuis longtemps d’abord',
    '-first': 'Derniers arrivés d’abord',
    first: 'Premiers vus d’abord',
    '-bans': 'Plus de bans d’abord',
    '-servers': 'Plus de serveurs d’abord',
  },
  servers: nombre('serveur', 'serveurs'),
  jails: nombre('jail', 'jails'),
  inHours: (said, count) =>
    count === 0 ? 'Aucun ban ces dernières 24 heures' : `${bansOf(said, count)} ces dernières 24 heures`,
  between: (first, last) => `${first} – ${last}`,
  by: name => `par ${name}`,
  atMost: left => `≤ ${left}`,
  unfold: ip => `Bans de ${ip}`,
  more: (ofBans, onServers) => `${ofBans} sur ${onServers}`,
  moreBans: nombre('autre ban', 'autres bans'),
  unban: 'Débannir partout',
  unbanOf: ip => `Débannir partout\u00a0: ${ip}`,
  copyOf: ip => `Copier ${ip}`,
  menuOf: ip => `Plus pour ${ip}`,
  ban: 'Bannir sur tous les serveurs…',
  inForce: (said, count) =>
    plural(count, { one: `avec ${said}\u00a0ban actif`, other: `avec ${said}\u00a0bans actifs` }),
  selectAll: total => `Sélectionner les ${total}`,
  selectNewest: (most, total) => `Sélectionner les ${most} premiers sur ${total} (maximum par passage)`,
  reading: read => `${read} bans lus`,
  views: 'Vues',
  any: 'Tous',
  remove: name => `Effacer ${name}`,
}
