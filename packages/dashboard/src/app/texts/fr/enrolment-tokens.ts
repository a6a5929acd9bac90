import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const enrolmentTokens: Texts['enrolment-tokens'] = {
  title: 'Ajouter plusieurs serveurs',
  what: 'les jetons d’enrôlement',
  whatOne: 'le jeton d’enrôlement',
  lead: 'Un jeton d’enrôlement enrôle autant de serveurs que vous le permettez : par cloud-init, Ansible ou une image de machine, là où l’on ne peut pas donner une commande à chaque serveur.',
  add: 'Nouveau jeton',
  emptyTitle: 'Aucun jeton d’enrôlement pour l’instant',
  empty: 'Créez-en un pour les serveurs à venir. Il est limité en nombre et en durée, et vous voyez qui l’a utilisé.',
  states: { open: 'Ouvert', suspended: 'Suspendu', used_up: 'Épuisé', ended: 'Terminé', revoked: 'Révoqué' },
  suspended: maker => `${maker}, qui l’a créé, ne peut plus ajouter de serveurs. Le jeton n’enrôle rien.`,
  used: (used, most) => `${number(used)} sur ${most} serveurs`,
  ends: time => `se termine ${time}`,
  ended: time => `s’est terminé ${time}`,
  by: maker => `par ${maker}`,
  tagged: tags => `étiquettes : ${tags}`,
  refused: count =>
    plural(count, {
      one: '1 requête refusée, depuis',
      other: `${number(count)} requêtes refusées, la dernière depuis`,
    }),
  revoke: 'Révoquer…',
  revokeOf: name => `Révoquer ${name}`,
  revokeText: name => `${name} n’enrôle plus rien. Les serveurs qu’il a enrôlés restent.`,
  revokeNow: 'Révoquer le jeton',
  revoked: name => `${name} a été révoqué.`,
  dialog: {
    title: 'Nouveau jeton d’enrôlement',
    name: 'Nom',
    nameHelp: 'À quoi il sert, par exemple « racks d’automne ».',
    missingName: 'Donnez un nom au jeton.',
    servers: 'Nombre de serveurs',
    wrongServers: 'Saisissez un nombre de 1 à 10 000.',
    life: 'Se termine après',
    lives: { 3600: '1 heure', 86400: '1 jour', 604800: '7 jours', 2592000: '30 jours', 31536000: '365 jours' },
    tagsHelp: 'Chaque serveur reçoit ces étiquettes.',
    create: 'Créer le jeton',
  },
  once: {
    title: name => `Commande de ${name}`,
    text: 'Copiez-la maintenant. Elle contient le jeton, qui n’est plus affiché ensuite. Qui l’a peut ajouter des serveurs jusqu’à sa fin.',
    done: 'Terminé',
  },
  enrolled: 'Serveurs enrôlés',
  nobody: 'Aucun serveur ne l’a encore utilisé.',
  from: 'depuis',
  gone: 'Ce jeton d’enrôlement n’existe pas. Il a peut-être laissé la place à de plus récents.',
  more: count => `${number(count)} de plus : la ligne de commande les montre tous.`,
}
