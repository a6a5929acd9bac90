import { Link, useSearch } from '@tanstack/react-router'
import type { ValuesOf } from '../../kit/search/completion.ts'
import { SearchField } from '../../kit/search/search-field.tsx'
import { TimeRange } from '../../kit/time-range.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import type { Entry } from './audit-list.ts'
import { auditTexts } from './audit.texts.ts'
import type { AuditSearch } from './filter.ts'
import { language, useFilter } from './narrowing.ts'
import { actionWords } from './sentences.ts'
import styles from './audit.module.css'

const presets = {
  day: { from: 'now-24h' },
  signIns: { q: 'action:auth.login' },
  failed: { q: 'action:auth.login_failed' },
  settings: { q: 'action:settings.' },
  access: { q: 'action:user.,session.,key.,mfa.' },
} as const satisfies Record<string, AuditSearch>
const presetNames = ['day', 'signIns', 'failed', 'settings', 'access'] as const

export const AuditSearchField = ({ rows }: { rows: readonly Entry[] }) => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const filter = useFilter()
  return (
    <div role="search" aria-label={t.filters} className={styles.fields}>
      <SearchField
        language={language}
        value={search.q ?? ''}
        onApply={(q, replace) => filter({ q: q || undefined }, replace)}
        valuesOf={valuesIn(rows)}
        label={t.search}
        placeholder={t.searchHint}
      />
      <TimeRange from={search.from} to={search.to} onRange={filter} />
    </div>
  )
}

/** What is looked for most, each one click. */
export const Presets = () => {
  const t = textsOf(auditTexts)
  const search = useSearch({ from: '/inside/audit' })
  const isSame = (preset: AuditSearch) =>
    JSON.stringify([preset.q, preset.from]) === JSON.stringify([search.q, search.from]) && search.to === undefined
  return (
    <div className={styles.presets} role="group" aria-label={t.presets}>
      {presetNames.map(name => (
        <Link
          key={name}
          to="/audit"
          search={presets[name]}
          className={parts.chip}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={isSame(presets[name]) ? 'true' : undefined}
        >
          {t.preset[name]}
        </Link>
      ))}
    </div>
  )
}

const actionNames = Object.keys(textsOf(auditTexts).actions)
const beginnings = [...new Set(actionNames.map(name => `${name.split('.')[0] ?? ''}.`))]

/** What a field may be completed with: all actions, and who and whence as far as they are shown. */
const valuesIn =
  (rows: readonly Entry[]): ValuesOf =>
  field => {
    const each = (values: readonly (string | null)[]) =>
      [...new Set(values)].flatMap(value => (value ? [{ value }] : []))
    switch (field) {
      case 'action':
        return [
          ...beginnings.map(value => ({ value })),
          ...actionNames.map(value => ({ value, label: actionWords(value) })),
        ]
      case 'user':
        return each(rows.map(({ user }) => user))
      case 'ip':
        return each(rows.map(({ ip_address }) => ip_address))
      default:
        return []
    }
  }
