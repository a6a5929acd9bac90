import { needsSeal } from '@stockade/contract/seal.ts'
import { errorText } from '../text.ts'
import type { Command } from '../wire.ts'
import { loadTrust, wantsSeal } from './operators.ts'
import type { Trust } from './operators.ts'
import type { Spent } from './spent.ts'
import { verifySeal } from './verify.ts'

/** What is reported about sealed commands; null if this host asks for no signature. */
export interface SealReport {
  readonly types: readonly string[]
  readonly operators: readonly { readonly name: string; readonly kind: string; readonly fingerprint: string }[]
  /** Why every command is refused, or null. */
  readonly error: string | null
}

export interface SealGate {
  open(command: Command): Promise<string | null>
  /** Whether this host asks for an approval for that class. It also does while its trust file cannot be read. */
  wants(sealedClass: string): boolean
  report(): SealReport | null
}

/** Decides whether a command may run here without an operator's signature, and whether the signature is good. */
export const createSealGate = (needs: {
  configDirectory: string
  serverId: string
  spent: Spent
  now: () => number
}): SealGate => {
  /** The name of the operator who signed, or null if no signature is needed. @throws Error with the reason for a refusal */
  const open = async (command: Command): Promise<string | null> => {
    const trust = trusted()
    if (!trust || !needsSeal(trust.sealed, command.type, command.params)) return null
    if (command.seal === undefined)
      throw new Error(`this host takes ${command.type} only with an operator's signature, and this command has none`)
    const { operators } = trust
    const host = { serverId: needs.serverId, operators, now: needs.now() }
    const { statement, operator } = await verifySeal(command, command.seal, host).catch((error: unknown) => {
      throw new Error(`the operator's signature is refused: ${errorText(error)}`)
    })
    needs.spent.spend(statement.nonce, statement.expires)
    return operator.name
  }

  const trusted = (): Trust | null => {
    try {
      return loadTrust(needs.configDirectory)
    } catch (error) {
      throw new Error(`no command is taken: ${errorText(error)}`, { cause: error })
    }
  }

  return {
    open,
    wants: (sealedClass: string): boolean => wantsSeal(needs.configDirectory, sealedClass),
    report(): SealReport | null {
      try {
        const trust = loadTrust(needs.configDirectory)
        if (!trust) return null
        const operators = trust.operators.map(({ name, kind, fingerprint }) => ({ name, kind, fingerprint }))
        return { types: trust.sealed, operators, error: null }
      } catch (error) {
        return { types: [], operators: [], error: errorText(error) }
      }
    },
  }
}
