import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const preview: Texts['preview'] = {
  ask: 'Qu’aurait-il banni ?',
  title: name => `Qu’aurait banni ${name} ?`,
  help: 'Chaque serveur lit son propre journal. Personne n’est banni, et aucune ligne ne quitte le serveur.',
  days: 'Jusqu’où remonter',
  dayCount: days => plural(days, { one: '1 jour', other: `${days} jours` }),
  run: servers => plural(servers, { one: 'Interroger 1 serveur', other: `Interroger ${number(servers)} serveurs` }),
  again: 'Interroger à nouveau',
  noServers: 'Choisissez un serveur.',
  answers: 'Réponses des serveurs',
  reading: 'Lit son journal…',
  silent: 'Aucune réponse.',
  banned: count =>
    count === 0
      ? 'Personne n’aurait été banni.'
      : plural(count, {
          one: '1 adresse aurait été bannie.',
          other: `${number(count)} adresses auraient été bannies.`,
        }),
  spared: count => `${number(count)} épargnées par la liste blanche.`,
  signedIn: count => `Depuis ${number(count)} d’entre elles, quelqu’un s’est connecté plus tard.`,
  lines: count => `${number(count)} lignes du journal lues.`,
  noLines: 'Le journal n’a aucune ligne de cette période.',
  cuts: {
    bytes: 'Des lignes plus anciennes manquent : le journal est trop long.',
    entries: 'Des messages plus anciens manquent : le journal en a trop.',
    cpu: 'Des lignes plus récentes manquent : la lecture a pris trop de temps.',
    addresses: 'Des lignes plus récentes manquent : il y a trop d’adresses.',
  },
  addresses: server => `Adresses sur ${server}`,
  attempts: count => plural(count, { one: '1 tentative', other: `${number(count)} tentatives` }),
  first: 'premier bannissement',
  whitelisted: 'Sur la liste blanche',
  later: 'Connexion plus tard :',
  more: count => `${number(count)} de plus.`,
  moreServers: count => `${number(count)} serveurs de plus : voir Commandes.`,
}
