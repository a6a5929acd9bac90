import { TextField } from '../../kit/form-fields.tsx'
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
    <TextField
      key={name}
      label={t.fields[name]}
      help={help[name]}
      error={problem(name)}
      value={typed[name]}
      onValue={value => onTyped({ ...typed, [name]: value })}
      kind={name === 'maxretry' ? 'numeric' : undefined}
      dir="ltr"
      most={4096}
    />
  ))
}
