import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { alertChannelsTexts } from './alert-channels.texts.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery, routeChannelsQuery, routesQuery } from './queries.ts'
import type { AlertRoute, Channel } from './queries.ts'
import { routesWith } from './route-table.ts'

/** Says that nobody is notified about alerts that fire, and mends it: by a channel that is on, or else by a new one. */
export const Unheard = (props: { count: number; severities: readonly Severity[]; onAdd: () => void }) => {
  const t = textsOf(alertsTexts)
  const { may } = useMay('admin')
  return (
    <Panel title={t.unheard(props.count)}>{may && <Remedy severities={props.severities} onAdd={props.onAdd} />}</Panel>
  )
}
type Severity = AlertRoute['severities'][number]

const Remedy = ({ severities, onAdd }: { severities: readonly Severity[]; onAdd: () => void }) => {
  const t = textsOf(alertsTexts)
  const channels = useQuery(routeChannelsQuery).data?.channels
  const routes = useQuery(routesQuery).data?.routes
  const save = useMutation({
    mutationFn: ({ id }: Channel) => {
      const after = severities.reduce<ReturnType<typeof routesWith>>(
        (known, severity) => routesWith(known, id, severity, true),
        [...(routes ?? [])],
      )
      return api.call('PUT /alerts/routes', { body: { routes: after } })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: alertsQuery.queryKey }),
  })
  if (!channels || !routes) return null
  const active = channels.filter(({ enabled }) => enabled)
  return (
    <div className={parts.row}>
      {active.map(channel => (
        <Button key={channel.id} loading={save.isPending} onClick={() => save.mutate(channel)}>
          {t.notify(channel.name)}
        </Button>
      ))}
      {active.length === 0 && <Button onClick={onAdd}>{textsOf(alertChannelsTexts).add}</Button>}
      <Refusal error={save.error} />
    </div>
  )
}
