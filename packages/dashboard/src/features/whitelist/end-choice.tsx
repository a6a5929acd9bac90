import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
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
      <Field label={t.label} help={value.kind === 'never' ? undefined : t.help}>
        {ids => (
          <select
            {...ids}
            className={parts.input}
            value={value.kind}
            onChange={event => {
              const kind = endKinds.find(known => known === event.currentTarget.value)
              if (kind) onValue({ ...value, kind })
            }}
          >
            {endKinds.map(kind => (
              <option key={kind} value={kind}>
                {t.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {value.kind === 'until' && (
        <Field label={t.until} error={props.error}>
          {ids => (
            <input
              {...ids}
              className={parts.input}
              type="datetime-local"
              value={value.until}
              onChange={event => onValue({ ...value, until: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}
