import type { ProtectionMarks } from '@stockade/contract'
import { IconCheck, IconMinus } from '@tabler/icons-react'
import parts from '../../kit/parts.module.css'
import { Shape } from '../../kit/state.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { protectionTexts } from './protection.texts.ts'
import styles from './check-strip.module.css'

export const markNames = [
  'engine',
  'jails',
  'logs',
  'firewall',
  'containers',
  'whitelist',
] as const satisfies readonly (keyof ProtectionMarks)[]
export type MarkState = ProtectionMarks[keyof ProtectionMarks]

/** The six groups of checks of a server in one line: a tick when passed, a tinted shape when not, a dash when it does not apply. */
export const CheckStrip = ({ marks }: { marks: ProtectionMarks }) => {
  const t = textsOf(protectionTexts)
  return (
    <ul className={styles.strip}>
      {markNames.map(name => {
        const words = t.mark(t.markNames[name], t.markStates[marks[name]])
        return (
          <li key={name} data-state={marks[name]} title={words}>
            <CheckMark state={marks[name]} />
            <span className={parts.hidden}>{words}</span>
          </li>
        )
      })}
    </ul>
  )
}

export const CheckMark = ({ state }: { state: MarkState }) => {
  switch (state) {
    case 'passed':
      return <IconCheck size={12} stroke={3} aria-hidden="true" />
    case 'doubtful':
      return <Shape tone="warn" />
    case 'failed':
      return <Shape tone="danger" />
    case 'none':
      return <IconMinus size={12} stroke={2} aria-hidden="true" />
  }
}
