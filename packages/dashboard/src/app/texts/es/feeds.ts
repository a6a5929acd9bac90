import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const feeds: Texts['feeds'] = {
  title: 'Feeds',
  what: 'los feeds',
  lead: 'Un feed es una URL de la que los cortafuegos y otros programas descargan lo que está bloqueado.',
  add: 'Nuevo feed',
  emptyTitle: 'Todavía no hay feeds',
  empty: 'Cree uno para un cortafuegos o un proxy sin agente. Su URL contiene la única credencial.',
  hosts: search => (search ? `Bloqueos de servidores que coinciden con ${search}` : 'Todos los bloqueos de servidores'),
  hostsAndFleet: search =>
    search
      ? `Bloqueos de servidores que coinciden con ${search}, y bloqueos de flota`
      : 'Todos los bloqueos de servidores y los bloqueos de flota',
  fleetOnly: 'Bloqueos de flota',
  families: { both: 'IPv4 e IPv6', ipv4: 'solo IPv4', ipv6: 'solo IPv6' },
  atMost: count => `${count} entradas como máximo`,
  never: 'Nunca descargado',
  used: 'Descargado',
  usedFrom: address => `por ${address}`,
  use: 'Usar…',
  useOf: name => `Usar ${name}`,
  edit: 'Cambiar…',
  editOf: name => `Cambiar ${name}`,
  rotate: 'Nuevo token…',
  rotateOf: name => `Nuevo token para ${name}`,
  remove: 'Eliminar…',
  removeOf: name => `Eliminar ${name}`,
  removed: name => `${name} se ha eliminado.`,
  rotateText: 'La URL antigua deja de funcionar enseguida. Los programas que la usan necesitan la nueva.',
  rotateNow: 'Crear un token nuevo',
  removeText: name =>
    `La URL de ${name} deja de funcionar enseguida. Los programas que la usan conservan su última descarga.`,
  removeNow: 'Eliminar el feed',
  dialog: {
    newTitle: 'Nuevo feed',
    changeTitle: name => `Cambiar ${name}`,
    name: 'Nombre',
    missingName: 'Dé un nombre al feed.',
    bans: 'Bloqueos de servidores',
    fleetBans: 'Bloqueos de flota',
    nothing: 'Elija al menos uno de los dos.',
    search: 'Solo los bloqueos que coinciden con',
    searchHelp: 'Una búsqueda como jail:sshd -country:NL; vacío, todos los bloqueos.',
    family: 'Direcciones',
    maximum: 'Máximo de entradas',
    maximumHelp: 'Quedan los bloqueos más recientes.',
    wrongMaximum: 'Escriba un número de 1 a 200.000.',
    preview: 'Vista previa',
    create: 'Crear feed',
    save: 'Guardar',
  },
  size: (total, ipv4, ipv6) =>
    plural(total, {
      one: `Ahora contiene 1 entrada (${ipv4} IPv4, ${ipv6} IPv6).`,
      other: `Ahora contiene ${number(total)} entradas (${ipv4} IPv4, ${ipv6} IPv6).`,
    }),
  none: 'Ahora no contiene nada.',
  joined: count => `${count} si las vecinas se unen en rangos.`,
  truncated: 'Faltan bloqueos más antiguos, porque hay más que el máximo.',
  leftOut: {
    wide: count =>
      plural(count, {
        one: 'Sin 1 rango de un servidor más ancho que /24 (IPv4) o /48 (IPv6).',
        other: `Sin ${number(count)} rangos de servidores más anchos que /24 (IPv4) o /48 (IPv6).`,
      }),
    of_one_server: count =>
      plural(count, {
        one: 'Sin 1 bloqueo por encima de lo que un servidor puede aportar.',
        other: `Sin ${number(count)} bloqueos por encima de lo que un servidor puede aportar.`,
      }),
    of_some_servers: count =>
      plural(count, {
        one: 'Sin 1 bloqueo de flota que no es para todos los servidores.',
        other: `Sin ${number(count)} bloqueos de flota que no son para todos los servidores.`,
      }),
    protected: count =>
      plural(count, {
        one: 'De 1 entrada se quitan direcciones protegidas.',
        other: `De ${number(count)} entradas se quitan direcciones protegidas.`,
      }),
  },
  samples: entries => `Por ejemplo ${entries}`,
  once: {
    title: name => `URL de ${name}`,
    text: 'Cópiela ahora. Contiene el token, que no se volverá a mostrar.',
    url: 'URL del feed',
    done: 'Listo',
  },
  consumer: {
    title: name => `Usar ${name}`,
    program: 'Programa',
    lines: 'Líneas para el programa',
    help: 'Ejecute la primera línea cada pocos minutos con un temporizador. Un cambio se ve en 5 s.',
    placeholder: 'FEED representa la URL del feed. Se mostró una vez; cree un token nuevo si se ha perdido.',
  },
}
