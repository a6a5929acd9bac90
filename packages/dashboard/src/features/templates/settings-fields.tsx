import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Typed } from './settings-words.ts'
import { templatesTexts } from './templates.texts.ts'

/** The four settings as fields; with `help` each says what applies where it is left empty. */
export const SettingsFields = (props: {
  typed: Typed
  onTyped: (typed: Typed) => void
  wrong: ReadonlySet<keyof Typed>
  help: Record<keyof Typed, string>
}) => {
  const t = textsOf(templatesTexts)
  const { typed, onTyped, wrong, help } = props
  const problem = (name: keyof Typed) =>
    wrong.has(name) ? (name === 'maxretry' ? t.editor.retryWrong : t.editor.timeWrong) : undefined
  return (['maxretry', 'findtime', 'bantime', 'logpath'] as const).map(name => (
    <Field key={name} label={t.fields[name]} help={help[name]} error={problem(name)}>
      {ids => (
        <input
          {...ids}
          className={parts.input}
          inputMode={name === 'maxretry' ? 'numeric' : undefined}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          dir="ltr"
          maxLength={4096}
          value={typed[name]}
          onChange={event => onTyped({ ...typed, [name]: event.currentTarget.value })}
        />
      )}
    </Field>
  ))
}
