import { Resolver } from 'node:dns'
import { resolve } from 'node:path'
import { createPublicKey } from 'node:crypto'
import { bounds } from '@stockade/contract/limits.ts'
import { readOr } from '@stockade/contract/untrusted.ts'
import { createReader } from './config-reader.ts'
import type { Reader } from './config-reader.ts'
import { readHttpPort, readTls } from './config-tls.ts'
import type { TlsConfig } from './config-tls.ts'
import { parseRange } from './core/ip.ts'
import { mailNameOf } from './core/mail-name.ts'
import { places } from './core/places.ts'
import { brokenRule } from './core/password-rules.ts'

/** Backups that the server makes by itself. */
export interface BackupConfig {
  readonly folder: string
  /** Local time. */
  readonly at: { readonly hour: number; readonly minute: number }
  /** A recipient of age (age-encryption.org); null: they are not encrypted. */
  readonly recipient: string | null
  /** What opens them, so that they can be tried out. */
  readonly identityFile: string | null
}

/** The configuration of one process, read once from the environment. Times in seconds. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Without a slash at its end; null when unset, then `site_url` of the settings counts. */
  readonly baseUrl: string | null
  /** Certificate and key. Null: plain http, for a proxy in front to encrypt. */
  readonly tls: TlsConfig | null
  /** Port for plain http that leads to https; null: none. */
  readonly httpPort: number | null
  readonly dataDir: string
  /** How long the process goes on answering after SIGTERM, so that a load balancer takes it out first. */
  readonly drainSeconds: number
  /** The release of the agent that hosts get. */
  readonly agentDir: string
  readonly databaseUrl: string | null
  /** A standby of PostgreSQL for long reads; null: none. */
  readonly databaseReadUrl: string | null
  /** Whether SQLite's file is copied before its schema changes. */
  readonly isUpgradeCopied: boolean
  /** Whether the schema of a large PostgreSQL database may change: somebody has saved it. */
  readonly isUpgradeConfirmed: boolean
  readonly backups: BackupConfig | null
  readonly secretKey: string | null
  readonly admin: { readonly username: string; readonly email: string; readonly password: string } | null
  readonly rateLimit: number
  readonly rateLimitSensitive: number
  readonly trustedProxies: readonly string[]
  readonly licenseKey: string | null
  readonly licensePublicKey: string | null
  readonly heartbeatInterval: number
  readonly offlineAfter: number
  readonly commandTtl: number
  readonly commandTimeout: number
  readonly banRetentionDays: number
  readonly eventRetentionDays: number
  /** What one server may report on a UTC day, and how many bans without an end it may have; 0: as much as it likes. */
  readonly quotaRows: number
  readonly quotaBytes: number
  readonly quotaEndless: number
  /** Bytes of log lines that are kept of a ban. */
  readonly logLines: number
  /** Everything in it is made up, and every page says so. */
  readonly demo: boolean
  readonly geoipCity: string | null
  readonly geoipAsn: string | null
  readonly reputationUrl: string
  readonly providerAUrl: string
  readonly providerAApiUrl: string
  /** As its discovery document writes it, with or without a slash at its end. */
  readonly providerBIssuer: string
  /** Whether its addresses count as verified where it does not say that they are. */
  readonly providerBVouchesForEmails: boolean
  /** What Stockade calls itself to mail servers (EHLO); null: a name that is found. */
  readonly smtpName: string | null
  /** Resolvers for DNS names on the whitelist, as `address` or `address:port`; null: those of the system. */
  readonly dnsServers: readonly string[] | null
  /** Jails with series of their own at GET /metrics; 0: no series by server. */
  readonly metricsJails: number
  readonly logLevel: string
  /** File for refusals, a line each; null: standard error only. */
  readonly securityLog: string | null
}

const web = ['http:', 'https:']
const github = 'https://github.com'
const githubApi = 'https://api.github.com'
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Null where no folder is named. */
const readBackups = ({ text, refuse }: Reader): BackupConfig | null => {
  const folder = text('BACKUP_DIR')
  const [at, recipient, identityFile] = [text('BACKUP_AT'), text('BACKUP_RECIPIENT'), text('BACKUP_IDENTITY_FILE')]
  const texts = { BACKUP_AT: at, BACKUP_RECIPIENT: recipient, BACKUP_IDENTITY_FILE: identityFile }
  if (folder === null) {
    const alone = Object.entries(texts).find(([, value]) => value !== null)
    return alone ? refuse(alone[0], 'needs STOCKADE_BACKUP_DIR, the folder for backups.') : null
  }
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(at ?? '03:17') ?? []
  if (hour === undefined || minute === undefined)
    return refuse('BACKUP_AT', `must be a time from 00:00 to 23:59, such as 03:17, not "${at}".`)
  if (recipient !== null && !/^age1[0-9a-z]{20,}$/.test(recipient))
    return refuse('BACKUP_RECIPIENT', `must be a recipient of age, which begins with age1, not "${recipient}".`)
  return {
    folder: resolve(folder),
    at: { hour: Number(hour), minute: Number(minute) },
    recipient,
    identityFile: identityFile === null ? null : resolve(identityFile),
  }
}

type DatabaseConfig = Pick<
  Config,
  'databaseUrl' | 'databaseReadUrl' | 'secretKey' | 'isUpgradeCopied' | 'isUpgradeConfirmed'
>
const readDatabase = ({ postgresUrl, secret, choice, refuse }: Reader): DatabaseConfig => {
  const databaseUrl = postgresUrl('DATABASE_URL')
  const databaseReadUrl = postgresUrl('DATABASE_READ_URL')
  if (databaseReadUrl !== null && databaseUrl === null)
    refuse('DATABASE_READ_URL', 'names a standby of PostgreSQL and needs STOCKADE_DATABASE_URL, its primary.')
  const secretKey = secret('SECRET_KEY')
  if (secretKey !== null && secretKey.length < 32) refuse('SECRET_KEY', 'must have at least 32 characters.')
  if (databaseUrl !== null && secretKey === null)
    refuse(
      'SECRET_KEY',
      'is required with PostgreSQL, because all processes share it. Make one with: openssl rand -base64 48',
    )
  return {
    databaseUrl,
    databaseReadUrl,
    secretKey,
    isUpgradeCopied: choice('MIGRATE_COPY', ['yes', 'no'], 'yes') === 'yes',
    isUpgradeConfirmed: choice('MIGRATE', ['yes', 'no'], 'no') === 'yes',
  }
}

const readProxies = ({ text, refuse }: Reader): readonly string[] => {
  const proxies = (text('TRUSTED_PROXIES') ?? '').split(',').flatMap(part => part.trim() || [])
  const odd = proxies.find(proxy => !parseRange(proxy))
  return odd === undefined
    ? proxies
    : refuse('TRUSTED_PROXIES', `must be addresses or CIDRs with commas between; "${odd}" is neither.`)
}

const isEd25519 = (pem: string): boolean => readOr(false, () => createPublicKey(pem).asymmetricKeyType === 'ed25519')
const readLicence = ({ secret, refuse }: Reader): Pick<Config, 'licenseKey' | 'licensePublicKey'> => {
  const licensePublicKey = secret('LICENSE_PUBLIC_KEY')
  if (licensePublicKey !== null && !isEd25519(licensePublicKey))
    refuse('LICENSE_PUBLIC_KEY', 'must be the PEM text of an Ed25519 public key.')
  const licenseKey = secret('LICENSE_KEY')
  if (licenseKey !== null && licensePublicKey === null)
    refuse('LICENSE_KEY', 'can be verified only with STOCKADE_LICENSE_PUBLIC_KEY; set that too.')
  return { licenseKey, licensePublicKey }
}

/** The administrator to begin with; null where none is named. */
const readAdmin = ({ text, secret, refuse }: Reader): Config['admin'] => {
  const username = text('ADMIN_USERNAME')
  const email = text('ADMIN_EMAIL')
  const password = secret('ADMIN_PASSWORD')
  if (username === null && email === null && password === null) return null
  if (username === null || email === null || password === null)
    return refuse(
      'ADMIN_USERNAME',
      ', STOCKADE_ADMIN_EMAIL and STOCKADE_ADMIN_PASSWORD go together: set all three or none.',
    )
  const { minimum, maximum } = bounds.username
  if (!/^\w+$/.test(username) || username.length < minimum || username.length > maximum)
    refuse('ADMIN_USERNAME', `must be ${minimum} to ${maximum} letters, digits and underscores, not "${username}".`)
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254)
    refuse('ADMIN_EMAIL', `must be an e-mail address, not "${email}".`)
  const broken = brokenRule(password, bounds.password.minimum)
  if (broken) refuse('ADMIN_PASSWORD', `${broken}.`)
  return { username, email, password }
}

type Times = Pick<
  Config,
  'heartbeatInterval' | 'offlineAfter' | 'commandTtl' | 'commandTimeout' | 'banRetentionDays' | 'eventRetentionDays'
>
const readTimes = ({ whole, refuse }: Reader): Times => {
  const heartbeatInterval = whole('HEARTBEAT_INTERVAL', 30, 1, 3600)
  const offlineAfter = whole('OFFLINE_AFTER', 90, 2, 86_400)
  if (offlineAfter <= heartbeatInterval) refuse('OFFLINE_AFTER', 'must be longer than STOCKADE_HEARTBEAT_INTERVAL.')
  return {
    heartbeatInterval,
    offlineAfter,
    commandTtl: whole('COMMAND_TTL', 86_400, 1, 2_592_000),
    commandTimeout: whole('COMMAND_TIMEOUT', 300, 1, 86_400),
    banRetentionDays: whole('BAN_RETENTION_DAYS', 365, 1, 36_500),
    eventRetentionDays: whole('EVENT_RETENTION_DAYS', 90, 1, 36_500),
  }
}

type Limits = Pick<
  Config,
  'rateLimit' | 'rateLimitSensitive' | 'quotaRows' | 'quotaBytes' | 'quotaEndless' | 'logLines' | 'metricsJails'
>
const readLimits = ({ whole }: Reader): Limits => ({
  rateLimit: whole('RATE_LIMIT', 100, 0, 1_000_000),
  rateLimitSensitive: whole('RATE_LIMIT_SENSITIVE', 10, 0, 1_000_000),
  quotaRows: whole('QUOTA_ROWS', bounds.reportsPerDay, 0, 1_000_000_000),
  quotaBytes: whole('QUOTA_BYTES', 512 * 1024 * 1024, 0, 1024 ** 4),
  quotaEndless: whole('QUOTA_ENDLESS', 100_000, 0, 1_000_000_000),
  logLines: whole('LOG_LINES', bounds.logLines, 256, bounds.logLines),
  metricsJails: whole('METRICS_JAILS', 20_000, 0, 1_000_000),
})

type OthersConfig = Pick<
  Config,
  | 'geoipCity'
  | 'geoipAsn'
  | 'reputationUrl'
  | 'providerAUrl'
  | 'providerAApiUrl'
  | 'providerBIssuer'
  | 'providerBVouchesForEmails'
>
/** Issuers of Entra ID for accounts of every organisation: each of these may write any address into its accounts. */
const isOfManyTenants = (issuer: string): boolean =>
  /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)(?:\/|$)/i.test(issuer)

const readOthers = ({ text, url, address, flag, refuse }: Reader): OthersConfig => {
  const providerAUrl = url('PROVIDER_A_URL', web) ?? github
  const providerBIssuer = address('PROVIDER_B_ISSUER', web) ?? 'https://accounts.google.com'
  const providerBVouchesForEmails = flag('PROVIDER_B_EMAILS_VERIFIED')
  if (providerBVouchesForEmails && isOfManyTenants(providerBIssuer))
    refuse(
      'PROVIDER_B_EMAILS_VERIFIED',
      `needs an issuer of one tenant: with ${providerBIssuer} any organisation could name an address of yours.`,
    )
  return {
    geoipCity: text('GEOIP_CITY'),
    geoipAsn: text('GEOIP_ASN'),
    reputationUrl: url('REPUTATION_URL', web) ?? 'https://api.abuseipdb.com/api/v2',
    providerAUrl,
    providerAApiUrl: url('PROVIDER_A_API_URL', web) ?? (providerAUrl === github ? githubApi : `${providerAUrl}/api/v3`),
    providerBIssuer,
    providerBVouchesForEmails,
  }
}

const readSmtpName = ({ text, refuse }: Reader): string | null => {
  const nameText = text('SMTP_NAME')
  const name = nameText === null ? null : mailNameOf(nameText)
  if (nameText !== null && name === null)
    refuse('SMTP_NAME', `must be a host name with a dot, or an address, not "${nameText}".`)
  return name
}

const readDnsServers = ({ text, refuse }: Reader): readonly string[] | null => {
  const serversText = text('DNS_SERVERS')
  if (serversText === null) return null
  const servers = serversText.split(',').flatMap(part => part.trim() || [])
  const isWrong = readOr(true, () => {
    new Resolver().setServers(servers)
    return servers.length === 0
  })
  return isWrong
    ? refuse(
        'DNS_SERVERS',
        `must be addresses with commas between, with :port where it is not 53, not "${serversText}".`,
      )
    : servers
}

/**
 * Reads and checks every variable.
 * @throws ConfigError that names the variable and says what it may be.
 */
export const readConfig = (env: Readonly<Record<string, string | undefined>>): Config => {
  const reader = createReader(env)
  const { text, whole, choice, url } = reader
  const database = readDatabase(reader)
  const dataDir = resolve(text('DATA_DIR') ?? './data')
  const baseUrl = url('BASE_URL', web)
  const tls = readTls(reader, {
    dataDir,
    baseUrl,
    isShared: database.databaseUrl !== null,
    directory: url('ACME_DIRECTORY', ['https:']),
  })
  const securityLog = text('SECURITY_LOG')
  return Object.freeze({
    host: text('HOST') ?? '0.0.0.0',
    port: whole('PORT', 8420, 0, 65_535),
    baseUrl,
    tls,
    httpPort: readHttpPort(reader, tls),
    dataDir,
    drainSeconds: whole('DRAIN_SECONDS', 0, 0, 300),
    agentDir: resolve(text('AGENT_DIR') ?? places.agent),
    ...database,
    backups: readBackups(reader),
    admin: readAdmin(reader),
    trustedProxies: readProxies(reader),
    ...readLicence(reader),
    ...readTimes(reader),
    ...readLimits(reader),
    demo: reader.flag('DEMO'),
    ...readOthers(reader),
    logLevel: choice('LOG_LEVEL', levels, 'info'),
    smtpName: readSmtpName(reader),
    dnsServers: readDnsServers(reader),
    securityLog: securityLog === null ? null : resolve(securityLog),
  })
}
