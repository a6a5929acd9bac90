import { number } from '../../../lib/numbers.ts'
import { plural } from '../../../lib/texts/catalogue.ts'
import type { Texts } from '../texts.ts'

export const keys: Texts['keys'] = {
  title: 'Teclas',
  page: 'En esta página',
  go: 'Ir a',
  off: 'Las teclas sueltas están desactivadas en las preferencias.',
  toPreferences: 'Ir a las preferencias',
  then: 'después',
  list: 'Mostrar esta lista',
  search: 'Buscar en esta página',
  times: 'Horas exactas o relativas',
  undo: 'Deshacer lo último',
  find: 'Buscar cualquier cosa',
  next: 'Fila siguiente',
  previous: 'Fila anterior',
  select: 'Seleccionar la fila',
  unban: 'Desbloquear',
  whitelist: 'Añadir a la whitelist',
  more: 'Más sobre la fila',
}
export const steps: Texts['steps'] = {
  label: 'Pasos de la prueba',
  steps: {
    resolve: 'Resolver el nombre',
    connect: 'Conectar',
    tls: 'Negociar TLS',
    authenticate: 'Autenticar',
    write: 'Escribir',
    answer: 'Respuesta',
  },
  done: 'Hecho',
  failed: 'Fallido',
  notReached: 'No alcanzado',
  ms: ms => `${ms} ms`,
}
export const timeRange: Texts['time-range'] = {
  range: 'Tiempo',
  anyTime: 'Cualquier momento',
  ranges: { 'now-24h': 'Últimas 24 horas', 'now-7d': 'Últimos 7 días', 'now-30d': 'Últimos 30 días' },
  between: 'Entre…',
  from: 'Desde',
  to: 'Hasta',
}
export const views: Texts['views'] = {
  label: 'Vistas guardadas',
  save: 'Guardar esta vista',
  edit: 'Editar las vistas',
  done: 'Listo',
  name: 'Nombre de la vista',
  nameOf: name => `Nombre de la vista ${name}`,
  remove: name => `Quitar la vista ${name}`,
  removed: name => `Vista ${name} eliminada.`,
  saved: name => `Vista ${name} guardada.`,
}
export const rotateKey: Texts['rotate-key'] = {
  title: 'Clave del agente',
  text: 'Crea una clave nueva para el agente de este servidor, por ejemplo si se reinstaló o si alguien puede conocer la anterior. El agente actual sigue funcionando hasta que se use la clave nueva, 24 horas como máximo.',
  rotate: 'Renovar la clave…',
  create: 'Crear un comando nuevo',
  cancel: 'Dejarla como está',
  run: name => `Ejecute esto en ${name}. Sirve una vez, dentro de 24 horas, y solo se muestra ahora.`,
  command: 'Comando para ejecutar en el servidor',
  used: 'El servidor ha obtenido su clave nueva',
  notUsed: name => `${name} aún no se ha conectado`,
  waiting: name => `Esperando a que ${name} use la clave nueva`,
  rotated: (name, time) => `${name} usa la clave nueva desde ${time}. La anterior ya no sirve.`,
  slow: 'Nada todavía. El servidor debe llegar a la dirección del comando, y el comando debe ejecutarse entero, como root.',
  leave: 'Puede salir de esta página: el servidor hace el cambio por sí mismo.',
  done: 'Listo',
}
export const form: Texts['form'] = {
  unsaved: 'Cambios sin guardar',
  changes: count => plural(count, { one: '1 cambio', other: `${number(count)} cambios` }),
  ofField: name => `${name}:`,
  saveChanges: 'Guardar cambios',
  saved: 'Guardado.',
  discard: 'Descartar',
  fixFirst: 'Corrija primero los errores.',
  overtaken: names =>
    `Alguien cambió esto entretanto: ${names}. El formulario muestra los nuevos valores. Guarde otra vez para reemplazarlos.`,
  on: 'activado',
  off: 'desactivado',
  set: 'definido',
  notSet: 'sin definir',
  newSecret: 'uno nuevo',
  isSet: 'Definido. Déjelo vacío para conservarlo.',
  isNotSet: 'Sin definir.',
  willBeRemoved: 'Se quitará.',
  remove: 'Quitarlo',
  keep: 'Conservarlo',
  removeOf: name => `Quitarlo: ${name}`,
  keepOf: name => `Conservarlo: ${name}`,
  noMatch: 'Nada coincide.',
  chooseFile: 'Elegir un archivo…',
}
export const duration: Texts['duration'] = {
  lengths: {
    label: name => `Duraciones habituales: ${name}`,
    hour: '1 hora',
    day: '1 día',
    week: '1 semana',
    month: '30 días',
  },
  help: 'O en palabras inglesas, como 90 min, 2 weeks o permanent.',
  wrong: 'Escriba una duración, como 90 min, 2 weeks o permanent.',
}
