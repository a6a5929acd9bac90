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
