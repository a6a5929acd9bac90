import { keysOf } from '@stockade/contract/records.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import entry from '../sign-in/entry.module.css'
import { passwordRules } from './rules.ts'

interface Words {
  readonly rules: Readonly<Record<keyof typeof passwordRules, string>>
  readonly met: string
  readonly notMet: string
}

/** What a password has to have, ticked off as it is typed. */
export const PasswordRules = ({ password, words }: { password: string; words: Words }) => (
  <ul className={entry.rules}>
    {keysOf(passwordRules).map(rule => {
      const met = passwordRules[rule](password)
      return (
        <li key={rule}>
          <State is={met ? 'done' : 'next'} word={words.rules[rule]} />
          <span className={parts.hidden}>{met ? words.met : words.notMet}</span>
        </li>
      )
    })}
  </ul>
)
