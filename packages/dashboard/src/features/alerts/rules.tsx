import { lazy, useState } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useMay } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Stranger } from '../../kit/stranger.tsx'
import { Refusal, Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery, rulesQuery } from './queries.ts'
import type { AlertRule } from './queries.ts'
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
      <ul className={styles.list}>
        {query.data?.rules.map(rule => (
          <RuleLine key={rule.id} is={rule} onRemove={may ? () => setRemoved(rule) : undefined} />
        ))}
      </ul>
      <Suspense>
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

const RuleLine = ({ is, onRemove }: { is: AlertRule; onRemove: (() => void) | undefined }) => {
  const t = textsOf(alertsTexts)
  const set = useMutation({
    mutationFn: () => api.call('PATCH /alerts/rules/{id}', { params: { id: is.id }, body: { enabled: !is.enabled } }),
    onSettled: reread,
  })
  const kinds: Readonly<Partial<Record<string, string>>> = t.kinds
  // A newer server may have kinds that this page does not know.
  const name = (is.builtin ? kinds[is.kind] : undefined) ?? is.name
  const verb = is.enabled ? t.switchOff : t.switchOn
  return (
    <li>
      <div className={styles.words}>
        <span>
          <Mark tone={tones[is.state]}>{t.ruleStates[is.state]}</Mark> <Stranger text={name} most={100} />
        </span>
        <span className={parts.muted}>
          {t.severities[is.severity]}
          {!is.builtin && ` · ${t.kinds[is.kind]}`}
          {is.conditions.jail && ` · ${is.conditions.jail}`}
        </span>
        <Refusal error={set.error} />
      </div>
      {onRemove && (
        <div className={parts.row}>
          <SmallButton aria-label={t.switchOf(verb, name)} loading={set.isPending} onClick={() => set.mutate()}>
            {verb}
          </SmallButton>
          {!is.builtin && (
            <SmallButton aria-label={t.removeOf(name)} onClick={onRemove}>
              {t.remove}
            </SmallButton>
          )}
        </div>
      )}
    </li>
  )
}
