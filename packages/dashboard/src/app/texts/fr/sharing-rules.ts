import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) => plural(count, { one: '1 serveur', other: `${number(count)} serveurs` })
const bans = (count: number) =>
  plural(count, { one: `${number(count)} bannissement`, other: `${number(count)} bannissements` })

export const sharingRules: Texts['sharing-rules'] = {
  title: 'Règles de partage',
  what: 'les règles de partage',
  lead: 'Quand plusieurs serveurs bannissent une adresse, tous peuvent le faire. Une règle montre ce qu’elle aurait fait avant d’être activée.',
  add: 'Nouvelle règle',
  emptyTitle: 'Aucune règle de partage',
  empty: 'Écrivez-en une, voyez ce qu’elle aurait fait ces 30 derniers jours, et activez-la.',
  states: { draft: 'Désactivée', simulated: 'Désactivée, simulée', armed: 'Activée', tripped: 'Arrêtée' },
  sentence: rule =>
    `Quand une adresse est bannie ${rule.jails && `par ${rule.jails} `}sur ${servers(rule.servers)}${rule.bans > rule.servers ? ` (${bans(rule.bans)})` : ''}${rule.from && ` parmi ${rule.from}`} en ${rule.within},`,
  result: rule => `la bannir sur ${rule.target} ${rule.length}${rule.grows ? ', plus longtemps à chaque fois' : ''}.`,
  everywhere: 'tous les serveurs',
  forLength: length => `pendant ${length}`,
  forGood: 'définitivement',
  made: count => `${bans(count)} en 30 jours`,
  wouldHave: (count, days) => `Simulé : ${bans(count)} en ${plural(days, { one: '1 jour', other: `${days} jours` })}`,
  stopped: reason => `Elle s’est arrêtée d’elle-même : ${reason}.`,
  turnOn: 'Activer',
  turnOnOf: name => `Activer ${name}`,
  turnOff: 'Désactiver',
  turnOffOf: name => `Désactiver ${name}`,
  turnedOn: name => `${name} est activée. Le premier bannissement viendra avec la prochaine correspondance.`,
  turnedOff: name => `${name} est désactivée. Ses bannissements restent jusqu’à leur fin.`,
  liftAll: 'Lever ses bannissements',
  lifted: 'Ses bannissements sont en cours de levée.',
  edit: 'Modifier…',
  editOf: name => `Modifier ${name}`,
  show: 'Historique',
  showOf: name => `Historique de ${name}`,
  remove: 'Supprimer',
  removeOf: name => `Supprimer ${name}`,
  removed: name => `${name} a été supprimée. Ses bannissements restent jusqu’à leur fin.`,
  dialog: {
    newTitle: 'Nouvelle règle de partage',
    changeTitle: name => `Modifier ${name}`,
    name: 'Nom',
    missingName: 'Donnez un nom à la règle.',
    servers: 'Serveurs qui bannissent l’adresse',
    bans: 'Bannissements de l’adresse sur ces serveurs',
    within: 'En l’espace de',
    withinHelp: 'Par exemple 1h ou 1d, 7d au plus.',
    wrongWithin: 'Saisissez une durée de 1 minute à 7 jours, par exemple 1h.',
    jails: 'Jails pris en compte',
    jailsHelp: 'Noms séparés par des virgules ; vide, tous les jails comptent.',
    countries: 'Pays pris en compte',
    countriesHelp: 'Codes comme NL, DE séparés par des virgules ; vide, tous comptent.',
    target: 'Bannir sur',
    length: 'Pendant',
    lengthHelp: 'Par exemple 1d, 7d ou perm.',
    wrongLength: 'Saisissez une durée comme 1d, ou perm.',
    factor: 'Chaque fois suivante plus longue du facteur',
    perHour: 'Bannissements par heure au plus',
    perHourHelp: 'Un de plus, et la règle s’arrête et vous prévient.',
    exclude: 'Jamais celles-ci',
    excludeHelp:
      'Adresses et plages séparées par des virgules. La liste blanche, vos serveurs et les adresses des utilisateurs connectés ne sont de toute façon jamais bannis.',
    armed:
      'La règle est activée. Le nom, la limite et les exclusions peuvent être modifiés ; désactivez-la pour modifier le reste.',
    simulate: 'Simuler',
    save: 'Enregistrer',
    saveOn: 'Activer',
    more: 'Autres conditions',
  },
  simulation: {
    title: days => `Les ${days} derniers jours`,
    running: 'Simulation…',
    would: count =>
      `Aurait banni ${plural(count, { one: `${number(count)} adresse`, other: `${number(count)} adresses` })}.`,
    none: 'N’aurait banni personne.',
    returned: (count, spared) =>
      `${number(count)} d’entre elles sont revenues sur un serveur visé : ${bans(spared)} qui n’auraient pas été nécessaires.`,
    refused: count =>
      plural(count, {
        one: `${number(count)} correspondance n’est jamais bannie.`,
        other: `${number(count)} correspondances ne sont jamais bannies.`,
      }),
    trips: when => `Elle aurait atteint sa limite et se serait arrêtée (${when}).`,
    partial: from => `Seuls les bannissements depuis ${from} ont été lus ; il y en a trop avant.`,
    perDay: 'Bannissements par jour',
    onServers: count => `sur ${servers(count)}`,
    banned: 'Seraient bannies',
    never: 'Jamais bannies',
  },
  history: {
    title: name => `Historique de ${name}`,
    none: 'Elle n’a pas encore eu de correspondance.',
    outcomes: { banned: 'Bannie', refused: 'Non bannie', tripped: 'Arrêtée' },
    until: when => `jusqu’à ${when}`,
    times: count => `${number(count)}ᵉ fois`,
    more: count => `${number(count)} de plus`,
  },
}
