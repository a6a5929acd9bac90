import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) => plural(count, { one: '1 servidor', other: `${number(count)} servidores` })

export const targets: Texts['targets'] = {
  what: 'las etiquetas',
  where: 'Dónde',
  all: 'Todos los servidores, también los que añada más tarde',
  byTag: 'Servidores con una etiqueta, también futuros',
  some: 'Estos servidores',
  everywhere: 'Todos los servidores',
  servers,
  tags: 'Etiquetas',
  find: 'Buscar etiquetas',
  noTags:
    'Ningún servidor tiene etiquetas todavía. Póngalas en la página de un servidor, o en la lista para los servidores seleccionados.',
  noneFound: 'No hay ninguna etiqueta con ese nombre.',
  moreFound: count => `${number(count)} más: escriba un nombre para encontrarlas.`,
  chosen: count => plural(count, { one: '1 etiqueta elegida', other: `${number(count)} etiquetas elegidas` }),
  missingTag: 'Elija al menos una etiqueta.',
  missingServer: 'Elija al menos un servidor.',
  edit: {
    help: 'Letras minúsculas, dígitos y guiones; separe las etiquetas con espacios. 20 como máximo.',
    wrong: tag => `«${tag}» no es una etiqueta. Use de 1 a 32 letras minúsculas, dígitos o guiones.`,
    tooMany: 'Un servidor tiene como máximo 20 etiquetas.',
    add: tag => `Añadir ${tag}`,
    remove: tag => `Quitar ${tag}`,
  },
  bulk: {
    open: 'Etiquetas…',
    title: count => `Etiquetas de ${servers(count)}`,
    add: 'Añadir',
    remove: 'Quitar',
    nothing: 'Escriba una etiqueta que añadir o quitar.',
    both: tag => `«${tag}» no se puede añadir y quitar a la vez.`,
    submit: count => `Cambiar en ${servers(count)}`,
    done: count => `Etiquetas cambiadas en ${servers(count)}.`,
  },
}
