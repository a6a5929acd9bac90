import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

const servers = (count: number, shown: string) => plural(count, { one: '1 servidor', other: `${shown} servidores` })

export const agents: Texts['agents'] = {
  title: 'Agentes',
  what: 'las versiones del agente',
  whatRollouts: 'las actualizaciones',
  release: 'Versión',
  none: 'Este servidor no ofrece ningún agente, porque aquí no se compiló ninguno.',
  current: version => `Todos los agentes ejecutan ${version}.`,
  outdated: (count, shown, version) =>
    plural(count, {
      one: `1 servidor ejecuta otra versión que ${version}.`,
      other: `${shown} servidores ejecutan otra versión que ${version}.`,
    }),
  rebuilt: (count, shown, version) =>
    plural(count, {
      one: `1 servidor ejecuta otra compilación de ${version}.`,
      other: `${shown} servidores ejecutan otra compilación de ${version}.`,
    }),
  unsigned: 'Esta versión no está firmada. Solo la aceptan los servidores instalados con --allow-unsigned.',
  versions: 'Versiones',
  noVersion: 'Sin notificar',
  servers,
  obstacles: 'Servidores que no aceptan actualizaciones desde aquí',
  upgrade: (count, shown) => plural(count, { one: 'Actualizar 1 servidor', other: `Actualizar ${shown} servidores` }),
  confirmTitle: version => `¿Actualizar los agentes a ${version}?`,
  confirmText:
    'Primero va un servidor; después, el 5, el 25 y el 100 % de los demás. Un servidor vuelve a su versión si el agente nuevo no llega a Stockade en 60 s, y la actualización se detiene si falla en demasiados. Los bloqueos siguen vigentes mientras tanto.',
  confirmVerb: 'Actualizar',
  latest: 'Actualización',
  earlier: 'Actualizaciones anteriores',
  kinds: { upgrade: version => `A ${version}`, rollback: version => `De vuelta desde ${version}` },
  states: { running: 'En curso', paused: 'En pausa', finished: 'Terminada', aborted: 'Cancelada' },
  startedBy: name => `por ${name}`,
  wave: wave => `Oleada ${wave}`,
  counts: {
    waiting: (count, shown) => plural(count, { one: '1 espera', other: `${shown} esperan` }),
    ordered: (count, shown) => plural(count, { one: '1 se actualiza', other: `${shown} se actualizan` }),
    watched: (count, shown) => plural(count, { one: '1 en observación', other: `${shown} en observación` }),
    done: (count, shown) => plural(count, { one: '1 listo', other: `${shown} listos` }),
    failed: (count, shown) => plural(count, { one: '1 falló', other: `${shown} fallaron` }),
    skipped: (count, shown) => plural(count, { one: '1 omitido', other: `${shown} omitidos` }),
  },
  problems: 'Servidores en los que falló',
  more: (count, shown) => plural(count, { one: 'y 1 más', other: `y ${shown} más` }),
  pause: 'Pausar',
  resume: 'Reanudar',
  abort: 'Cancelar actualización',
  abortTitle: '¿Cancelar esta actualización?',
  abortText: 'No se actualiza ningún servidor más. Los que tienen la versión nueva la conservan.',
  rollBack: 'Volver atrás',
  rollBackTitle: '¿Devolver los servidores actualizados a la versión anterior?',
  rollBackText: 'Cada servidor que cambió esta actualización vuelve a la versión que conservó. No se descarga nada.',
  calm: 'Todavía no se actualizó ningún agente desde aquí.',
}

export const agentAddress: Texts['agent-address'] = {
  title: 'URL de Stockade',
  what: 'la URL que usan los servidores',
  now: 'Actual',
  none: 'Ningún servidor tiene la orden de usar otra URL.',
  ordered: 'Ordenada',
  by: name => `por ${name}`,
  states: { moved: 'Cambiado', trying: 'A prueba', waiting: 'En espera', failed: 'Con fallo' },
  counts: {
    moved: (count, shown) => plural(count, { one: '1 cambiado', other: `${shown} cambiados` }),
    trying: (_, shown) => `${shown} a prueba`,
    waiting: (count, shown) => plural(count, { one: '1 espera', other: `${shown} esperan` }),
    failed: (count, shown) => plural(count, { one: '1 falló', other: `${shown} fallaron` }),
  },
  noServers: 'Todavía no hay ningún servidor inscrito.',
  servers: 'Servidores',
  more: (count, shown) => plural(count, { one: 'y 1 más', other: `y ${shown} más` }),
  order: 'Ordenar otra URL',
  again: 'Reintentar ahora',
  withdraw: 'Retirar la orden',
  withdrawTitle: '¿Retirar la orden?',
  withdrawText: 'Los servidores a prueba vuelven a la URL anterior. Los que cambiaron se quedan.',
  dialogTitle: 'Ordenar otra URL a todos los servidores',
  url: 'Nueva URL de este Stockade',
  urlHelp:
    'Ponga primero STOCKADE_BASE_URL a esa URL, o deje que Stockade sirva https por sí mismo. Ambas URL deben llevar aquí hasta que todos los servidores hayan cambiado.',
  urlMissing: 'Escriba una URL que empiece por https:// o http://.',
  trial:
    'Cada servidor deja que Stockade demuestre quién es antes de enviar su clave, usa la URL a prueba durante 10 minutos y vuelve si no responde.',
  submit: 'Ordenar a todos los servidores',
}
