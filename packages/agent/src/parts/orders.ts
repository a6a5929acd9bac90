import { createGuard } from '../commands/guard.ts'
import { createHandlers } from '../commands/handlers.ts'
import { createPreviews } from '../commands/preview.ts'
import { createRunner } from '../commands/runner.ts'
import { createShieldOrders } from '../commands/shield-orders.ts'
import { serviceKind } from '../host.ts'
import { ownAddresses } from '../protection/firewall/facts.ts'
import { createProtection } from '../protection/protection.ts'
import { createHostSelfTest } from '../self-test/host-self-test.ts'
import { createTemplates } from '../templates/templates.ts'
import type { Assembled } from './assembled.ts'
import type { createHeld } from './held.ts'

/** What runs commands, and what judges whether the host is protected. */
export const createOrders = (parts: Assembled, held: ReturnType<typeof createHeld>, settle: () => Promise<void>) => {
  const { options, disk, fail2ban, loops, now, log } = parts
  const { policy, saved, upgrades, journal } = disk
  const { python, enginePython, config, probe, probeAll, socketPath, places, whereabouts, engine, loader } = fail2ban
  const { ledger, tail, overrides, snapshot, wishes } = parts.bans
  const { drain } = tail
  const { approvals, floor, whitelist } = held
  const { shield, fleet } = held.hostShield

  const guard = createGuard({ floor, whitelisted: whitelist.covers })
  const shieldOrders = createShieldOrders({ shield, fleet, guard, now })
  const templates = createTemplates({ engine, config, loader, python: enginePython, policy, places, drain })
  const handlers = createHandlers({
    ...{ engine, config, loader, ledger, overrides, guard, templates, drain, settle, now },
    memory: saved.memory,
    shield: shieldOrders,
    unbanLater: wishes.unbanLater,
    save: saved.save,
    ensureOwnJail: parts.ownJailKeeper.ensure,
    unsettled() {
      snapshot.unsettled()
      protection.hold('everything')
    },
    client: [options.f2bClient, '-c', options.f2bConfig, '-s', socketPath],
    service: serviceKind(options),
    reloader: () => (places.isMapped ? 'agent' : whereabouts.hasOtherPaths() ? null : 'client'),
    isRestartable: () => !whereabouts.hasOwnFiles(),
    nft: options.nft,
    approvals: approvals.handlers,
    selfTest: createHostSelfTest({
      ...{ probe, probeAll, engine, config, loader, places, whereabouts, options, now },
      testBan: shield.testBan,
      isShielded: ip => shield.has(ip),
    }),
    previews: createPreviews({
      ...{ engine, config, templates, python: enginePython, policy, places, ownAddresses, now },
      isReachable: () => places.isMapped || !whereabouts.hasOwnFiles(),
      whitelisted: whitelist.covers,
    }),
    upgrade: upgrades.handler,
  })
  const runner = createRunner({
    ...{ handlers, journal, policy, log },
    seals: held.seals,
    isShieldUsed: shieldOrders.isUsed,
    onResult: (command, success) => {
      loops().results.wake()
      if (success && command && /^jail-|-template$/.test(command.type)) loops().heartbeat.wake()
    },
  })
  const protection = createProtection({
    ...{ engine, config, python, socketPath, places, whereabouts, shield, floor, probeAll, options, now, log },
    transport: parts.server.transport,
    outbox: disk.outbox,
    rejected: disk.rejected,
    bans: { ledger, overrides, whitelist, drain },
    generation: held.kernel.generation,
    whyNotProbe: () => policy.whyNotCommand('self-test', {}),
    onNews: () => loops().heartbeat.wake(),
  })
  return { runner, protection }
}
