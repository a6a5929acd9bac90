import type { Static, TProperties } from 'typebox'
import type { Permission } from '../endpoint.ts'
import { resource } from '../shapes.ts'
import type { CommandType } from './names.ts'

/** `ban-ip` becomes `BanIpParams`. */
const titleOf = (type: string) =>
  `${type.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Params`

/** All that the ends must know of a type of command. */
interface Definition<T extends CommandType, P extends TProperties> {
  readonly type: T
  /** One sentence for the API document. */
  readonly documentation: string
  readonly permission: Permission
  readonly params: P
  /** True when a session by cookie must have proved its user's identity shortly before. */
  readonly stepUp?: boolean
  /** True where the parameters name a template: a batch takes one template, for all of its servers. */
  readonly takesTemplate?: boolean
  /** Seconds until a command that no agent fetched times out. Null, or no function: the time of the server's configuration. */
  readonly expiresAfter?: (params: Readonly<Static<ReturnType<typeof resource<P>>>>) => number | null
}

/** Declares a type of command and keeps the exact type of its parameters. */
export const commandTypeOf = <const T extends CommandType, P extends TProperties>(definition: Definition<T, P>) => ({
  stepUp: false,
  takesTemplate: false,
  ...definition,
  expiresAfter: definition.expiresAfter ?? (() => null),
  params: resource(titleOf(definition.type), definition.params, definition.documentation),
})
