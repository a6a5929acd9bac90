import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bounds } from '@stockade/contract/limits.ts'
import { codeOf } from '@stockade/contract/error-code.ts'
import { issueLicence, makeAuthority, mostServers, tierLimits, tiers } from '../features/license/document.ts'

const refuse = (message: string): never => {
  throw new Error(message)
}
const reasonOf = (error: unknown) => codeOf(error) ?? 'unknown error'

/** Makes the pair of an authority in a folder; a pair that is there stays. @returns the files. */
export const keygen = (folder: string): { readonly privateFile: string; readonly publicFile: string } => {
  const privateFile = join(folder, 'license-private.pem')
  const publicFile = join(folder, 'license-public.pem')
  const { privateKey, publicKey } = makeAuthority()
  const write = (file: string, text: string, mode: number) => {
    try {
      writeFileSync(file, text, { mode, flag: 'wx' })
    } catch (error) {
      refuse(
        codeOf(error) === 'EEXIST'
          ? `${file} is there already; licences of the old pair would become worthless. Choose another folder.`
          : `${file} can't be written: ${reasonOf(error)}.`,
      )
    }
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    refuse(`${folder} can't be made: ${reasonOf(error)}.`)
  }
  write(publicFile, publicKey, 0o644)
  write(privateFile, privateKey, 0o600)
  return { privateFile, publicFile }
}

/** The end of a day (UTC), or a moment. */
const endOf = (date: string, now: number): number => {
  const bare = /^\d{4}-\d{2}-\d{2}$/.test(date)
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(date)
    ? Date.parse(bare ? `${date}T23:59:59.999Z` : date)
    : NaN
  // 31 February is a date to some parsers.
  if (Number.isNaN(at) || (bare && new Date(at).toISOString().slice(0, 10) !== date))
    return refuse(`--expires must be a date such as 2027-12-31, not "${date}".`)
  return at > now ? at : refuse(`--expires lies in the past: ${date}.`)
}

export interface IssueOptions {
  readonly privateKey: string
  readonly tier: string
  readonly to: string
  readonly servers?: string
  readonly expires?: string
}
/** Signs a licence; the answer is the key. */
export const issue = (options: IssueOptions, now: number): string => {
  const tier = tiers.find(name => name === options.tier)
  if (!tier) return refuse(`--tier must be one of ${tiers.join(', ')}, not "${options.tier}".`)
  const servers = options.servers ?? String(tierLimits[tier])
  const serverLimit = /^\d+$/.test(servers) ? Number(servers) : 0
  if (serverLimit < 1 || serverLimit > mostServers)
    return refuse(`--servers must be a whole number from 1 to ${mostServers}, not "${servers}".`)
  const registeredTo = options.to.trim()
  if (!registeredTo || registeredTo.length > bounds.name * 2 || /\p{Cc}/u.test(registeredTo))
    return refuse(`--to must be a name of 1 to ${bounds.name * 2} characters.`)
  let privateKey: string
  try {
    privateKey = readFileSync(options.privateKey, 'utf8')
  } catch (error) {
    return refuse(`${options.privateKey} can't be read: ${reasonOf(error)}.`)
  }
  const expiresAt = options.expires === undefined ? null : endOf(options.expires, now)
  try {
    return issueLicence(privateKey, { tier, serverLimit, registeredTo, issuedAt: now, expiresAt })
  } catch {
    return refuse(`${options.privateKey} holds no Ed25519 private key as PEM text.`)
  }
}
