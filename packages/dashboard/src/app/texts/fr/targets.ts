import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) =>
  plural(count, { one: `${number(count)} serveur`, other: `${number(count)} serveurs` })

export const targets: Texts['targets'] = {
  what: 'les étiquettes',
  where: 'Où',
  all: 'Tous les serveurs, y compris ceux ajoutés plus tard',
  byTag: 'Serveurs avec une étiquette, même futurs',
  some: 'Ces serveurs',
  everywhere: 'Tous les serveurs',
  servers,
  tags: 'Étiquettes',
  find: 'Rechercher une étiquette',
  noTags:
    'Aucun serveur ne porte encore d’étiquette. Définissez-les sur la page d’un serveur, ou dans la liste pour les serveurs sélectionnés.',
  noneFound: 'Aucune étiquette de ce nom.',
  moreFound: count => `${number(count)} de plus : saisissez un nom pour les trouver.`,
  chosen: count =>
    plural(count, { one: `${number(count)} étiquette choisie`, other: `${number(count)} étiquettes choisies` }),
  missingTag: 'Choisissez au moins une étiquette.',
  missingServer: 'Choisissez au moins un serveur.',
  edit: {
    help: 'Lettres minuscules, chiffres et traits d’union ; séparez les étiquettes par des espaces. 20 au maximum.',
    wrong: tag =>
      `« ${tag} » n’est pas une étiquette. Utilisez de 1 à 32 lettres minuscules, chiffres ou traits d’union.`,
    tooMany: 'Un serveur porte au plus 20 étiquettes.',
    add: tag => `Ajouter ${tag}`,
    remove: tag => `Retirer ${tag}`,
  },
  bulk: {
    open: 'Étiquettes…',
    title: count => `Étiquettes de ${servers(count)}`,
    add: 'Ajouter',
    remove: 'Retirer',
    nothing: 'Saisissez une étiquette à ajouter ou à retirer.',
    both: tag => `« ${tag} » ne peut pas être à la fois ajoutée et retirée.`,
    submit: count => `Modifier sur ${servers(count)}`,
    done: count => `Étiquettes modifiées sur ${servers(count)}.`,
  },
}
