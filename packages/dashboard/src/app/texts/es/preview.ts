import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const preview: Texts['preview'] = {
  ask: '¿Qué habría bloqueado?',
  title: name => `¿Qué habría bloqueado ${name}?`,
  help: 'Cada servidor lee su propio registro. No se bloquea a nadie y ninguna línea sale del servidor.',
  days: 'Hasta cuándo atrás',
  dayCount: days => plural(days, { one: '1 día', other: `${days} días` }),
  run: servers =>
    plural(servers, { one: 'Preguntar a 1 servidor', other: `Preguntar a ${number(servers)} servidores` }),
  again: 'Preguntar otra vez',
  noServers: 'Elija un servidor.',
  answers: 'Respuestas de los servidores',
  reading: 'Lee su registro…',
  silent: 'Sin respuesta.',
  banned: count =>
    count === 0
      ? 'No se habría bloqueado a nadie.'
      : plural(count, {
          one: 'Se habría bloqueado 1 dirección.',
          other: `Se habrían bloqueado ${number(count)} direcciones.`,
        }),
  spared: count => `${number(count)} exentas por la lista blanca.`,
  signedIn: count => `Desde ${number(count)} de ellas alguien inició sesión después.`,
  lines: count => `${number(count)} líneas del registro leídas.`,
  noLines: 'El registro no tiene líneas de ese tiempo.',
  cuts: {
    bytes: 'Faltan líneas anteriores: el registro es demasiado largo.',
    entries: 'Faltan mensajes anteriores: el journal tiene demasiados.',
    cpu: 'Faltan líneas recientes: la lectura tardó demasiado.',
    addresses: 'Faltan líneas recientes: hay demasiadas direcciones.',
  },
  addresses: server => `Direcciones en ${server}`,
  attempts: count => plural(count, { one: '1 intento', other: `${number(count)} intentos` }),
  first: 'primer bloqueo',
  whitelisted: 'En la lista blanca',
  later: 'Inició sesión después:',
  more: count => `${number(count)} más.`,
  moreServers: count => `${number(count)} servidores más: véase Comandos.`,
}
