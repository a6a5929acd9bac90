import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const feeds: Texts['feeds'] = {
  title: 'Flux',
  what: 'les flux',
  lead: 'Un flux est une URL où les pare-feu et d’autres programmes téléchargent ce qui est banni.',
  add: 'Nouveau flux',
  emptyTitle: 'Aucun flux pour l’instant',
  empty: 'Créez-en un pour un pare-feu ou un proxy sans agent. Son URL contient le seul identifiant.',
  hosts: search => (search ? `Bans des serveurs qui correspondent à ${search}` : 'Tous les bans des serveurs'),
  hostsAndFleet: search =>
    search
      ? `Bans des serveurs qui correspondent à ${search}, et bans de flotte`
      : 'Tous les bans des serveurs, et les bans de flotte',
  fleetOnly: 'Bans de flotte',
  families: { both: 'IPv4 et IPv6', ipv4: 'IPv4 seulement', ipv6: 'IPv6 seulement' },
  atMost: count => `${count} entrées au plus`,
  never: 'Jamais téléchargé',
  used: 'Téléchargé',
  usedFrom: address => `par ${address}`,
  use: 'Utiliser…',
  useOf: name => `Utiliser ${name}`,
  edit: 'Modifier…',
  editOf: name => `Modifier ${name}`,
  rotate: 'Nouveau jeton…',
  rotateOf: name => `Nouveau jeton pour ${name}`,
  remove: 'Supprimer…',
  removeOf: name => `Supprimer ${name}`,
  removed: name => `${name} a été supprimé.`,
  rotateText: 'L’ancienne URL cesse aussitôt. Les programmes qui l’utilisent ont besoin de la nouvelle.',
  rotateNow: 'Créer un nouveau jeton',
  removeText: name =>
    `L’URL de ${name} cesse aussitôt. Les programmes qui l’utilisent gardent leur dernier téléchargement.`,
  removeNow: 'Supprimer le flux',
  dialog: {
    newTitle: 'Nouveau flux',
    changeTitle: name => `Modifier ${name}`,
    name: 'Nom',
    missingName: 'Donnez un nom au flux.',
    bans: 'Bans des serveurs',
    fleetBans: 'Bans de flotte',
    nothing: 'Choisissez au moins l’un des deux.',
    search: 'Seulement les bans qui correspondent à',
    searchHelp: 'Une recherche comme jail:sshd -country:NL ; vide, tous les bans.',
    family: 'Adresses',
    maximum: 'Nombre maximal d’entrées',
    maximumHelp: 'Les bans les plus récents restent.',
    wrongMaximum: 'Saisissez un nombre de 1 à 200 000.',
    preview: 'Aperçu',
    create: 'Créer le flux',
    save: 'Enregistrer',
  },
  size: (total, ipv4, ipv6) =>
    plural(total, {
      one: `Contient ${number(total)} entrée actuellement (${ipv4} IPv4, ${ipv6} IPv6).`,
      other: `Contient ${number(total)} entrées actuellement (${ipv4} IPv4, ${ipv6} IPv6).`,
    }),
  none: 'Ne contient rien actuellement.',
  joined: count => `${count} quand les voisines sont réunies en plages.`,
  truncated: 'Des bans plus anciens manquent, car il y en a plus que le maximum.',
  leftOut: {
    wide: count =>
      plural(count, {
        one: 'Sans 1 plage d’un serveur plus large que /24 (IPv4) ou /48 (IPv6).',
        other: `Sans ${number(count)} plages de serveurs plus larges que /24 (IPv4) ou /48 (IPv6).`,
      }),
    of_one_server: count =>
      plural(count, {
        one: 'Sans 1 ban au-delà de la part d’un serveur.',
        other: `Sans ${number(count)} bans au-delà de la part d’un serveur.`,
      }),
    of_some_servers: count =>
      plural(count, {
        one: 'Sans 1 ban de flotte qui n’est pas pour tous les serveurs.',
        other: `Sans ${number(count)} bans de flotte qui ne sont pas pour tous les serveurs.`,
      }),
    protected: count =>
      plural(count, {
        one: 'Des adresses protégées sont retirées de 1 entrée.',
        other: `Des adresses protégées sont retirées de ${number(count)} entrées.`,
      }),
  },
  samples: entries => `Par exemple ${entries}`,
  once: {
    title: name => `URL de ${name}`,
    text: 'Copiez-la maintenant. Elle contient le jeton, qui ne sera plus affiché.',
    url: 'URL du flux',
    done: 'Terminé',
  },
  consumer: {
    title: name => `Utiliser ${name}`,
    program: 'Programme',
    lines: 'Lignes pour le programme',
    help: 'Exécutez la première ligne toutes les quelques minutes par un minuteur. Un changement apparaît en 5 s.',
    placeholder:
      'FEED désigne l’URL du flux. Elle n’a été affichée qu’une fois ; créez un nouveau jeton si elle est perdue.',
  },
}
