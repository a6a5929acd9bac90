import { createHash, randomBytes } from 'node:crypto'
import { bounds, commands as commandsContract } from '@stockade/contract'
import type { BodyOf, ReplyOf, commands as contract, servers as serversContract } from '@stockade/contract'
import {
  canonicalJson,
  needsSeal,
  readStatement,
  sealMessage,
  sealTimes,
  sealTree,
  statedParams,
} from '@stockade/contract/seal.ts'
import type { Seal, Statement } from '@stockade/contract/seal.ts'
import type { Principal } from '../../core/actor.ts'
import { iso, second } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { Problem, badRequest, invalid } from '../../core/problem.ts'
import type { ServersService } from '../servers/servers.service.ts'
import type { Snapshot } from '../templates/templates.service.ts'
import { entriesOf } from './batch.ts'
import type { CommandRow } from './commands.store.ts'
import type { Frozen, RefuseBan } from './checks.ts'
import { checkCommand, storedCommand } from './params.ts'
import type { CheckedCommand, Params } from './params.ts'

export type Sealed = NonNullable<ReplyOf<typeof serversContract.getServer>['sealed']>

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()
/** Hosts that one message names. */
const few = 5

/** A command that an operator signed, checked as far as the server can; the host judges the signature. */
export interface SignedCommand {
  readonly server: { readonly no: number; readonly id: string; readonly hostname: string }
  readonly command: CheckedCommand
  readonly snapshot: Snapshot | null
  /** Null for a host that asks for none. */
  readonly seal: Seal | null
}

export const createSealing = (needs: {
  clock: Clock
  servers: Pick<ServersService, 'named'>
  /** What a host says that it wants signed; null for nothing. */
  sealedOf: (serverNo: number) => { readonly hostname: string; readonly sealed: Sealed | null } | null
  freeze: (command: CheckedCommand) => Promise<Frozen>
  guardBan: RefuseBan
  site: () => { rp_id: string; origin: string } | null
}) => {
  const { clock, servers, sealedOf, freeze, guardBan } = needs
  const listed = (names: readonly string[]) =>
    names.slice(0, few).join(', ') + (names.length > few ? ` and ${names.length - few} more` : '')

  /** Hosts that would refuse a command without a signature. */
  const wanting = (orders: readonly { serverNo: number; command: CheckedCommand }[]): string[] => [
    ...new Set(
      orders.flatMap(({ serverNo, command }) => {
        const host = sealedOf(serverNo)
        return host?.sealed && needsSeal(host.sealed.types, command.type, command.params) ? [host.hostname] : []
      }),
    ),
  ]
  /** The parameters as a statement has them, with what a deployment carries as a digest. */
  const stated = (params: Params, snapshot: Snapshot | null) =>
    statedParams(snapshot ? { ...params, template: snapshot.template } : params, sha256)

  const checkTimes = (statement: Statement, at: string) => {
    const now = clock() / second
    if (statement.expires <= now) throw invalid(at, 'This signature has expired. Sign again.')
    if (statement.issued > now + sealTimes.ahead)
      throw invalid(at, 'This signature is of a time that lies ahead; check the clock of the device that signed.')
  }
  const read = (text: string, at: string): Statement => {
    try {
      return readStatement(text)
    } catch (error) {
      throw invalid(at, `${at}: ${error instanceof Error ? error.message : 'it can not be read'}.`)
    }
  }
  /** The command of a statement, which must be one that could be queued without it. */
  const commandOf = async (actor: Principal, text: string, at: string, frozen: Map<string, Snapshot | null>) => {
    const statement = read(text, at)
    checkTimes(statement, at)
    const { type } = statement
    if (!commandsContract.isCommandType(type)) throw invalid(at, `${at}: ${type} is not a type of command.`)
    const { template_sha256: _, ...given } = statement.params
    const key = `${type} ${canonicalJson(statement.params)}`
    const checked = checkCommand(type, given, `${at}.params`)
    if (checked.type === 'ban-ip') guardBan(actor, checked.params)
    const cached = frozen.get(key)
    const { command, snapshot } = cached === undefined ? await freeze(checked) : { command: checked, snapshot: cached }
    frozen.set(key, snapshot)
    if (
      cached === undefined &&
      canonicalJson(await stated(command.params, snapshot)) !== canonicalJson(statement.params)
    )
      throw new Problem(
        409,
        'Conflict',
        `${at}: what was signed is not what is there now. Look at it again, and sign again.`,
      )
    return { server: servers.named(actor, at, statement.target), command, snapshot }
  }

  return {
    /** @throws Problem 409 that names the hosts which take these commands only signed. */
    requireNone(rows: readonly CommandRow[]): void {
      const unsigned = rows.filter(row => row.seal === null)
      const hosts = wanting(unsigned.map(row => ({ serverNo: row.server_no, command: storedCommand(row) })))
      if (hosts.length === 0) return
      throw new Problem(
        409,
        'Conflict',
        `${listed(hosts)} ${hosts.length === 1 ? 'takes' : 'take'} this only with an operator's signature. Sign it with a passkey in the dashboard, or with "--sign" on the command line.`,
        { reason: 'signature-required', extra: { seal_required: { servers: hosts.slice(0, bounds.named) } } },
      )
    },
    /** What is to be signed for a batch; nothing is queued. */
    async prepare(
      actor: Principal,
      batch: BodyOf<typeof contract.prepareSealed>,
    ): Promise<ReplyOf<typeof contract.prepareSealed>> {
      const issued = Math.floor(clock() / second)
      const expires = issued + (batch.valid_for ?? sealTimes.usual)
      const { type } = batch
      const statements: string[] = []
      const commands: { serverNo: number; command: CheckedCommand }[] = []
      let template: Snapshot['template'] | null = null
      for (const { at, given, named, serverIds } of entriesOf(batch)) {
        const checked = checkCommand(type, given, at)
        if (checked.type === 'ban-ip') guardBan(actor, checked.params)
        const { command, snapshot } = await freeze(checked)
        template = snapshot?.template ?? null
        const signed = await stated(command.params, snapshot)
        for (const id of serverIds) {
          const server = servers.named(actor, named, id)
          const nonce = randomBytes(16).toString('base64url')
          commands.push({ serverNo: server.no, command })
          statements.push(canonicalJson({ v: 1, type, params: signed, target: server.id, nonce, issued, expires }))
        }
      }
      const message = sealMessage((await sealTree(statements, sha256)).root)
      return {
        statements,
        message: new TextDecoder().decode(message),
        challenge: createHash('sha256').update(message).digest('base64url'),
        expires_at: iso(expires * second),
        template,
        sealed_servers: wanting(commands).slice(0, bounds.named),
        rp_id: needs.site()?.rp_id ?? null,
      }
    },
    /** The commands of signed statements. @throws Problem that names the statement; then none is taken. */
    async open(actor: Principal, body: BodyOf<typeof contract.createSealed>): Promise<SignedCommand[]> {
      const { statements, signature } = body
      if (new Set(statements).size < statements.length) throw badRequest('A statement is there twice.')
      const { root, proofs } = await sealTree(statements, sha256)
      checkChallenge(root, signature)
      const frozen = new Map<string, Snapshot | null>()
      const signed: SignedCommand[] = []
      for (const [index, statement] of statements.entries()) {
        const opened = await commandOf(actor, statement, `statements.${index}`, frozen)
        signed.push({ ...opened, seal: { statement, proof: proofs[index] ?? [], signature } })
      }
      requireOneType(signed)
      const isOpen = ({ server }: SignedCommand) => !sealedOf(server.no)?.sealed
      if (signed.every(isOpen)) {
        const hosts = [...new Set(signed.map(({ server }) => server.hostname))]
        throw new Problem(
          409,
          'Conflict',
          `${listed(hosts)} ${hosts.length === 1 ? 'asks' : 'ask'} for no signature, since root trusts no operator there. Send the command without one.`,
        )
      }
      const distrusting = signed.filter(({ server, command }) => {
        const sealed = sealedOf(server.no)?.sealed
        return (
          sealed &&
          needsSeal(sealed.types, command.type, command.params) &&
          !sealed.operators.some(trusted => trusted.fingerprint === signature.key)
        )
      })
      const hosts = [...new Set(distrusting.map(({ server }) => server.hostname))]
      if (hosts.length > 0)
        throw new Problem(
          409,
          'Conflict',
          `${listed(hosts)} ${hosts.length === 1 ? 'does' : 'do'} not trust the key ${signature.key}. Its root adds it there: sudo stockade-agent trust add KEY`,
        )
      // What a host does not judge is not kept with its command.
      return signed.map(command => (isOpen(command) ? { ...command, seal: null } : command))
    },
  }
}
export type Sealing = ReturnType<typeof createSealing>

const requireOneType = (signed: readonly SignedCommand[]) => {
  if (new Set(signed.map(({ command }) => command.type)).size > 1)
    throw badRequest('All statements must be of one type.')
}

/** Refuses a passkey answer to another challenge here, before each host refuses it. */
const checkChallenge = (root: Uint8Array, signature: Seal['signature']) => {
  if (signature.kind !== 'webauthn') return
  const challenge = createHash('sha256').update(sealMessage(root)).digest('base64url')
  const client = Buffer.from(signature.client_data, 'base64url').toString('utf8')
  if (!client.includes(`"${challenge}"`))
    throw invalid('signature', `The passkey signed something else than these statements.`)
}
