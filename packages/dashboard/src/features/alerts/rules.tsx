import { lazy, useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { PlainTable, headsOf } from '../../kit/plain-table.tsx'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Switch } from '../../kit/switch.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery, routeChannelsQuery, routesQuery, rulesQuery } from './queries.ts'
import type { AlertRule } from './queries.ts'
import { hearersOf } from './route-table.ts'
import styles from './alerts.module.css'

const RuleDialog = lazy(() => import('./rule-dialog.tsx'))
const tones: Readonly<Record<AlertRule['state'], Tone>> = {
  off: 'neutral',
  calm: 'ok',
  pending: 'info',
  firing: 'danger',
  no_data: 'neutral',
}
const reread = () => queries.invalidateQueries({ queryKey: alertsQuery.queryKey })

/** Every rule with its state; administrators switch them and add their own. */
export const Rules = () => {
  const t = textsOf(alertsTexts)
  const { may } = useMay('admin')
  const query = useQuery(rulesQuery)
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<AlertRule | null>(null)
  return (
    <Panel title={t.rules} aside={may && <SmallButton onClick={() => setAdding(true)}>{t.add}</SmallButton>}>
      <Trouble what={t.what} query={query} />
      {query.data && (
        <PlainTable
          caption={t.rules}
          className={styles.rules ?? ''}
          heads={headsOf({
            rule: t.columns.rule,
            severity: t.columns.severity,
            ...(may ? { told: t.columns.told, isOn: t.columns.isOn } : {}),
          })}
        >
          {query.data.rules.map(rule => (
            <RuleRow key={rule.id} is={rule} onRemove={may ? () => setRemoved(rule) : undefined} />
          ))}
        </PlainTable>
      )}
      <Dialogs>
        {isAdding && <RuleDialog onClose={() => setAdding(false)} />}
        {removed && (
          <Confirm
            title={t.removeOf(removed.name)}
            text={t.removeText}
            verb={t.remove}
            act={() => api.call('DELETE /alerts/rules/{id}', { params: { id: removed.id } }).then(reread)}
            onClose={() => setRemoved(null)}
          />
        )}
      </Dialogs>
    </Panel>
  )
}

/** The channels that hear of a rule; undefined until they are read. */
const useHearers = (rule: AlertRule, enabled: boolean): string | undefined => {
  const t = textsOf(alertsTexts)
  const routes = useQuery({ ...routesQuery, enabled }).data
  const channels = useQuery({ ...routeChannelsQuery, enabled }).data?.channels
  if (!routes || !channels) return undefined
  const ids = hearersOf(rule, [...routes.routes, ...routes.switches])
  const names = channels.filter(({ id, enabled: isOn }) => isOn && ids.has(id)).map(({ name }) => name)
  return names.length === 0 ? t.nobody : names.join(', ')
}

const RuleRow = ({ is, onRemove }: { is: AlertRule; onRemove: (() => void) | undefined }) => {
  const t = textsOf(alertsTexts)
  const set = useMutation({
    mutationFn: () => api.call('PATCH /alerts/rules/{id}', { params: { id: is.id }, body: { enabled: !is.enabled } }),
    onSettled: reread,
  })
  const kinds: Readonly<Partial<Record<string, string>>> = t.kinds
  // A newer server may have kinds that this page does not know.
  const name = (is.builtin ? kinds[is.kind] : undefined) ?? is.name
  const hearers = useHearers(is, onRemove !== undefined)
  return (
    <tr>
      <th scope="row">
        <Mark tone={tones[is.state]}>{t.ruleStates[is.state]}</Mark> <Stranger text={name} most={100} />
        {(!is.builtin || is.conditions.jail) && (
          <span className={parts.muted}>
            {!is.builtin && ` · ${t.kinds[is.kind]}`}
            {is.conditions.jail && ` · ${is.conditions.jail}`}
          </span>
        )}
        <Refusal error={set.error} />
      </th>
      <td>{t.severities[is.severity]}</td>
      {onRemove && (
        <>
          <td className={parts.muted}>{hearers !== undefined && <Stranger text={hearers} most={120} />}</td>
          <td>
            <span className={parts.row}>
              {!is.builtin && (
                <SmallButton aria-label={t.removeOf(name)} onClick={onRemove}>
                  {t.remove}
                </SmallButton>
              )}
              <Switch
                label={t.switchOf(is.enabled ? t.switchOff : t.switchOn, name)}
                // It turns at once; where that is refused, it turns back.
                isOn={set.isPending ? !is.enabled : is.enabled}
                onTurn={() => set.mutate()}
              />
            </span>
          </td>
        </>
      )}
    </tr>
  )
}
