import * as fs from 'node:fs'
import { join } from 'node:path'
import { createEvenTime, steadyNow } from '../clock.ts'
import type { EngineConfig } from '../engine/config.ts'
import { sharedAge } from '../engine/engine.ts'
import type { Engine } from '../engine/engine.ts'
import type { Places } from '../engine/places.ts'
import { ownNetworkText } from '../engine/whereabouts.ts'
import type { Whereabouts } from '../engine/whereabouts.ts'
import { readJson, writeDurably } from '../files.ts'
import { asFields, asList, asText } from '../json.ts'
import type { Log } from '../log.ts'
import type { Options } from '../options.ts'
import type { Outbox } from '../outbox.ts'
import type { Rejected } from '../rejected.ts'
import type { Interpreter } from '../python/interpreter.ts'
import { journal, positions as positionsProgram } from '../python/programs.ts'
import { errorText } from '../text.ts'
import type { Transport } from '../transport.ts'
import { agentCheck } from './checks/agent.ts'
import { clockCheck } from './checks/clock.ts'
import { configCheck } from './checks/config.ts'
import { databaseCheck } from './checks/database.ts'
import { enforcedCheck } from './checks/enforced.ts'
import { filterCheck } from './checks/filter.ts'
import { createWindowFile } from './checks/filter-window.ts'
import { engineCheck } from './checks/engine.ts'
import { ignoreCheck } from './checks/ignore.ts'
import { jailCheck } from './checks/jail.ts'
import { keepCheck } from './checks/keep.ts'
import { logCheck } from './checks/log.ts'
import { createPortsCheck } from './checks/ports.ts'
import { forwardedPorts, publishedCheck, redirectsPorts } from './checks/published.ts'
import { shieldCheck } from './checks/shield.ts'
import { witnessCheck } from './checks/witness.ts'
import type { Shield } from '../shield/model.ts'
import type { ProbeAll } from '../self-test/probe.ts'
import { createJournalJails } from './journal/journal-jails.ts'
import { hasLegacyRules, listeners, outerDevices, ownAddresses } from './firewall/facts.ts'
import { createRuns } from './firewall/holds.ts'
import { createJailFirewalls } from './firewall/jail-firewalls.ts'
import { createNftListings } from './firewall/nft-listings.ts'
import type { NftListings } from './firewall/nft-listings.ts'
import { portsOf } from './firewall/owners.ts'
import { createPacketProof } from './firewall/packet-proof.ts'
import { createPrograms } from './firewall/programs.ts'
import { createRulesMark } from './firewall/rules-mark.ts'
import { createPositions } from './log-positions.ts'
import { createJournalLogins } from './logins/journal.ts'
import { createUtmpLogins } from './logins/utmp.ts'
import { bad } from './model.ts'
import type { Check, Finding } from './model.ts'
import { defaultPatience } from './tracker.ts'
import type { Patience } from './tracker.ts'
import { createWatch } from './watch.ts'
import type { Watch } from './watch.ts'

const reportFile = (runDirectory: string): string => join(runDirectory, 'protection.json')

/** The state of protection of this host. */
export const createProtection = (needs: {
  engine: Engine
  config: EngineConfig
  python: Interpreter
  socketPath: string
  places: Places
  whereabouts: Whereabouts
  transport: Pick<Transport, 'clockOffset'>
  outbox: Pick<Outbox, 'bytes'>
  rejected: Pick<Rejected, 'lately'>
  shield: Shield
  floor: Parameters<typeof keepCheck>[0]['floor']
  bans: Pick<Parameters<typeof keepCheck>[0], 'ledger' | 'overrides' | 'whitelist' | 'drain'>
  /** Changes with each change of nftables; null when the kernel cannot be asked. */
  generation: () => number | null
  /** Sends test packets, unless the host's policy refuses them. */
  probeAll: ProbeAll
  whyNotProbe: () => string | null
  options: Pick<Options, 'nft' | 'run' | 'state' | 'checkPace'>
  /** A problem began or ended. */
  onNews: () => void
  now: () => number
  log: Log
}): Watch => {
  const { engine, config, python, options } = needs
  const pace = options.checkPace
  const isElsewhere = needs.whereabouts.hasOwnFiles
  const nft = createNftListings({ nft: options.nft, generation: needs.generation })
  const positions = createPositions({ python, program: positionsProgram })
  const checks: Check[] = [
    engineCheck(needs),
    jailCheck(needs),
    ignoreCheck({ engine, config, now: needs.now }),
    logCheck({
      engine,
      config,
      places: needs.places,
      isElsewhere,
      positions,
      journalJails: createJournalJails({ engine, config, python, program: journal, now: needs.now }),
    }),
    ...banChecks({ ...needs, nft }),
    shieldCheck(needs),
    keepCheck({ ...needs, ...needs.bans }),
    publishedCheck({ nft }),
    databaseCheck({ engine, positions, isElsewhere }),
    configCheck(needs),
    clockCheck(needs.transport),
    agentCheck({ waitingBytes: needs.outbox.bytes, refused: needs.rejected.lately, stateDirectory: options.state }),
  ]
  const file = reportFile(options.run)
  fs.rmSync(file, { force: true })
  return createWatch({
    ...needs,
    time: createEvenTime({ now: needs.now, steadyNow }),
    checks: checks.map(check => ({ ...check, every: check.every * pace, badAfter: check.badAfter * pace })),
    patience: patienceAt(pace),
    onChange(report, isNews) {
      try {
        writeDurably(file, JSON.stringify(report))
      } catch (error) {
        needs.log.debug(`the state of protection cannot be written: ${errorText(error)}`)
      }
      if (isNews) needs.onNews()
    },
  })
}

/** What shows whether attackers are seen and bans hold. */
const banChecks = (
  needs: Pick<
    Parameters<typeof createProtection>[0],
    | 'engine'
    | 'config'
    | 'socketPath'
    | 'places'
    | 'whereabouts'
    | 'shield'
    | 'generation'
    | 'probeAll'
    | 'whyNotProbe'
    | 'options'
    | 'log'
  > & { nft: NftListings },
): Check[] => {
  const { engine, config, generation, nft } = needs
  const packets = createPacketProof({
    ...{ engine, listeners, steadyNow },
    probeAll: needs.probeAll,
    addresses: ownAddresses,
    published: () => forwardedPorts(nft),
    redirects: () => redirectsPorts(nft),
    rules: createRulesMark({ nft, generation }),
    isShielded: ip => needs.shield.has(ip),
    whyNot: needs.whyNotProbe,
    pace: needs.options.checkPace,
  })
  const firewalls = createJailFirewalls(engine)
  const ports = createPortsCheck({ engine, config, firewalls, listeners, steadyNow, portsOf })
  /** Rules, packets and programs of this network say nothing of bans in another one. */
  const here = (check: Check, otherwise: readonly Finding[] = []): Check => ({
    ...check,
    async look() {
      // Throws while fail2ban is down: where it listens is known only while it does.
      await engine.jails(sharedAge)
      return needs.whereabouts.hasOwnNetwork() ? otherwise : check.look()
    },
  })
  const checks = [
    enforcedCheck({
      ...{ engine, firewalls, packets, listeners, outerDevices, hasLegacyRules },
      programs: createPrograms(config, needs.whereabouts.hasOwnFiles),
      run: createRuns({ nft, generation, steadyNow }),
    }),
    witnessCheck({
      engine,
      places: needs.places,
      isRefused: (jail, ip) => ports.isWhollyClosed(jail) && packets.isStopped(jail, ip),
    }),
    ports.check,
    filterCheck({
      ...{ engine, config, ownAddresses },
      sources: [createJournalLogins(), createUtmpLogins()],
      file: createWindowFile({ ...needs, path: join(needs.options.state, 'failed-logins.json'), warn: needs.log.warn }),
      pace: needs.options.checkPace,
    }),
  ]
  return checks.map((check, index) => here(check, index === 0 ? [bad(null, ownNetworkText)] : []))
}

const patienceAt = (pace: number): Patience => ({
  okAfter: defaultPatience.okAfter * pace,
  steadyAfter: defaultPatience.steadyAfter * pace,
  failedAfter: defaultPatience.failedAfter * pace,
  hold: defaultPatience.hold * pace,
  longestHold: defaultPatience.longestHold * pace,
  longestWait: defaultPatience.longestWait * pace,
})

/** What the running agent found last, for the command line; null if it wrote nothing. */
export const readProtection = (
  runDirectory: string,
): { level: string; summary: string; details: readonly string[] } | null => {
  const report = asFields(readJson(reportFile(runDirectory)))
  const level = asText(report['level'])
  if (level === '') return null
  const details = asList(report['checks']).map(check => {
    const { state, detail } = asFields(check)
    return `${asText(state)}: ${asText(detail)}`
  })
  return { level, summary: asText(report['summary']), details }
}
