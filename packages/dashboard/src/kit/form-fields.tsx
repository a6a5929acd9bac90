import { useState } from 'react'
import { clip } from '../lib/clip.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { Field } from './field.tsx'
import type { FieldIds } from './field.tsx'
import styles from './form.module.css'
import { formTexts } from './form.texts.ts'
import parts from './parts.module.css'
import { Select } from './select.tsx'
import type { Choosing } from './select.tsx'
import type { SecretDraft } from './secret-draft.ts'
import type { Common } from './text-field.tsx'

export { TextField } from './text-field.tsx'

/** One of several values. */
export const SelectField = <V extends string | number>(props: Common<V> & Choosing<V>) => (
  <Field label={props.label} help={props.help} error={props.error} isChanged={props.isChanged}>
    {ids => <Select {...props} ids={ids} />}
  </Field>
)

/** A secret to be typed, which is not one of the passwords that the browser keeps. */
export const SecretInput = (props: {
  ids: FieldIds
  most?: number | undefined
  value: string
  onValue: (value: string) => void
}) => (
  <input
    {...props.ids}
    className={parts.input}
    type="password"
    autoComplete="new-password"
    dir="ltr"
    maxLength={props.most ?? 1024}
    value={props.value}
    onChange={event => props.onValue(event.currentTarget.value)}
  />
)

export const SecretField = (props: Common<SecretDraft> & { isSet: boolean; most?: number; canRemove?: boolean }) => {
  const t = textsOf(formTexts)
  const { isSet, value, onValue } = props
  return (
    <div className={styles.secret}>
      <Field
        label={props.label}
        help={
          <>
            {value === null ? t.willBeRemoved : isSet ? t.isSet : t.isNotSet} {props.help}
          </>
        }
        error={props.error}
        isChanged={props.isChanged}
      >
        {ids => <SecretInput ids={ids} most={props.most} value={value ?? ''} onValue={onValue} />}
      </Field>
      {isSet && props.canRemove !== false && (
        <button
          type="button"
          className={parts.quiet}
          aria-label={value === null ? t.keepOf(props.label) : t.removeOf(props.label)}
          onClick={() => onValue(value === null ? '' : null)}
        >
          {value === null ? t.keep : t.remove}
        </button>
      )}
    </div>
  )
}

/** A file to be read here, with words and look of ours: those of the browser are in its own language. */
export const FileField = (props: { label: string; accept: string; onFile: (file: File) => void }) => {
  const [name, setName] = useState('')
  return (
    <Field label={props.label}>
      {ids => (
        <span className={styles.file}>
          <input
            {...ids}
            type="file"
            accept={props.accept}
            onChange={event => {
              const file = event.currentTarget.files?.[0]
              if (!file) return
              setName(file.name)
              props.onFile(file)
            }}
          />
          <span>{textsOf(formTexts).chooseFile}</span>
          <bdi className={parts.muted}>{clip(name, 60).shown}</bdi>
        </span>
      )}
    </Field>
  )
}
