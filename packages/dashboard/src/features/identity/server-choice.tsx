import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { summaryQuery } from '../../api/queries.ts'
import { FindField } from '../../kit/find-field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { TagPicks } from '../fleet/target-choice.tsx'
import { Check, Choices } from './choices.tsx'
import { identityTexts } from './identity.texts.ts'
import styles from './identity.module.css'

export interface Access {
  readonly type: 'all' | 'specific'
  readonly servers: readonly string[]
  /** Drafts of older versions have none. */
  readonly tags?: readonly string[]
}
export const allServers: Access = { type: 'all', servers: [] }
/** An access in words: for a list of changes. */
export const sayAccess = ({ type, servers, tags = [] }: Access): string => {
  const t = textsOf(identityTexts).servers
  if (type === 'all') return t.all
  return [...tags, ...(servers.length > 0 || tags.length === 0 ? [t.chosen(servers.length)] : [])].join(', ')
}
/** Whether nothing is chosen where something must be. */
export const isNoAccess = ({ type, servers, tags = [] }: Access): boolean =>
  type === 'specific' && servers.length + tags.length === 0
/** As the API takes it. */
export const accessBody = ({ type, servers, tags = [] }: Access) => ({
  access_type: type,
  ...(type === 'specific' ? { server_ids: [...servers], ...(tags.length > 0 ? { tags: [...tags] } : {}) } : {}),
})
/** With more rows the page gets slow; larger fleets are searched by name. */
const most = 100

/** All servers, or chosen ones. */
export const ServerChoice = (props: {
  value: Access
  onValue: (access: Access) => void
  disabled?: boolean
  isChanged?: boolean
  error?: string | undefined
}) => {
  const t = textsOf(identityTexts).servers
  const { value, onValue, disabled } = props
  return (
    <Choices
      legend={t.legend}
      disabled={disabled ?? false}
      isChanged={props.isChanged ?? false}
      options={[
        { value: 'all', label: t.all, meaning: t.allMeans },
        { value: 'specific', label: t.specific, meaning: t.specificMeans },
      ]}
      value={value.type}
      onValue={type => onValue({ ...value, type })}
    >
      {value.type === 'specific' && (
        <>
          <Servers chosen={value.servers} onChosen={servers => onValue({ ...value, servers })} />
          <TagPicks
            chosen={new Set(value.tags)}
            // In one order, so that a tag that is taken out and put back is no change.
            onChosen={tags => onValue({ ...value, tags: [...tags].sort() })}
          />
        </>
      )}
      {props.error && (
        <p className={parts.error} role="alert">
          {props.error}
        </p>
      )}
    </Choices>
  )
}

const Servers = (props: { chosen: readonly string[]; onChosen: (chosen: readonly string[]) => void }) => {
  const t = textsOf(identityTexts).servers
  const all = useQuery(summaryQuery).data?.servers
  const [typed, setTyped] = useState('')
  const chosen = new Set(props.chosen)
  if (!all) return null
  if (all.length === 0) return <p className={parts.help}>{t.empty}</p>
  const searchText = typed.trim().toLowerCase()
  const matches = all.filter(({ hostname }) => hostname.toLowerCase().includes(searchText))
  const toggle = (id: string, on: boolean) => {
    const rest = props.chosen.filter(chosen => chosen !== id)
    // In one order, so that a server that is taken out and put back is no change.
    props.onChosen((on ? [...rest, id] : rest).sort())
  }
  return (
    <div className={styles.servers}>
      {all.length > 8 && <FindField label={t.find} value={typed} onValue={setTyped} />}
      {matches.length === 0 ? (
        <p className={parts.help}>{t.none}</p>
      ) : (
        <ul aria-label={t.list}>
          {matches.slice(0, most).map(({ id, hostname }) => (
            <li key={id}>
              <Check label={nameOf(hostname)} checked={chosen.has(id)} onChecked={on => toggle(id, on)} />
            </li>
          ))}
        </ul>
      )}
      {matches.length > most && <p className={parts.help}>{t.more(matches.length - most)}</p>}
      <p className={parts.help}>{t.chosen(chosen.size)}</p>
    </div>
  )
}
