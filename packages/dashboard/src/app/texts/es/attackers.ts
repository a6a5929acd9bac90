import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const counted =
  (none: string, one: string, other: (said: string) => string) =>
  (said: string, count: number | null): string =>
    count === null ? none : plural(count, { one, other: other(said) })

export const reasons: Texts['reasons'] = {
  kinds: {
    'failed-logins': counted(
      'Inicios de sesión fallidos',
      '1 inicio de sesión fallido',
      said => `${said} inicios de sesión fallidos`,
    ),
    'mail-logins': counted(
      'Accesos fallidos al buzón',
      '1 acceso fallido al buzón',
      said => `${said} accesos fallidos al buzón`,
    ),
    requests: counted('Peticiones rechazadas', '1 petición rechazada', said => `${said} peticiones rechazadas`),
    probes: counted('Sondeos', '1 sondeo', said => `${said} sondeos`),
    'repeat-offender': counted(
      'Bloqueada una y otra vez',
      'Volvió tras 1 bloqueo',
      said => `Volvió tras ${said} bloqueos`,
    ),
    'rate-limit': counted(
      'Demasiadas peticiones',
      '1 petición por encima del límite',
      said => `${said} peticiones por encima del límite`,
    ),
    manual: counted('Bloqueada a mano', 'Bloqueada a mano', () => 'Bloqueada a mano'),
    other: counted('Causa desconocida', '1 intento', said => `${said} intentos`),
  },
  about: (what, names) => `${what} para ${names}`,
  quoted: (what, text) => `${what}: «${text}»`,
  none: 'Sin líneas de registro',
}
const numero = (one: string, others: string) => (said: string, count: number) =>
  plural(count, { one: `1 ${one}`, other: `${said} ${others}` })
const bloqueos = numero('bloqueo', 'bloqueos')

export const attackers: Texts['attackers'] = {
  what: 'los atacantes',
  show: 'Mostrar',
  attackers: 'Atacantes',
  single: 'Bloqueos uno a uno',
  count: numero('atacante', 'atacantes'),
  bans: bloqueos,
  bannedNow: numero('dirección bloqueada ahora', 'direcciones bloqueadas ahora'),
  sums: (ofBans, ofAddresses) => `${ofBans}, ${ofAddresses}`,
  drag: 'Arrastre para acotar el tiempo',
  columns: {
    attacker: 'Atacante',
    network: 'Red',
    why: 'Motivo, según el registro',
    where: 'Dónde',
    hours: '24 horas',
    when: 'Primero – último',
    state: 'Estado',
  },
  order: 'Orden',
  orders: {
    '-last': 'Más recientes primero',
    last: 'Más tiempo en silencio primero',
    '-first': 'Últimos en llegar primero',
    first: 'Primeros vistos primero',
    '-bans': 'Más bloqueos primero',
    '-servers': 'Más servidores primero',
  },
  servers: numero('servidor', 'servidores'),
  jails: numero('jail', 'jails'),
  inHours: (said, count) =>
    count === 0 ? 'Ningún bloqueo en las últimas 24 horas' : `${bloqueos(said, count)} en las últimas 24 horas`,
  between: (first, last) => `${first} – ${last}`,
  by: name => `por ${name}`,
  atMost: left => `≤ ${left}`,
  unfold: ip => `Bloqueos de ${ip}`,
  more: (ofBans, onServers) => `${ofBans} en ${onServers}`,
  moreBans: numero('bloqueo más', 'bloqueos más'),
  unban: 'Desbloquear en todas partes',
  unbanOf: ip => `Desbloquear en todas partes: ${ip}`,
  copyOf: ip => `Copiar ${ip}`,
  menuOf: ip => `Más para ${ip}`,
  ban: 'Bloquear en todos los servidores…',
  inForce: (said, count) => plural(count, { one: 'con 1 bloqueo activo', other: `con ${said} bloqueos activos` }),
  selectAll: total => `Seleccionar los ${total}`,
  selectNewest: (most, total) => `Seleccionar los primeros ${most} de ${total} (máximo por operación)`,
  reading: read => `${read} bloqueos leídos`,
  views: 'Vistas',
  any: 'Todos',
  remove: name => `Borrar ${name}`,
}
