import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number) => plural(count, { one: '1 servidor', other: `${number(count)} servidores` })

export const fleetBans: Texts['fleet-bans'] = {
  title: 'Bloqueos de flota',
  what: 'los bloqueos de flota',
  lead: 'Bloqueos que valen en cada servidor, ahora y en los que añada después. La whitelist siempre prevalece.',
  caption: 'Bloqueos de flota',
  add: 'Nuevo bloqueo de flota',
  addKey: 'Nuevo bloqueo de flota',
  search: 'Buscar entrada, motivo o autor',
  standing: 'Activos',
  ended: 'Terminados',
  show: 'Mostrar',
  columns: {
    entry: 'Dirección o rango',
    reason: 'Por qué',
    target: 'Dónde',
    by: 'Por',
    ends: 'Termina',
    held: 'En el cortafuegos',
  },
  noReason: 'Sin motivo indicado',
  by: (name, when) => `${name}, ${when}`,
  permanent: 'Permanente',
  expired: when => `Caducó ${when}`,
  removed: when => `Levantado ${when}`,
  held: (held, all) => `${held} de ${number(all)}`,
  heldTitle: (held, all) => `En el cortafuegos de ${held} de ${servers(all)}.`,
  pending: count =>
    plural(count, { one: '1 aún no lo ha confirmado.', other: `${number(count)} aún no lo han confirmado.` }),
  failed: count => plural(count, { one: '1 lo rechazó.', other: `${number(count)} lo rechazaron.` }),
  notCovered: count => plural(count, { one: '1 no puede aplicarlo.', other: `${number(count)} no pueden aplicarlo.` }),
  details: 'Detalles…',
  open: entry => `Detalles de ${entry}`,
  lift: 'Levantar en todas partes',
  liftOf: entry => `Levantar en todas partes: el bloqueo de flota de ${entry}`,
  change: 'Cambiar…',
  changeOf: entry => `Cambiar el bloqueo de flota de ${entry}`,
  lifted: entry => `${entry} ya no está bloqueada en la flota. Sus otros bloqueos siguen.`,
  noMatch: 'Ningún bloqueo de flota coincide.',
  emptyTitle: 'Aún no hay bloqueos de flota',
  empty:
    'Bloquee una dirección o un rango en todos los servidores con una sola entrada. Los servidores sin conexión o añadidos después también la aplican.',
  emptyEnded: 'Ninguno ha terminado en los últimos 90 días.',
  inJail: hosts => `En ${servers(hosts)} sin escudo lo aplica fail2ban.`,
  states: { held: 'Aplicado', pending: 'En espera', refused: 'Rechazado', not_covered: 'No cubierto' },
  serversOf: 'Servidores que no lo aplican',
  allHold: 'Todos los servidores lo aplican.',
  more: count => `${servers(count)} más`,
  dialog: {
    title: 'Nuevo bloqueo de flota',
    changeTitle: entry => `Cambiar ${entry}`,
    entry: 'Dirección o rango',
    entryHelp: 'Por ejemplo 203.0.113.7, 203.0.113.0/24 o 2001:db8::/64.',
    wrongEntry: 'Escriba una dirección o un rango, por ejemplo 203.0.113.7 o 203.0.113.0/24.',
    duration: 'Duración',
    durationHelp: 'Por ejemplo 1h, 1d, 7d o perm. Por defecto: 1 día.',
    newDuration: 'Nueva duración, desde ahora',
    newDurationHelp: 'Por ejemplo 1h, 7d o perm. Déjelo vacío para mantener el final.',
    wrongDuration: 'Escriba una duración como 10m, 1h, 1d (hasta 3650d) o perm.',
    reason: 'Motivo',
    reasonHelp: 'Opcional. Lo ve quien ve el bloqueo.',
    standing: (said, count) =>
      count === 0
        ? 'Ninguna de sus direcciones está bloqueada ahora.'
        : count === 1
          ? '1 bloqueo suyo está activo ahora.'
          : `${said} bloqueos suyos están activos ahora.`,
    submit: 'Bloquear en todos los servidores',
    submitOn: count => (count === 0 ? 'Bloquear' : `Bloquear en ${servers(count)}`),
    force: 'Bloquear de todos modos',
    done: 'Listo',
    another: 'Bloquear otra',
    asked: entry => `${entry} está bloqueada en la flota`,
    waiting: 'Esperando a los servidores.',
    holds: (held, all) =>
      held === all
        ? plural(all, {
            one: 'En el cortafuegos del servidor.',
            other: `En el cortafuegos de los ${number(all)} servidores.`,
          })
        : `En el cortafuegos de ${held} de ${servers(all)}.`,
    follow: count =>
      plural(count, {
        one: '1 servidor seguirá cuando responda.',
        other: `${number(count)} servidores seguirán cuando respondan.`,
      }),
    noServers: 'Aún no hay ningún servidor conectado. Lo aplicarán en cuanto se añadan.',
  },
}
