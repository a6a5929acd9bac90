import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) => plural(count, { one: '1\u00a0serveur', other: `${number(count)}\u00a0serveurs` })

export const fleetBans: Texts['fleet-bans'] = {
  title: 'Bans de flotte',
  what: 'les bans de flotte',
  lead: 'Des bans valables sur chaque serveur, maintenant et sur ceux que vous ajouterez. La whitelist l’emporte toujours.',
  caption: 'Bans de flotte',
  add: 'Nouveau ban de flotte',
  addKey: 'Nouveau ban de flotte',
  search: 'Chercher une entrée, un motif ou un auteur',
  standing: 'Actifs',
  ended: 'Terminés',
  show: 'Afficher',
  columns: {
    entry: 'Adresse ou plage',
    reason: 'Pourquoi',
    target: 'Où',
    by: 'Par',
    ends: 'Fin',
    held: 'Dans le pare-feu',
  },
  noReason: 'Aucun motif indiqué',
  by: (name, when) => `${name}, ${when}`,
  permanent: 'Permanent',
  expired: when => `Expiré ${when}`,
  removed: when => `Levé ${when}`,
  held: (held, all) => `${held} sur ${number(all)}`,
  heldTitle: (held, all) => `Dans le pare-feu de ${held} sur ${servers(all)}.`,
  pending: count =>
    plural(count, { one: '1 ne l’a pas encore confirmé.', other: `${number(count)} ne l’ont pas encore confirmé.` }),
  failed: count => plural(count, { one: '1 l’a refusé.', other: `${number(count)} l’ont refusé.` }),
  notCovered: count =>
    plural(count, { one: '1 ne peut pas l’appliquer.', other: `${number(count)} ne peuvent pas l’appliquer.` }),
  details: 'Détails…',
  open: entry => `Détails de ${entry}`,
  lift: 'Lever partout',
  liftOf: entry => `Lever partout\u00a0: le ban de flotte de ${entry}`,
  change: 'Modifier…',
  changeOf: entry => `Modifier le ban de flotte de ${entry}`,
  lifted: entry => `${entry} n’est plus bannie sur la flotte. Ses autres bans restent.`,
  noMatch: 'Aucun ban de flotte ne correspond.',
  emptyTitle: 'Pas encore de ban de flotte',
  empty:
    'Bannissez une adresse ou une plage sur tous les serveurs en une seule entrée. Les serveurs hors ligne ou ajoutés plus tard l’appliquent aussi.',
  emptyEnded: 'Aucun ne s’est terminé ces 90 derniers jours.',
  inJail: hosts => `Sur ${servers(hosts)} sans bouclier, fail2ban l’applique.`,
  states: { held: 'Appliqué', pending: 'En attente', refused: 'Refusé', not_covered: 'Non couvert' },
  serversOf: 'Serveurs qui ne l’appliquent pas',
  allHold: 'Tous les serveurs l’appliquent.',
  more: count => `${servers(count)} de plus`,
  dialog: {
    changeTitle: entry => `Modifier ${entry}`,
    newDuration: 'Nouvelle durée, à partir de maintenant',
    newDurationHelp: 'Laissez vide pour garder la fin.',
    reason: 'Motif',
    reasonHelp: 'Facultatif. Visible par tous ceux qui voient le ban.',
  },
}
