import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number, shown: string) => plural(count, { one: '1 serveur', other: `${shown} serveurs` })

export const agents: Texts['agents'] = {
  title: 'Agents',
  what: 'les versions de l’agent',
  whatRollouts: 'les mises à jour',
  release: 'Version',
  none: 'Ce serveur ne propose aucun agent, car aucun n’a été compilé ici.',
  current: version => `Tous les agents exécutent ${version}.`,
  outdated: (count, shown, version) =>
    plural(count, {
      one: `1 serveur exécute une autre version que ${version}.`,
      other: `${shown} serveurs exécutent une autre version que ${version}.`,
    }),
  rebuilt: (count, shown, version) =>
    plural(count, {
      one: `1\u00a0serveur exécute une autre compilation de ${version}.`,
      other: `${shown}\u00a0serveurs exécutent une autre compilation de ${version}.`,
    }),
  unsigned: 'Cette version n’est pas signée. Seuls les serveurs installés avec --allow-unsigned l’acceptent.',
  versions: 'Versions',
  noVersion: 'Pas encore signalée',
  servers,
  obstacles: 'Serveurs qui n’acceptent aucune mise à jour d’ici',
  upgrade: (count, shown) =>
    plural(count, { one: 'Mettre à jour 1 serveur', other: `Mettre à jour ${shown} serveurs` }),
  confirmTitle: version => `Mettre les agents à jour vers ${version} ?`,
  confirmText:
    'Un serveur passe d’abord, puis 5, 25 et 100 % des autres. Un serveur revient à sa version si le nouvel agent n’atteint pas Stockade en 60 s, et la mise à jour se suspend si elle échoue sur trop d’entre eux. Les bans restent en vigueur.',
  confirmVerb: 'Mettre à jour',
  latest: 'Mise à jour',
  earlier: 'Mises à jour précédentes',
  kinds: { upgrade: version => `Vers ${version}`, rollback: version => `Retour depuis ${version}` },
  states: { running: 'En cours', paused: 'Suspendue', finished: 'Terminée', aborted: 'Abandonnée' },
  startedBy: name => `par ${name}`,
  wave: wave => `Vague ${wave}`,
  counts: {
    waiting: (count, shown) => plural(count, { one: '1 attend', other: `${shown} attendent` }),
    ordered: (count, shown) => plural(count, { one: '1 en mise à jour', other: `${shown} en mise à jour` }),
    watched: (count, shown) => plural(count, { one: '1 observé', other: `${shown} observés` }),
    done: (count, shown) => plural(count, { one: '1 à jour', other: `${shown} à jour` }),
    failed: (count, shown) => plural(count, { one: '1 échec', other: `${shown} échecs` }),
    skipped: (count, shown) => plural(count, { one: '1 ignoré', other: `${shown} ignorés` }),
  },
  problems: 'Serveurs en échec',
  more: (count, shown) => plural(count, { one: 'et 1 autre', other: `et ${shown} autres` }),
  pause: 'Suspendre',
  resume: 'Reprendre',
  abort: 'Abandonner',
  abortTitle: 'Abandonner cette mise à jour ?',
  abortText: 'Aucun autre serveur n’est mis à jour. Ceux qui ont la nouvelle version la gardent.',
  rollBack: 'Revenir en arrière',
  rollBackTitle: 'Ramener les serveurs mis à jour à la version précédente ?',
  rollBackText:
    'Chaque serveur modifié par cette mise à jour revient à la version qu’il a conservée. Rien n’est téléchargé.',
  calm: 'Aucun agent n’a encore été mis à jour d’ici.',
}

export const agentAddress: Texts['agent-address'] = {
  title: 'URL de Stockade',
  what: 'l’URL que les serveurs utilisent',
  now: 'Actuelle',
  none: 'Aucun serveur n’a reçu l’ordre d’utiliser une autre URL.',
  ordered: 'Ordonnée',
  by: name => `par ${name}`,
  states: { moved: 'Passé', trying: 'À l’essai', waiting: 'En attente', failed: 'En échec' },
  counts: {
    moved: (count, shown) => plural(count, { one: '1 passé', other: `${shown} passés` }),
    trying: (_, shown) => `${shown} à l’essai`,
    waiting: (count, shown) => plural(count, { one: '1 attend', other: `${shown} attendent` }),
    failed: (count, shown) => plural(count, { one: '1 échec', other: `${shown} échecs` }),
  },
  noServers: 'Aucun serveur n’est encore inscrit.',
  servers: 'Serveurs',
  more: (count, shown) => plural(count, { one: 'et 1 autre', other: `et ${shown} autres` }),
  order: 'Ordonner une autre URL',
  again: 'Réessayer maintenant',
  withdraw: 'Retirer l’ordre',
  withdrawTitle: 'Retirer l’ordre\u00a0?',
  withdrawText: 'Les serveurs à l’essai reviennent à l’URL précédente. Ceux qui sont passés y restent.',
  dialogTitle: 'Ordonner une autre URL à tous les serveurs',
  url: 'Nouvelle URL de ce Stockade',
  urlHelp:
    'Donnez-la d’abord à STOCKADE_BASE_URL, ou laissez Stockade servir https lui-même. Les deux URL doivent mener ici jusqu’à ce que tous les serveurs soient passés.',
  urlMissing: 'Saisissez une URL qui commence par https:// ou http://.',
  trial:
    'Chaque serveur demande à Stockade de prouver son identité avant d’envoyer sa clé, utilise l’URL à l’essai pendant 10 minutes et revient si elle ne répond pas.',
  submit: 'Ordonner à tous les serveurs',
}
