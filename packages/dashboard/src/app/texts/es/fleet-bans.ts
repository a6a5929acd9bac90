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
    changeTitle: entry => `Cambiar ${entry}`,
    newDuration: 'Nueva duración, desde ahora',
    newDurationHelp: 'Déjelo vacío para mantener el final.',
    reason: 'Motivo',
    reasonHelp: 'Opcional. Lo ve quien ve el bloqueo.',
  },
}
