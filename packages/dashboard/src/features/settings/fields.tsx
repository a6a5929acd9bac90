import type { HTMLAttributes, ReactNode } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { Time } from '../../kit/time.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { settingsTexts } from './settings.texts.ts'
import styles from './settings.module.css'

/** The newest changes of settings; who looks for older ones goes to the audit log. */
const changesQuery = queryOptions({
  queryKey: ['settings', 'changes'],
  queryFn: async ({ signal }) => {
    const { entries } = await api.call('GET /settings/audit', {
      query: { action: 'settings.update', limit: 100 },
      signal,
    })
    const latest = new Map<string, { user: string; at: string }>()
    for (const { user, timestamp, details } of entries) {
      const name = String(details.field)
      if (!latest.has(name)) latest.set(name, { user, at: timestamp })
    }
    return latest
  },
})

/** Who changed it last, and when; nothing where that is long ago. `of` is the name in the audit log. */
export const Changed = ({ of }: { of: string }) => {
  const t = textsOf(settingsTexts)
  const last = useQuery(changesQuery).data?.get(of)
  return last ? (
    <span className={styles.changed}>
      {t.changedBy} <Stranger text={last.user} most={60} />, <Time at={last.at} />
    </span>
  ) : null
}

export const Help = ({ of, children }: { of: string; children: ReactNode }) => (
  <>
    {children} <Changed of={of} />
  </>
)

interface Common {
  readonly label: string
  readonly help?: ReactNode
  readonly error?: string | undefined
}
/** A setting that is typed in one line, or in several. */
export const TextSetting = (
  props: Common & {
    value: string
    onValue: (value: string) => void
    most: number
    kind?: HTMLAttributes<HTMLElement>['inputMode']
    list?: string
    rows?: number
    readonly?: boolean
  },
) => (
  <Field label={props.label} help={props.help} error={props.error}>
    {ids => {
      const common = {
        ...ids,
        className: parts.input,
        autoComplete: 'off',
        autoCapitalize: 'none',
        spellCheck: false,
        dir: 'auto',
        maxLength: props.most,
        value: props.value,
      }
      return props.rows ? (
        <textarea {...common} rows={props.rows} onChange={event => props.onValue(event.currentTarget.value)} />
      ) : (
        <input
          {...common}
          inputMode={props.kind}
          list={props.list}
          onChange={event => props.onValue(event.currentTarget.value)}
        />
      )
    }}
  </Field>
)

/** A secret as the form keeps it: empty leaves it as it is, null takes it away. */
export type SecretDraft = string | null
export const SecretSetting = (
  props: Common & { isSet: boolean; value: SecretDraft; onValue: (value: SecretDraft) => void; most?: number },
) => {
  const t = textsOf(settingsTexts)
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
      >
        {ids => (
          <input
            {...ids}
            className={parts.input}
            type="password"
            // Not one of the passwords that the browser keeps.
            autoComplete="new-password"
            dir="ltr"
            maxLength={props.most ?? 1024}
            value={value ?? ''}
            onChange={event => onValue(event.currentTarget.value)}
          />
        )}
      </Field>
      {isSet && (
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
/** What a secret would be changed to, for the list of changes. */
export const secretChange = (name: string, isSet: boolean, draft: SecretDraft): string => {
  const t = textsOf(settingsTexts)
  return t.change(name, isSet ? t.set : t.notSet, draft === null ? t.notSet : t.changedTo)
}
/** What to send for a secret: nothing where it stays. */
export const secretOf = (draft: SecretDraft): string | null | undefined => (draft === '' ? undefined : draft)
