import { canonicalJson, hexOf, readStatement, sealTimes } from './seal.ts'
import type { Sha256, Statement } from './seal.ts'

/* Before a signature: whether the statements that a server made say what was asked for. The same in browsers and on the command line. */

type Fields = Readonly<Record<string, unknown>>
/** A batch in one of its three forms, as `POST /commands/batch` takes it. */
export interface AskedBatch {
  readonly type: string
  readonly params?: Fields
  readonly params_list?: readonly Fields[]
  readonly server_ids?: readonly string[]
  readonly targets?: readonly { readonly server_id: string; readonly params?: Fields }[]
}
export interface PreparedBatch {
  readonly statements: readonly string[]
  /** What a deployment carries. */
  readonly template: { readonly name: string } | null
}

const commandsOf = ({ params = {}, params_list = [params], server_ids = [], targets }: AskedBatch) =>
  targets?.map(target => ({ target: target.server_id.toLowerCase(), params: target.params ?? {} })) ??
  params_list.flatMap(each => [...new Set(server_ids)].map(id => ({ target: id.toLowerCase(), params: each })))
const sorted = (texts: readonly string[]) => [...texts].sort().join('\n')

/** Of a deployment the template is compared by its name and its content: the server may answer its number for its name. */
const comparable = (params: Fields): Fields => {
  const { template_sha256: _, template_id: __, ...rest } = params
  return rest
}

/**
 * The statements, read. `now` is in seconds.
 * @throws Error that names the difference, such as "other parameters".
 */
export const checkPrepared = async (
  prepared: PreparedBatch,
  asked: AskedBatch,
  now: number,
  sha256: Sha256,
): Promise<Statement[]> => {
  const { template } = prepared
  const statements = prepared.statements.map(readStatement)
  const commands = commandsOf(asked)
  if (sorted(statements.map(({ target }) => target)) !== sorted(commands.map(({ target }) => target)))
    throw new Error('it for other servers')
  const digest = template === null ? undefined : hexOf(await sha256(new TextEncoder().encode(canonicalJson(template))))
  for (const { type, params, issued, expires } of statements) {
    if (type !== asked.type) throw new Error(`a ${type} instead of a ${asked.type}`)
    if (expires > now + sealTimes.longest || issued > now + sealTimes.ahead) throw new Error('it for a longer time')
    if (params.template_sha256 !== digest) throw new Error('another template than it shows')
  }
  const templateId = asked.params?.template_id
  if (template && typeof templateId === 'string' && template.name !== templateId)
    throw new Error(`the template ${template.name} instead of ${templateId}`)
  const orderText = (target: string, params: Fields) => `${target} ${canonicalJson(comparable(params))}`
  if (
    sorted(statements.map(({ target, params }) => orderText(target, params))) !==
    sorted(commands.map(({ target, params }) => orderText(target, params)))
  )
    throw new Error('other parameters')
  return statements
}
