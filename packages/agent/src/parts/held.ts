import { join } from 'node:path'
import { closedPort, unapprovedPort, wideBan, wideWhitelist } from '@stockade/contract/seal.ts'
import { createKnock } from '../knock/knock.ts'
import { inheritedConnection } from '../netlink/connection.ts'
import { nftablesSubsystem } from '../netlink/tables.ts'
import { createFloor } from '../policy/floor.ts'
import { approvalsFile, openApprovals } from '../seal/approvals.ts'
import { createSealGate } from '../seal/gate.ts'
import { openSpent } from '../seal/spent.ts'
import { createHostShield } from '../shield/host-shield.ts'
import { openKernel } from '../shield/open.ts'
import { loginSources } from '../shield/sessions.ts'
import { createStore } from '../whitelist/store.ts'
import { createWhitelist } from '../whitelist/whitelist.ts'
import type { Assembled } from './assembled.ts'

/** What the server wants the host to hold: whitelist, knock sequences and shield, and the signatures that some of it needs. */
export const createHeld = (parts: Assembled) => {
  const { identity, options, server, fail2ban, loops, now, log } = parts
  const { engine, config, loader } = fail2ban
  const { ledger, tail, overrides } = parts.bans
  const { drain } = tail
  const { clockOffset } = server.transport
  const onHeld = (): void => loops().state.again()

  const seals = createSealGate({
    configDirectory: options.config,
    serverId: identity.server_id,
    spent: openSpent(join(options.state, 'seals.json'), now),
    now,
  })
  const approvals = openApprovals(approvalsFile(options.state), () => {
    onHeld()
    void knock.judgeAgain()
  })
  const store = createStore(options.state)
  const whitelist = createWhitelist({
    ...{ store, engine, config, ledger, overrides, drain, onHeld, now, log },
    mustBeShared: loader.mustBeShared,
    limits: parts.disk.policy.whitelistLimits,
    approvals: () => (seals.wants(wideWhitelist) ? approvals : null),
  })
  const connection = inheritedConnection(nftablesSubsystem)
  const knock = createKnock({
    ...{ clockOffset, now, log },
    stateDirectory: options.state,
    serverId: identity.server_id,
    nft: options.nft,
    connection,
    whyNotClose: (port, holds) =>
      parts.disk.policy.whyNotClose(port, holds) ??
      (holds || approvals.isPortApproved(port) || !seals.wants(closedPort) ? null : unapprovedPort(port)),
    onWanted: ports => approvals.followPorts(ports),
    allowed: whitelist.listed,
    answers: server.wire.answers,
    append: parts.append,
    changed: () => loops().state.knocksChanged(),
  })
  const floor = createFloor({
    baseUrls: () => [identity.base_url, server.mover.url()],
    proxy: identity.proxy,
    peer: server.transport.peer,
    now,
  })
  const kernel = openKernel(options.nft, connection)
  const hostShield = createHostShield({
    ...{ kernel, loginSources, whitelist, floor, engine, ledger, overrides, drain, onHeld, clockOffset, now, log },
    policy: parts.disk.policy,
    approvals: () => (seals.wants(wideBan) ? approvals : null),
    stateDirectory: options.state,
    runDirectory: options.run,
    ensureOwnJail: parts.ownJailKeeper.ensure,
    memory: parts.disk.saved.memory,
    wire: server.wire,
    verify: () => loops().state.verify(),
  })
  return { seals, approvals, store, whitelist, knock, floor, kernel, hostShield }
}
