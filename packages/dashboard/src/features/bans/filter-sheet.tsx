import type { ReactNode } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { summaryQuery } from '../../api/queries.ts'
import { banStatsQuery } from '../fleet/queries.ts'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { valueOf, withValue } from '../../kit/search/terms.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { nameOf } from '../../lib/clip.ts'
import { localInput } from '../../lib/time.ts'
import { bansTexts } from './bans.texts.ts'
import { countries } from '../../lib/countries.ts'
import type { BansSearch } from './filter.ts'
import { language } from './matches.ts'
import styles from './bans.module.css'
import { useFilter } from './narrowing.tsx'

interface Option {
  readonly value: string
  readonly name: string
}

interface Choice {
  readonly field: string
  readonly label: string
  readonly none: string
  /** What of the address it takes the place of. */
  readonly given: Partial<BansSearch>
  readonly now: string
  readonly options: readonly Option[]
}
const useChoices = (shownJails: readonly string[]): readonly Choice[] => {
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const servers = useQuery(summaryQuery).data?.servers ?? []
  const month = useQuery(banStatsQuery('month')).data
  const jails = [...new Set([...(month?.bans_by_jail ?? []).map(({ jail }) => jail), ...shownJails])].sort()
  return [
    {
      field: 'state',
      label: t.state,
      none: t.allStates,
      given: { active: undefined },
      now: search.active === 'true' ? 'active' : '',
      options: (['active', 'expired', 'unbanned'] as const).map(value => ({ value, name: t.states[value] })),
    },
    {
      field: 'server',
      label: t.server,
      none: t.allServers,
      given: { server: undefined },
      now: servers.find(({ id }) => id === search.server)?.hostname ?? '',
      options: servers.map(({ hostname }) => ({ value: hostname, name: nameOf(hostname) })),
    },
    {
      field: 'jail',
      label: t.jail,
      none: t.allJails,
      given: { jail: undefined },
      now: search.jail ?? '',
      options: jails.map(name => ({ value: name, name })),
    },
    {
      field: 'country',
      label: t.country,
      none: t.allCountries,
      given: { country: undefined },
      now: search.country ?? '',
      options: countries().map(({ code, name }) => ({ value: code, name })),
    },
  ]
}

/** The usual filters as choices instead of typed terms. They become part of the search. */
const FilterSheet = (props: {
  /** Jails of the rows that are shown. */
  jails: readonly string[]
  /** The choice of a time, as the list has it too. */
  range: ReactNode
  onClose: () => void
}) => {
  const { range, onClose } = props
  const t = textsOf(bansTexts)
  const search = useSearch({ from: '/inside/bans' })
  const navigate = useNavigate()
  const filter = useFilter()
  const choices = useChoices(props.jails)
  return (
    <Dialog title={t.filters} onClose={onClose}>
      <div className={parts.form}>
        {choices.map(choice => (
          <ChoiceField key={choice.field} choice={choice} />
        ))}
        <div className={styles.moments}>
          <div className={parts.field}>
            <span className={styles.label}>{t.range}</span>
            {range}
          </div>
          <Moment
            label={t.from}
            value={search.from?.includes('T') ? search.from : undefined}
            onValue={from => filter({ from })}
          />
          <Moment label={t.to} value={search.to} onValue={to => filter({ to })} />
        </div>
        <div className={parts.row}>
          <Button onClick={onClose}>{t.showList}</Button>
          <Button
            variant="default"
            onClick={() => {
              onClose()
              void navigate({ to: '/bans', search: { by: search.by, cols: search.cols } })
            }}
          >
            {t.clearFilters}
          </Button>
          <Button variant="subtle" onClick={onClose}>
            {textsOf(commonTexts).close}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
export default FilterSheet

const ChoiceField = ({ choice }: { choice: Choice }) => {
  const { field, label, none, given, now, options } = choice
  const { q = '' } = useSearch({ from: '/inside/bans' })
  const filter = useFilter()
  const value = valueOf(q, language, field) ?? now
  return (
    <SelectField
      label={label}
      value={value}
      options={[
        { value: '', text: none },
        ...(value !== '' && !options.some(option => option.value === value) ? [{ value, text: value }] : []),
        ...options.map(option => ({ value: option.value, text: option.name })),
      ]}
      onValue={chosen => filter({ ...given, q: withValue(q, language, field, chosen) || undefined })}
    />
  )
}

const Moment = (props: { label: string; value: string | undefined; onValue: (value: string | undefined) => void }) => (
  <TextField
    label={props.label}
    type="datetime-local"
    value={props.value ? localInput(Date.parse(props.value)).slice(0, 16) : ''}
    onValue={typed => {
      const at = new Date(typed)
      props.onValue(Number.isNaN(at.getTime()) ? undefined : at.toISOString())
    }}
  />
)
