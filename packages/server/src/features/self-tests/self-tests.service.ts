import { system } from '../../core/author.ts'
import { day } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Events } from '../../events/events.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import { levelOf } from '../servers/protection.ts'
import type { Registry, Server } from '../servers/registry.ts'
import type { ServersService } from '../servers/servers.service.ts'
import { selfTestOf, updateServer } from '../servers/servers.store.ts'
import type { SettingsService } from '../settings/settings.service.ts'

/** Servers that are asked in one run of the job, so that a new version of Stockade does not ask a whole fleet at once. */
const mostAtOnce = 50

/** Asks hosts by itself to prove that a ban stops packets: after their enrolment, after upgrades of the agent, and daily. */
export const createSelfTests = (needs: {
  clock: Clock
  events: Events
  registry: Registry
  settings: Pick<SettingsService, 'get'>
  servers: Pick<ServersService, 'isWithheld'>
  commands: Pick<CommandsService, 'queue'>
}): { askDue(): Promise<void> } => {
  const { clock, events, registry, settings, servers, commands } = needs

  const isDue = (server: Server, isDaily: boolean): boolean => {
    const { row } = server
    // The level is unknown in the first minute of an agent, which still looks around then.
    const isReady = row.status === 'online' && row.shield_supported === 1 && levelOf(server) !== 'unknown'
    if (!isReady || servers.isWithheld(row.no)) return false
    if (row.self_test_asked_at === null) return true
    const last = selfTestOf(row.self_test)
    if (row.self_test_asked_at > clock() - day || last?.result === 'untried') return false
    return isDaily || last === null
  }
  /** False where another process, or a removal, was first. */
  const claim = (no: number): Promise<boolean> =>
    events
      .change(change => updateServer(change.sql, no, { self_test_asked_at: clock() }, 'online'))
      .then(row => {
        if (row) registry.put(row)
        return row !== undefined
      })
  return {
    async askDue() {
      const when = settings.get('security.self_tests')
      if (when === 'off') return
      const due = registry.all().filter(server => isDue(server, when === 'daily'))
      for (const { row } of due.slice(0, mostAtOnce))
        if (await claim(row.no)) await commands.queue(system, row.no, 'self-test', {})
    },
  }
}
