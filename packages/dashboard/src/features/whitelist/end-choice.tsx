import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { endKinds } from './ends.ts'
import type { End } from './ends.ts'
import { endsTexts } from './ends.texts.ts'

/** How long an entry is to stay. */
export const EndChoice = (props: { value: End; onValue: (end: End) => void; error?: string | undefined }) => {
  const t = textsOf(endsTexts)
  const { value, onValue } = props
  return (
    <>
      <SelectField
        label={t.label}
        help={value.kind === 'never' ? undefined : t.help}
        value={value.kind}
        options={endKinds.map(kind => ({ value: kind, text: t.kinds[kind] }))}
        onValue={kind => onValue({ ...value, kind })}
      />
      {value.kind === 'until' && (
        <TextField
          label={t.until}
          error={props.error}
          type="datetime-local"
          value={value.until}
          onValue={until => onValue({ ...value, until })}
        />
      )}
    </>
  )
}
