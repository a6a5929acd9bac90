import { Suspense, lazy, useMemo, useState } from 'react'
import { Button } from '@mantine/core'
import { IconPlus, IconShare3 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMay, useMe } from '../../api/session.ts'
import { useKeys } from '../../kit/keys.ts'
import { Empty } from '../../kit/list-states.tsx'
import { Page, Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ListTabs } from '../identity/list-tabs.tsx'
import { shellTexts } from '../navigation/shell.texts.ts'
import { remove, turnOff } from './acts.ts'
import { rulesQuery } from './queries.ts'
import type { Rule } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'
import { sayRule } from './sentence.ts'
import styles from './rules.module.css'

const RuleDialog = lazy(() => import('./rule-dialog.tsx'))
const HistoryDialog = lazy(() => import('./history-dialog.tsx'))

type Open = 'new' | { readonly edit: Rule } | { readonly history: Rule } | null

/** Rules by which bans of some servers become bans of many, each with what it did or would have done. */
export const SharingRules = () => {
  const t = textsOf(rulesTexts)
  const names = textsOf(shellTexts)
  const { may: mayWrite } = useMay('write')
  const isRestricted = useMe()?.server_access === 'specific'
  const may = mayWrite && !isRestricted
  const [open, setOpen] = useState<Open>(null)
  useKeys(useMemo(() => [{ key: 'a', text: t.add, act: () => setOpen('new'), there: () => may }], [t, may]))
  const close = () => setOpen(null)
  const opened = open !== null && typeof open === 'object' ? open : null
  return (
    <Page
      title={`${t.title} · ${names.lists}`}
      heading={names.lists}
      tools={<ListTabs />}
      actions={
        may && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setOpen('new')}>
            {t.add}
          </Button>
        )
      }
    >
      <p className={styles.lead}>{t.lead}</p>
      <Rules may={may} onOpen={setOpen} />
      <Suspense>
        {open === 'new' && <RuleDialog onClose={close} />}
        {opened && 'edit' in opened && <RuleDialog rule={opened.edit} onClose={close} />}
        {opened && 'history' in opened && <HistoryDialog rule={opened.history} onClose={close} />}
      </Suspense>
    </Page>
  )
}

const Rules = ({ may, onOpen }: { may: boolean; onOpen: (open: Open) => void }) => {
  const t = textsOf(rulesTexts)
  const query = useQuery(rulesQuery)
  const rules = query.data?.rules
  return (
    <>
      <Trouble what={t.what} query={query} />
      {rules?.length === 0 && (
        <Empty icon={<IconShare3 size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
          {may && <Button onClick={() => onOpen('new')}>{t.add}</Button>}
        </Empty>
      )}
      {rules && rules.length > 0 && (
        <Panel>
          <ul className={styles.rules} aria-label={t.title}>
            {rules.map(rule => (
              <RuleRow key={rule.id} rule={rule} may={may} onOpen={onOpen} />
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

const tones: Readonly<Record<Rule['state'], Tone>> = {
  draft: 'neutral',
  simulated: 'neutral',
  armed: 'ok',
  tripped: 'danger',
}

const RuleRow = ({ rule, may, onOpen }: { rule: Rule; may: boolean; onOpen: (open: Open) => void }) => {
  const t = textsOf(rulesTexts)
  const { condition, result } = sayRule(rule)
  const { simulation } = rule
  return (
    <li className={styles.rule}>
      <h2>{rule.name}</h2>
      <span className={styles.state}>
        <Mark tone={tones[rule.state]}>{t.states[rule.state]}</Mark>
      </span>
      <p className={styles.sentence}>
        {condition} {result}
      </p>
      {rule.reason && <p className={`${parts.error ?? ''} ${styles.sentence ?? ''}`}>{t.stopped(rule.reason)}</p>}
      <p className={styles.count}>
        {rule.state === 'armed' || rule.banned_30_days > 0 || !simulation
          ? t.made(rule.banned_30_days)
          : t.wouldHave(simulation.banned, simulation.days)}
      </p>
      <div className={`${styles.acts ?? ''} ${parts.untilTouched ?? ''}`}>
        {may && <OnOff rule={rule} onOpen={onOpen} />}
        <Button size="xs" variant="default" aria-label={t.showOf(rule.name)} onClick={() => onOpen({ history: rule })}>
          {t.show}
        </Button>
        {may && (
          <Button size="xs" variant="default" aria-label={t.editOf(rule.name)} onClick={() => onOpen({ edit: rule })}>
            {t.edit}
          </Button>
        )}
        {may && rule.state !== 'armed' && (
          <Button size="xs" variant="default" aria-label={t.removeOf(rule.name)} onClick={() => remove(rule)}>
            {t.remove}
          </Button>
        )}
      </div>
    </li>
  )
}

/** Turning on leads through the dialog, which shows the simulation. */
const OnOff = ({ rule, onOpen }: { rule: Rule; onOpen: (open: Open) => void }) => {
  const t = textsOf(rulesTexts)
  return rule.state === 'armed' ? (
    <Button size="xs" variant="default" aria-label={t.turnOffOf(rule.name)} onClick={() => turnOff(rule)}>
      {t.turnOff}
    </Button>
  ) : (
    <Button size="xs" variant="default" aria-label={t.turnOnOf(rule.name)} onClick={() => onOpen({ edit: rule })}>
      {t.turnOn}
    </Button>
  )
}
