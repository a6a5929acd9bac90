import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const enrolmentTokens: Texts['enrolment-tokens'] = {
  title: 'Añadir muchos servidores',
  what: 'los tokens de inscripción',
  whatOne: 'el token de inscripción',
  lead: 'Un token de inscripción inscribe tantos servidores como usted permita: con cloud-init, Ansible o una imagen de máquina, donde no se puede dar un comando a cada servidor.',
  add: 'Nuevo token',
  emptyTitle: 'Todavía no hay tokens de inscripción',
  empty: 'Cree uno para los servidores que vendrán. Está limitado en número y tiempo, y se ve quién lo usó.',
  states: { open: 'Abierto', suspended: 'Suspendido', used_up: 'Agotado', ended: 'Terminado', revoked: 'Revocado' },
  suspended: maker => `${maker}, que lo creó, ya no puede añadir servidores. El token no inscribe nada.`,
  used: (used, most) => `${number(used)} de ${most} servidores`,
  ends: time => `termina ${time}`,
  ended: time => `terminó ${time}`,
  by: maker => `por ${maker}`,
  tagged: tags => `etiquetas: ${tags}`,
  refused: count =>
    plural(count, {
      one: '1 petición rechazada, desde',
      other: `${number(count)} peticiones rechazadas, la última desde`,
    }),
  revoke: 'Revocar…',
  revokeOf: name => `Revocar ${name}`,
  revokeText: name => `${name} ya no inscribe nada. Los servidores que inscribió se quedan.`,
  revokeNow: 'Revocar el token',
  revoked: name => `${name} se ha revocado.`,
  dialog: {
    title: 'Nuevo token de inscripción',
    name: 'Nombre',
    nameHelp: 'Para qué es, por ejemplo «racks de otoño».',
    missingName: 'Dé un nombre al token.',
    servers: 'Número de servidores',
    wrongServers: 'Escriba un número de 1 a 10.000.',
    life: 'Termina después de',
    lives: { 3600: '1 hora', 86400: '1 día', 604800: '7 días', 2592000: '30 días', 31536000: '365 días' },
    tagsHelp: 'Cada servidor recibe estas etiquetas.',
    create: 'Crear token',
  },
  once: {
    title: name => `Comando de ${name}`,
    text: 'Cópielo ahora. Contiene el token, que no se vuelve a mostrar. Quien lo tenga puede añadir servidores hasta que termine.',
    done: 'Listo',
  },
  enrolled: 'Servidores inscritos',
  nobody: 'Ningún servidor lo ha usado todavía.',
  from: 'desde',
  gone: 'Este token de inscripción no existe. Puede que haya dejado sitio a otros más nuevos.',
  more: count => `${number(count)} más: la línea de comandos los muestra todos.`,
}
