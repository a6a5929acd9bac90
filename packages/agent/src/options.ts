import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ParseArgsOptionsConfig } from 'node:util'
import { readEngineSettings } from './engine/places.ts'

/** All paths are options, so that tests can run several agents on one machine. */
export interface Options {
  readonly config: string
  readonly state: string
  readonly run: string
  readonly f2bConfig: string
  /** Null: as fail2ban's configuration says. */
  readonly f2bSocket: string | null
  /** Null: the fail2ban-server on the path. */
  readonly f2bServer: string | null
  readonly f2bClient: string
  readonly nft: readonly string[]
  readonly actionFile: string | null
  readonly service: 'auto' | 'systemd' | 'openrc' | 'client'
  readonly backfill: boolean
  readonly verbose: boolean
  readonly token: string | null
  readonly tokenFile: string | null
  readonly baseUrl: string | null
  readonly ca: string | null
  readonly pins: readonly string[]
  readonly insecureHttp: boolean
  readonly allowUnsigned: boolean
  readonly allowDowngrade: boolean
  /** Where the installer put the releases. */
  readonly root: string
  /** Where systemd reads the agent's units. */
  readonly units: string
  /** Classes of commands that need a signature, separated by commas. */
  readonly types: string | null
  readonly json: boolean
  /** How long the shield stays off, such as 1h; null: until it is switched on. */
  readonly duration: string | null
  /** Multiplies all intervals and delays of the checks of protection, and the trial of a new address; tests make it small. */
  readonly checkPace: number
}

export interface Invocation {
  readonly command: string
  readonly rest: readonly string[]
  readonly options: Options
}

export const usage = `stockade-agent: tells a Stockade server of this host's bans and carries out its orders

  stockade-agent run                       work (what the init system starts)
  stockade-agent enroll --base-url URL     swap a one-time token for this host's key
      token: --token TOKEN, --token-file FILE, or the variable STOCKADE_TOKEN
      --ca FILE                            a private certificate authority, PEM
      --pin sha256//BASE64                 the server's public key; replaces the check by an authority
      http_proxy, https_proxy, no_proxy    in the environment: an HTTP proxy, kept for later
      --insecure-http                      accept plain http to another machine
      --allow-unsigned                     take upgrades that nobody signed
  stockade-agent trust add KEY             take signed commands of an operator, and only signed ones
      --types a,b                          classes that need a signature; unless said, those that can disarm the host
  stockade-agent trust list | trust remove NAME
  stockade-agent move URL                  reach the same server at another address, which must answer first
  stockade-agent upgrade                   install the server's release, or put this one back if it fails
      --allow-downgrade                    also an older one
  stockade-agent status                    what works and what does not (--json for programs)
  stockade-agent --self-test               can this host be watched? exit code 0 or 1
  stockade-agent shield status             the bans that the kernel holds without fail2ban
  stockade-agent shield off [--for 1h] | shield on
                                           lets everything in, and back; needs no server
  stockade-agent shield release ADDRESS    lifts each ban of the shield that covers it
  stockade-agent shield-load               put these bans into the kernel (before the network is up)
  stockade-agent unit systemd|openrc|knock|shield|upgrade
                                           print a service file
  stockade-agent action                    print the action that fail2ban loads
  stockade-agent launcher                  print the program that gives the agent its netlink socket
  stockade-agent alive                     has the server answered the running agent? exit code 0 or 1
  stockade-agent clean [--purge]           remove what the agent put into fail2ban and nftables
  stockade-agent --version | --help

Options
  --config DIR        agent.json and policy.json        /etc/stockade-agent
  --state DIR         outbox, journal, state            /var/lib/stockade-agent
  --run DIR           lock, staging                     /run/stockade-agent
  --f2b-config DIR    fail2ban's configuration          /etc/fail2ban
  --f2b-socket PATH   fail2ban's socket                 as its configuration says
  --f2b-server PATH   fail2ban-server                   from the path
  --f2b-client PATH   fail2ban-client                   fail2ban-client
  --nft "CMD"         the nft program                   nft
  --action-file PATH  where fail2ban loads our action from
  --root DIR          the installed releases            /opt/stockade-agent
  --units DIR         systemd's units                   /etc/systemd/system
  --service KIND      systemd, openrc, client or auto   auto
  --check-pace N      multiplies the intervals of the checks of protection, and of the trial of a new address   1
  --backfill          also report the bans from before the first run
  --verbose
`

const flags = {
  config: { type: 'string', default: '/etc/stockade-agent' },
  state: { type: 'string', default: '/var/lib/stockade-agent' },
  run: { type: 'string', default: '/run/stockade-agent' },
  'f2b-config': { type: 'string', default: '/etc/fail2ban' },
  'f2b-socket': { type: 'string' },
  'f2b-server': { type: 'string' },
  'f2b-client': { type: 'string', default: 'fail2ban-client' },
  nft: { type: 'string', default: 'nft' },
  'action-file': { type: 'string' },
  service: { type: 'string', default: 'auto' },
  backfill: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  'base-url': { type: 'string' },
  ca: { type: 'string' },
  pin: { type: 'string', multiple: true, default: [] },
  'insecure-http': { type: 'boolean', default: false },
  'allow-unsigned': { type: 'boolean', default: false },
  'allow-downgrade': { type: 'boolean', default: false },
  ordered: { type: 'boolean', default: false },
  root: { type: 'string', default: '/opt/stockade-agent' },
  units: { type: 'string', default: '/etc/systemd/system' },
  types: { type: 'string' },
  json: { type: 'boolean', default: false },
  for: { type: 'string' },
  'check-pace': { type: 'string', default: '1' },
  purge: { type: 'boolean', default: false },
  'self-test': { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} satisfies ParseArgsOptionsConfig
type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values']

const orNull = (value: string | undefined): string | null => value ?? null
const optionsOf = (values: Values): Options => {
  const service = values.service
  if (service !== 'auto' && service !== 'systemd' && service !== 'openrc' && service !== 'client') {
    throw new Error('--service must be systemd, openrc, client or auto')
  }
  const checkPace = Number(values['check-pace'])
  if (!(checkPace > 0 && checkPace <= 10)) throw new Error('--check-pace must be a number above 0, 10 at most')
  return {
    config: values.config,
    state: values.state,
    run: values.run,
    f2bConfig: values['f2b-config'],
    f2bSocket: orNull(values['f2b-socket']),
    f2bServer: orNull(values['f2b-server']),
    f2bClient: values['f2b-client'],
    nft: values.nft.split(/\s+/).filter(Boolean),
    actionFile: orNull(values['action-file']),
    service,
    backfill: values.backfill,
    verbose: values.verbose,
    token: orNull(values.token),
    tokenFile: orNull(values['token-file']),
    baseUrl: orNull(values['base-url']),
    ca: orNull(values.ca),
    pins: values.pin,
    insecureHttp: values['insecure-http'],
    allowUnsigned: values['allow-unsigned'],
    allowDowngrade: values['allow-downgrade'],
    root: values.root,
    units: values.units,
    types: orNull(values.types),
    json: values.json,
    duration: orNull(values.for),
    checkPace,
  }
}

/** @throws Error with a sentence, if an argument is not understood */
export const parseInvocation = (args: readonly string[]): Invocation => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: flags,
  })
  const [first = 'help', ...rest] = positionals
  const command = values.version ? 'version' : values.help ? 'help' : values['self-test'] ? 'self-test' : first
  return {
    command,
    rest: [...rest, ...(values.purge ? ['--purge'] : []), ...(values.ordered ? ['--ordered'] : [])],
    options: optionsOf(values),
  }
}

/**
 * With the places of fail2ban that `agent.json` names, where the command line names none.
 *
 * @throws Error with a sentence, if `engine` of that file is not understood
 */
export const withEngineSettings = (options: Options): Options => {
  const settings = readEngineSettings(options.config)
  const isUsualConfig = options.f2bConfig === flags['f2b-config'].default
  return {
    ...options,
    f2bSocket: options.f2bSocket ?? settings?.socket ?? null,
    f2bConfig: isUsualConfig ? (settings?.config ?? options.f2bConfig) : options.f2bConfig,
  }
}

export const spoolFile = (options: Options): string => join(options.state, 'events.jsonl')
