import { isPlainHttp } from './config.ts'
import { presentIdentity } from './move/record.ts'
import { faultsOf } from './engine/config.ts'
import { insideText } from './engine/places.ts'
import { oneOffTransport } from './one-off.ts'
import type { Options } from './options.ts'
import { isAgentRunning } from './lock.ts'
import { findFail2ban } from './parts/fail2ban.ts'
import { runProgram } from './process.ts'
import { readProtection } from './protection/protection.ts'
import { proxyName } from './proxy.ts'
import { reader } from './python/programs.ts'
import { readTable, tableStart } from './bans/table.ts'
import { errorText } from './text.ts'

export interface Finding {
  readonly what: string
  readonly good: boolean
  /** Without it the host cannot be watched. */
  readonly needed: boolean
  readonly says: string
}

/** A look that ends at once. */
const nobody = { up: () => undefined, down: () => undefined }

/** Checks everything that the agent depends on. `server`: also the server, which needs an enrolled host. */
export const diagnose = async (options: Options, withServer: boolean): Promise<Finding[]> => {
  const { python, enginePython, config, socketPath, engine } = await findFail2ban(options, nobody)
  const findings: Finding[] = []
  const attempt = async (what: string, needed: boolean, work: () => Promise<string>): Promise<void> => {
    try {
      findings.push({ what, needed, good: true, says: await work() })
    } catch (error) {
      findings.push({ what, needed, good: false, says: errorText(error) })
    }
  }

  await attempt('node', true, () => Promise.resolve(process.version))
  await attempt("fail2ban's Python", true, async () => {
    const version = await enginePython.run(
      'import fail2ban.version, sqlite3, sys; print(fail2ban.version.version, sys.version.split()[0])',
      {},
    )
    return `${enginePython.command.join(' ')}: fail2ban ${version.trim().replace(' ', ', Python ')}`
  })
  await attempt("fail2ban's socket", true, async () => {
    await engine.ping()
    return `fail2ban ${engine.version() ?? ''} at ${socketPath}, jails: ${(await engine.jails()).join(', ') || 'none'}`
  })
  await attempt('ban table', false, async () => {
    const file = await engine.databaseFile()
    if (file === null) {
      const name = await engine.databaseName()
      const why =
        name === null
          ? 'fail2ban keeps its bans in no file (dbfile is None or :memory:)'
          : insideText(`its database ${name}`)
      throw new Error(`${why}: bans that end at once may be missed`)
    }
    await readTable(python, reader, file, tableStart)
    return file
  })
  await attempt('configuration', false, async () => {
    const check = await config.check(null)
    const faults = faultsOf(check)
    if (faults.length > 0) throw new Error(`the next restart of fail2ban may fail: ${faults.join('; ')}`)
    return `${check.jails.size} enabled jails are sound`
  })
  await attempt('nftables', false, async () => {
    const ran = await runProgram([...options.nft, 'list', 'tables'], { timeout: 5000 })
    if (ran.code !== 0) throw new Error(ran.stderr.trim() || 'nft does not work')
    return 'nft works'
  })
  engine.close()
  if (withServer) {
    await attempt('protection', false, () => Promise.resolve(protectionText(options.run)))
    await attempt('server', true, async () => {
      const identity = presentIdentity(options, process.env)
      const { base_url: baseUrl, api_key: apiKey, ca, pins, proxy } = identity
      const transport = oneOffTransport({ baseUrl, apiKey, ca, pins, proxy })
      try {
        await transport.json('GET', '/api/v1/health', { timeout: 10_000 })
        const plain = isPlainHttp(identity.base_url)
        const way = proxy === null ? '' : ` through the proxy ${proxyName(proxy)}`
        return `${identity.base_url} answers${way}${plain ? '; it is plain http: anybody on the way can read and change what is ordered' : ''}`
      } finally {
        transport.close()
      }
    })
  }
  return findings
}

/** @throws Error with the reasons, if the running agent does not call this host protected */
const protectionText = (runDirectory: string): string => {
  const protectionState = isAgentRunning(runDirectory) ? readProtection(runDirectory) : null
  if (protectionState === null) throw new Error('unknown: the agent is not running, or has not looked yet')
  const text = [`${protectionState.level}: ${protectionState.summary}`, ...protectionState.details].join('\n      ')
  if (protectionState.level !== 'protected') throw new Error(text)
  return text
}

export const findingsText = (findings: readonly Finding[]): string =>
  findings
    .map(({ what, good, needed, says }) => `${good ? 'ok  ' : needed ? 'FAIL' : 'warn'}  ${what}: ${says}\n`)
    .join('')
