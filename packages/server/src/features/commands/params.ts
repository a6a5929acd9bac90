import { bounds, commands } from '@stockade/contract'
import type { commands as contract } from '@stockade/contract'
import type { ValidateFunction } from 'ajv'
import type { CommandRow } from './commands.store.ts'
import { parseRange } from '../../core/ip.ts'
import { parseJson } from '../../core/json-text.ts'
import { tame } from '../../core/text.ts'
import { compileBody, validationProblem } from '../../core/validation.ts'

export type CommandType = contract.CommandType
export type ParamsOf<T extends CommandType> = contract.CommandParamsOf<T>
/** A command whose parameters are checked: `command.type` tells which ones it has. */
export type CheckedCommand<T extends CommandType = CommandType> = contract.Command<T>
/** Parameters that are not checked, or whose type of command does not matter. */
export type Params = Readonly<Record<string, unknown>>

const validators = new Map<CommandType, ValidateFunction>()
const validatorOf = (type: CommandType): ValidateFunction => {
  const compiled = validators.get(type) ?? compileBody(commands.commandTypes[type].params)
  validators.set(type, compiled)
  return compiled
}

/** Fields that have one stored form, however they were written. */
const canonical = (params: Params): Params => ({
  ...params,
  ...(typeof params.ip === 'string' ? { ip: parseRange(params.ip)?.text ?? params.ip } : {}),
  ...(typeof params.reason === 'string' ? { reason: tame(params.reason, bounds.reason * 4) } : {}),
})

/**
 * The parameters of a command as the agent gets them: only known ones, checked by the contract, and canonical. `at` is their path
 * in the request.
 * @throws Problem 400 that names the parameter.
 */
export const checkParams = <T extends CommandType>(type: T, given: Params = {}, at = 'params'): ParamsOf<T> => {
  const isValid = validatorOf(type)
  if (!isValid(given)) throw validationProblem(isValid.errors, at)
  return canonical(given) as ParamsOf<T>
}

/** Joins a type and its parameters. TypeScript cannot follow that a generic pair is one of the union. */
export const commandOf = <T extends CommandType>(type: T, params: ParamsOf<T>): CheckedCommand =>
  ({ type, params }) as CheckedCommand

export const checkCommand = (type: CommandType, given: Params | undefined, at?: string): CheckedCommand =>
  commandOf(type, checkParams(type, given, at))

/** The command of a stored row, which was checked before it was stored. */
export const storedCommand = (row: Pick<CommandRow, 'type' | 'params'>): CheckedCommand =>
  commandOf(row.type, parseJson(row.params) as ParamsOf<CommandType>)
