import type { BlocklistSource } from '@stockade/contract'
import { useMay } from '../../api/session.ts'
import { TextField } from '../../kit/form-fields.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import { blocklistsTexts } from './blocklists.texts.ts'

export type SourceKind = BlocklistSource['kind']
export const sourceKinds: readonly SourceKind[] = ['url', 'countries', 'networks']

const words = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean)

/** A source as it is typed. */
export const sourceOf = (kind: SourceKind, typed: string): BlocklistSource => {
  switch (kind) {
    case 'url':
      return { kind, url: typed.trim() }
    case 'countries':
      return { kind, countries: words(typed.toUpperCase()) }
    case 'networks':
      return { kind, asns: words(typed).map(text => Number(text.replace(/^AS/i, ''))) }
  }
}
/** The text from which `sourceOf` makes the same source. */
export const textOfSource = ({ kind, url = '', countries = [], asns = [] }: BlocklistSource): string =>
  ({ url, countries: countries.join(', '), networks: asns.join(', ') })[kind]

const most: Readonly<Record<SourceKind, number>> = { url: 2000, countries: 800, networks: 5000 }

/** The field of a kind of source. */
export const SourceField = (props: {
  kind: SourceKind
  value: string
  onValue: (value: string) => void
  error: string | undefined
}) => {
  const t = textsOf(blocklistsTexts).dialog
  const { kind } = props
  const texts: Readonly<Record<SourceKind, readonly [string, string]>> = {
    url: [t.url, t.urlHelp],
    countries: [t.countryCodes, t.countryHelp],
    networks: [t.asns, t.asnsHelp],
  }
  const [label, help] = texts[kind]
  return (
    <TextField
      label={label}
      help={help}
      most={most[kind]}
      {...(kind === 'url' ? { kind: 'url' as const, dir: 'ltr' as const } : {})}
      value={props.value}
      onValue={props.onValue}
      error={props.error}
    />
  )
}

/** What the list of a URL may do only where somebody allows it. */
export interface Allowed {
  readonly allow_wide: boolean
  readonly allow_private: boolean
}
export const AllowedFields = ({ value, onValue }: { value: Allowed; onValue: (value: Allowed) => void }) => {
  const t = textsOf(blocklistsTexts).dialog
  const { may } = useMay('admin')
  return (
    <>
      <Check
        label={t.allowWide}
        meaning={t.allowWideHelp}
        checked={value.allow_wide}
        onChecked={allow_wide => onValue({ ...value, allow_wide })}
      />
      {(may || value.allow_private) && (
        <Check
          label={t.allowPrivate}
          meaning={t.allowPrivateHelp}
          checked={value.allow_private}
          onChecked={allow_private => onValue({ ...value, allow_private })}
        />
      )}
    </>
  )
}
