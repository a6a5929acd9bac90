import type { CommandParamsOf, CommandType } from '@stockade/contract/command-types/index.ts'
import { bounds } from '@stockade/contract/limits.ts'
import { isJailName } from '@stockade/contract/names.ts'
import { ownJail, testJail } from '../engine/own-files.ts'
import { canonicalIp, isCidr } from '../ip.ts'
import { asInteger, asList, asText } from '../json.ts'
import type { Fields } from '../json.ts'
import { Refused } from './refused.ts'

/** The parameters that a handler gets. A template stays as it arrived: `templates/` reads it, because it is root's configuration. */
export type HandlerParams = {
  readonly [T in CommandType]: T extends 'deploy-template' | 'template-preview'
    ? { readonly template: unknown } & Pick<CommandParamsOf<'template-preview'>, 'days'>
    : CommandParamsOf<T>
}
/** What runs a type of command. Returns the output, or throws. */
export type Handlers = {
  readonly [T in CommandType]: (params: HandlerParams[T], commandId: string) => Promise<string>
}
type Readers = { readonly [T in CommandType]: (fields: Fields) => HandlerParams[T] }

const readJail = ({ jail }: Fields): string => {
  // What is banned in the jail of the self-test is reported nowhere.
  if (!isJailName(jail) || jail === testJail) throw new Refused('"jail" must be the name of a jail')
  return jail
}

const readIp = ({ ip }: Fields): string => {
  const canonical = canonicalIp(asText(ip))
  if (canonical === null) throw new Refused('"ip" must be an IP address')
  return canonical
}

const readDuration = ({ duration }: Fields): number | undefined => {
  if (duration === undefined || duration === null) return undefined
  const seconds = asInteger(duration, 0)
  if (seconds !== -1 && (seconds < 1 || seconds > bounds.seconds))
    throw new Refused(`"duration" must be -1 or 1 to ${bounds.seconds} seconds`)
  return seconds
}

const readDigest = (value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) throw new Refused('a SHA-256 has 64 hex digits')
  return value
}

const mostTestPorts = 10
/** A level that this agent does not know is the plain one. */
const readTest = (fields: Fields): HandlerParams['self-test'] => {
  const level = fields['level'] === 'engine' ? { level: 'engine' as const } : {}
  if (fields['ports'] === undefined || fields['ports'] === null) return level
  const ports = asList(fields['ports']).map(port => asInteger(port, 0))
  if (ports.length === 0 || ports.length > mostTestPorts || ports.some(port => port < 1 || port > 65_535))
    throw new Refused(`"ports" must be 1 to ${mostTestPorts} ports`)
  return { ...level, ports: [...new Set(ports)] }
}

const mostPreviewDays = 7
const mostIgnored = 100
const readNumber = (fields: Fields, name: string, least: number, most: number): Record<string, number> => {
  if (fields[name] === undefined || fields[name] === null) return {}
  const value = asInteger(fields[name], least - 1)
  if (value < least || value > most) throw new Refused(`"${name}" must be ${least} to ${most}`)
  return { [name]: value }
}
const readPreview = (fields: Fields): HandlerParams['jail-preview'] => {
  const bantime = readDuration({ duration: fields['bantime'] })
  const ignored = asList(fields['ignoreip']).map(entry => canonicalIp(asText(entry)))
  if (ignored.length > mostIgnored || ignored.includes(null))
    throw new Refused(`"ignoreip" must be at most ${mostIgnored} addresses and ranges`)
  return {
    jail: readJail(fields),
    ...readNumber(fields, 'days', 1, mostPreviewDays),
    ...readNumber(fields, 'maxretry', 1, 1000),
    ...readNumber(fields, 'findtime', 1, bounds.seconds),
    ...(bantime === undefined ? {} : { bantime }),
    ...(fields['ignoreip'] === undefined ? {} : { ignoreip: ignored.flatMap(entry => entry ?? []) }),
  }
}

const readCarried = ({ template }: Fields): { template: unknown } => {
  if (template === undefined) throw new Refused('the order came without its template: nothing was done')
  return { template }
}

const jailOnly = (fields: Fields) => ({ jail: readJail(fields) })
const nothing = () => ({})
const rangeOnly = ({ ip }: Fields) => {
  const range = canonicalIp(asText(ip))
  if (range === null || !isCidr(range)) throw new Refused('the range to approve is missing')
  return { ip: range }
}

/** One reader for each type of command: the agent runs as root, so it checks again what the server checked. */
const readers: Readers = {
  'ban-ip': fields => {
    const jail = fields['jail'] === undefined ? ownJail : readJail(fields)
    const ip = readIp(fields)
    const duration = readDuration(fields)
    return {
      jail,
      ip,
      ...(duration === undefined ? {} : { duration }),
      force: fields['force'] === true,
      cut: fields['cut'] === true,
    }
  },
  'unban-ip': fields => ({
    ip: readIp(fields),
    jail: fields['jail'] === undefined || fields['jail'] === '*' ? '*' : readJail(fields),
  }),
  'jail-status': jailOnly,
  'jail-preview': readPreview,
  'jail-enable': jailOnly,
  'jail-disable': jailOnly,
  'jail-reload': jailOnly,
  'reload-all': nothing,
  'service-restart': nothing,
  'deploy-template': readCarried,
  'template-preview': fields => ({ ...readCarried(fields), ...readNumber(fields, 'days', 1, mostPreviewDays) }),
  'remove-template': ({ template_name }) => ({ template_name: asText(template_name) }),
  'approve-whitelist': rangeOnly,
  'approve-ban': rangeOnly,
  'approve-port': fields => {
    const port = asInteger(fields['port'], 0)
    if (port < 1 || port > 65_535) throw new Refused('the port to approve is missing')
    return { port }
  },
  'self-test': readTest,
  'upgrade-agent': fields => {
    const version = asText(fields['version'])
    if (!/^[0-9][0-9A-Za-z.+-]{0,80}$/.test(version)) throw new Refused('"version" must be a version of the agent')
    return {
      version,
      manifest_sha256: readDigest(fields['manifest_sha256']),
      program_sha256: readDigest(fields['program_sha256']),
      rollback: fields['rollback'] === true,
    }
  },
}

/** Reads the parameters and runs the command. @throws Refused for parameters that make no sense */
export const runHandler = async <T extends CommandType>(
  handlers: Handlers,
  type: T,
  fields: Fields,
  commandId: string,
): Promise<string> => handlers[type](readers[type](fields), commandId)
