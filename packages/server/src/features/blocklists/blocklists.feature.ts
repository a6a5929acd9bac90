import { hour, second } from '../../core/clock.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { CommandsService } from '../commands/commands.service.ts'
import type { Core, Feature } from '../feature.ts'
import type { IpInfo } from '../ipinfo/ipinfo.service.ts'
import type { Protection } from '../reach/protected.ts'
import type { Registry } from '../servers/registry.ts'
import type { ServerTags } from '../servers/tags.ts'
import type { Targeting } from '../servers/targets.ts'
import type { Mirror } from '../whitelist/mirror.ts'
import { mountBlocklists } from './blocklists.routes.ts'
import { createBlocklists } from './blocklists.service.ts'
import type { Blocklists } from './blocklists.service.ts'
import { createHostLists } from './host-lists.ts'
import { createListMetrics } from './list-metrics.ts'
import { createListThreads } from './list-threads.ts'
import { createPreview } from './preview.ts'
import { createBlocklistReading } from './reading.ts'
import { takeSource } from './sources.ts'
import { createUpdates } from './updates.ts'

/** Lists of addresses that somebody else keeps, fetched here and held by hosts as desired state. */
export const blocklistsFeature = async (
  needs: Core & {
    targeting: Targeting
    tags: ServerTags
    registry: Registry
    mirror: Mirror
    protection: Protection
    commands: CommandsService
    ipinfo: IpInfo
    outgoing: Outgoing
    baseUrl: () => string
  },
): Promise<Feature<Blocklists>> => {
  const { registry, commands } = needs
  const lists = await createHostLists(needs)
  // After the reply to the operator: waking a thousand hosts takes longer than the change.
  const wake = (nos: () => readonly number[]) => {
    setImmediate(() => {
      for (const no of nos()) commands.wake(no)
    })
  }
  lists.onChange(() => wake(() => registry.all().map(({ row }) => row.no)))
  // A tag may bring a server its lists.
  needs.tags.onRetag(
    () => Promise.resolve(),
    rows => Promise.resolve(wake(() => rows.map(({ no }) => no))),
  )
  const take = takeSource(needs)
  const threads = createListThreads()
  const updates = createUpdates({ ...needs, lists, take, threads })
  // Looks at what is in force do not wait for what a source made to be slow to read.
  const reading = createBlocklistReading({ ...needs, lists, threads: createListThreads() })
  const service = createBlocklists({
    ...needs,
    lists,
    updates,
    reading,
    preview: createPreview({ ...needs, take, threads }),
  })
  const readFigures = createListMetrics(needs)
  return {
    service,
    mount: http => mountBlocklists(http, service),
    jobs: [
      { name: 'blocklist sources', every: second, run: updates.lookAtDue },
      { name: 'blocklist cuts', every: 2 * second, run: updates.cutAgain },
      { name: 'stale blocklists', every: 5 * second, run: updates.noteStale },
      { name: 'blocklist progress', every: second, everywhere: true, run: service.tellProgress },
      { name: 'blocklist figures', every: 15 * second, everywhere: true, run: readFigures },
      { name: 'old blocklist hits', every: hour, run: service.forgetOld },
    ],
    follow: { on: ['list.*'], reload: lists.catchUp },
  }
}
