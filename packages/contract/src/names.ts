/*
 * Names as plain values, without schemas, so that the agent's bundle can use them too. Both end up in the names of files
 * and in arguments of programs, so neither may begin with a hyphen or hold a separator of any kind.
 */

/** A jail that a command or a file may name. Engines take any name: `jailOfCommand` says what a command names then. */
export const jailNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'
/** A template, which is also the name of its jail. */
export const templateNamePattern = '^[a-z][a-z0-9-]{0,23}$'

const jailName = new RegExp(jailNamePattern)
const templateName = new RegExp(templateNamePattern)

export const isJailName = (value: unknown): value is string => typeof value === 'string' && jailName.test(value)
/** The jail that a command names to lift a ban: `*`, every jail, for a name that commands do not take. */
export const jailOfCommand = (jail: string): string => (isJailName(jail) ? jail : '*')
export const isTemplateName = (value: unknown): value is string => typeof value === 'string' && templateName.test(value)
