import type { CallInput } from '@stockade/client'
import type { AlertRoute } from './queries.ts'

type Severity = AlertRoute['severities'][number]
type RouteInput = CallInput<'PUT /alerts/routes'>['body']['routes'][number]
const severities: readonly Severity[] = ['critical', 'warning', 'info']

/** The ids of the channels that hear of a rule, on some servers or at some hours at least. */
export const hearersOf = (
  rule: { readonly id: string; readonly severity: Severity },
  routes: readonly Pick<RouteInput, 'severities' | 'rules' | 'channels'>[],
): ReadonlySet<string> =>
  new Set(
    routes
      .filter(({ severities: of }) => of.length === 0 || of.includes(rule.severity))
      .filter(({ rules }) => rules.length === 0 || rules.includes(rule.id))
      .flatMap(({ channels }) => channels),
  )

/** Whether a route says no more than which severities one channel gets. */
export const isPlain = ({ rules, hours, target, channels }: RouteInput): boolean =>
  rules.length === 0 && hours === null && target?.all === true && channels.length === 1

/** The severities that each channel gets by plain routes. */
export const ticksOf = (routes: readonly RouteInput[]): ReadonlyMap<string, ReadonlySet<Severity>> => {
  const ticks = new Map<string, Set<Severity>>()
  for (const route of routes.filter(isPlain)) {
    const [channel = ''] = route.channels
    const all = ticks.get(channel) ?? new Set()
    for (const severity of route.severities.length > 0 ? route.severities : severities) all.add(severity)
    ticks.set(channel, all)
  }
  return ticks
}

/** All routes after one tick was set or taken away; routes that are not plain stay as they are. */
export const routesWith = (
  routes: readonly RouteInput[],
  channel: string,
  severity: Severity,
  isTicked: boolean,
): RouteInput[] => {
  const ticks = new Map([...ticksOf(routes)].map(([id, all]) => [id, new Set(all)]))
  const own = ticks.get(channel) ?? new Set<Severity>()
  if (isTicked) own.add(severity)
  else own.delete(severity)
  ticks.set(channel, own)
  const plain = [...ticks].flatMap(([id, all]): RouteInput[] =>
    all.size === 0
      ? []
      : [
          {
            severities: all.size === severities.length ? [] : severities.filter(each => all.has(each)),
            rules: [],
            hours: null,
            channels: [id],
            target: { all: true },
          },
        ],
  )
  return [...plain, ...routes.filter(route => !isPlain(route))]
}
