import { lazy, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { IconShare3 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useMay, useMe } from '../../api/session.ts'
import { Dialogs } from '../../kit/dialogs.tsx'
import { useKeys } from '../../kit/keys.ts'
import { Empty } from '../../kit/list-states.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import type { Tone } from '../../kit/state.tsx'
import { Switch } from '../../kit/switch.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ListPage } from '../identity/list-page.tsx'
import { remove, turnOff, turnOn } from './acts.ts'
import { rulesQuery } from './queries.ts'
import type { Rule } from './queries.ts'
import { rulesTexts } from './sharing-rules.texts.ts'
import { sayRule } from './sentence.ts'
import styles from './rules.module.css'

const RuleDialog = lazy(() => import('./rule-dialog.tsx'))
const HistoryDialog = lazy(() => import('./history-dialog.tsx'))

type Open = 'new' | { readonly edit: Rule } | { readonly history: Rule } | null

/** What is open over a list of rules, and how it is opened. */
export const useRuleDialogs = () => {
  const { may: mayWrite } = useMay('write')
  const isRestricted = useMe()?.server_access === 'specific'
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const opened = open !== null && typeof open === 'object' ? open : null
  const dialogs = (
    <Dialogs>
      {open === 'new' && <RuleDialog onClose={close} />}
      {opened && 'edit' in opened && <RuleDialog rule={opened.edit} onClose={close} />}
      {opened && 'history' in opened && <HistoryDialog rule={opened.history} onClose={close} />}
    </Dialogs>
  )
  return { may: mayWrite && !isRestricted, onOpen: setOpen, dialogs }
}

/** Rules by which bans of some servers become bans of many, each with what it did or would have done. */
export const SharingRules = () => {
  const t = textsOf(rulesTexts)
  const { may, onOpen, dialogs } = useRuleDialogs()
  useKeys(useMemo(() => [{ key: 'a', text: t.add, act: () => onOpen('new'), there: () => may }], [t, may, onOpen]))
  return (
    <ListPage title={t.title} lead={t.lead} add={t.add} onAdd={may ? () => onOpen('new') : undefined}>
      <Rules may={may} onOpen={onOpen} />
      {dialogs}
    </ListPage>
  )
}

/** @param most how many are shown, under a title, on a page with other lists */
export const Rules = (props: { may: boolean; most?: number; aside?: ReactNode; onOpen: (open: Open) => void }) => {
  const t = textsOf(rulesTexts)
  const { may, most, onOpen } = props
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
        <Panel {...(most === undefined ? {} : { title: t.title, aside: props.aside })}>
          <ul className={styles.rules} aria-label={t.title}>
            {rules.slice(0, most).map(rule => (
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
        {may && <OnOff rule={rule} onOpen={onOpen} />}
        {(!may || rule.state === 'tripped') && <Mark tone={tones[rule.state]}>{t.states[rule.state]}</Mark>}
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
        <SmallButton aria-label={t.showOf(rule.name)} onClick={() => onOpen({ history: rule })}>
          {t.show}
        </SmallButton>
        {may && (
          <SmallButton aria-label={t.editOf(rule.name)} onClick={() => onOpen({ edit: rule })}>
            {t.edit}
          </SmallButton>
        )}
        {may && rule.state !== 'armed' && (
          <SmallButton aria-label={t.removeOf(rule.name)} onClick={() => remove(rule)}>
            {t.remove}
          </SmallButton>
        )}
      </div>
    </li>
  )
}

/** Turning on leads through the dialog, which shows the simulation, unless somebody has seen it. */
const OnOff = ({ rule, onOpen }: { rule: Rule; onOpen: (open: Open) => void }) => {
  const turn = () => {
    if (rule.state === 'armed') turnOff(rule)
    else if (rule.state === 'simulated') void turnOn(rule)
    else onOpen({ edit: rule })
  }
  return <Switch label={rule.name} isOn={rule.state === 'armed'} onTurn={turn} />
}
