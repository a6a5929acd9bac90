import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery, routeChannelsQuery, routesQuery } from './queries.ts'
import { isPlain, routesWith, ticksOf } from './route-table.ts'
import styles from './alerts.module.css'

const severities = ['critical', 'warning', 'info'] as const
type Severity = (typeof severities)[number]

/** Which channel hears of which severity. Routes that say more than that are kept as they are. */
export const Routes = () => {
  const t = textsOf(alertsTexts)
  const routes = useQuery(routesQuery)
  const channels = useQuery(routeChannelsQuery)
  const save = useMutation({
    mutationFn: (body: ReturnType<typeof routesWith>) => api.call('PUT /alerts/routes', { body: { routes: body } }),
    // The refetch belongs to the change: the tick stays as it is until the new list is there.
    onSettled: () => queries.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  })
  const allRoutes = routes.data?.routes ?? []
  // A tick shows at once; where it is refused, it goes again.
  const ticks = ticksOf(save.isPending ? save.variables : allRoutes)
  const special = allRoutes.filter(route => !isPlain(route)).length
  const offered =
    channels.data?.channels.filter(({ id, enabled, builtin }) => enabled || !builtin || ticks.has(id)) ?? []
  const switches = routes.data?.switches ?? []
  /** Chat and e-mail get problems by their switch, whatever is ticked. */
  const isSwitched = (id: string, severity: Severity) =>
    switches.some(({ channels: [of], severities: all }) => of === id && all.includes(severity))
  if (routes.data && offered.length === 0) return null
  return (
    <Panel title={t.routes}>
      <p className={parts.help}>{t.routesLead}</p>
      <Trouble what={t.what} query={routes.isError ? routes : channels} />
      {routes.data && offered.length > 0 && (
        <table className={styles.matrix}>
          <thead>
            <tr>
              <td />
              {severities.map(severity => (
                <th key={severity} scope="col">
                  {t.severities[severity]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {offered.map(({ id, name }) => (
              <tr key={id}>
                <th scope="row">
                  <Stranger text={name} most={60} />
                </th>
                {severities.map(severity => (
                  <td key={severity}>
                    <label>
                      <input
                        type="checkbox"
                        aria-label={
                          isSwitched(id, severity)
                            ? t.bySwitch(name, t.severities[severity])
                            : t.ticked(name, t.severities[severity])
                        }
                        disabled={save.isPending || isSwitched(id, severity)}
                        checked={isSwitched(id, severity) || (ticks.get(id)?.has(severity) ?? false)}
                        onChange={event =>
                          save.mutate(routesWith(allRoutes, id, severity, event.currentTarget.checked))
                        }
                      />
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {special > 0 && <p className={parts.muted}>{t.special(special)}</p>}
      <Refusal error={save.error} />
    </Panel>
  )
}
