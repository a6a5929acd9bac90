import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { Target, TargetInput } from '@stockade/contract'
import { tagsQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { useKept } from '../../kit/draft.ts'
import { FindField } from '../../kit/find-field.tsx'
import { SelectField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { same } from '../../lib/drafts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Picks } from './picks.tsx'
import { targetsTexts } from './targets.texts.ts'
import styles from './fleet.module.css'

type Kind = 'all' | 'tags' | 'some'

/** What is chosen; each kind keeps its choice while another one is shown. */
export interface TargetValue {
  readonly kind: Kind
  readonly tags: ReadonlySet<string>
  readonly servers: ReadonlySet<string>
}

/** Of what is stored; without it, all servers. */
const targetValue = (target: Target = { all: true }): TargetValue => ({
  kind: target.all ? 'all' : target.tags ? 'tags' : 'some',
  tags: new Set(target.tags),
  servers: new Set(target.server_ids),
})
/** As the API takes it; null while nothing is chosen. */
const targetInput = ({ kind, tags, servers }: TargetValue): TargetInput | null => {
  if (kind === 'all') return { all: true }
  if (kind === 'tags') return tags.size === 0 ? null : { tags: [...tags].sort() }
  return servers.size === 0 ? null : { server_ids: [...servers] }
}
const targetProblem = (value: TargetValue): string | undefined => {
  const t = textsOf(targetsTexts)
  return targetInput(value) ? undefined : value.kind === 'tags' ? t.missingTag : t.missingServer
}
/** In one line, such as in a list. */
export const sayTarget = ({ all, tags = [], server_ids: ids = [] }: Target): string => {
  const t = textsOf(targetsTexts)
  if (all) return t.everywhere
  return [...tags, ...(ids.length > 0 || tags.length === 0 ? [t.servers(ids.length)] : [])].join(', ')
}

/**
 * Users with access to some servers name these, or tags that their access is by.
 * @param draft the name of the form that it is part of
 */
export const useTarget = (draft: string, given?: Target) => {
  const me = useMe()
  const [first] = useState(() => targetValue(given))
  const { typed, set } = useKept(`${draft}/target`, first)
  const kinds = me?.server_access !== 'specific' ? everyKind : me.tags.length > 0 ? restrictedByTag : restricted
  const value: TargetValue = kinds.includes(typed.kind) ? typed : { ...typed, kind: 'some' }
  return {
    ...{ value, setValue: set, kinds },
    isChanged: !same(typed, first),
    /** The only tags that may be chosen; undefined: any. */
    among: me?.server_access === 'specific' ? me.tags : undefined,
    problem: targetProblem(value),
    input: targetInput(value),
  }
}
const everyKind: readonly Kind[] = ['all', 'tags', 'some']
const restrictedByTag: readonly Kind[] = ['some', 'tags']
const restricted: readonly Kind[] = ['some']

/** All servers, servers with a tag, or chosen ones. */
export const TargetChoice = (props: {
  target: Pick<ReturnType<typeof useTarget>, 'value' | 'setValue' | 'kinds' | 'among'>
  label?: string
  error?: string | undefined
}) => {
  const t = textsOf(targetsTexts)
  const { value, setValue, kinds: offered, among } = props.target
  const texts: Readonly<Record<Kind, string>> = { all: t.all, tags: t.byTag, some: t.some }
  return (
    <>
      {offered.length > 1 && (
        <SelectField
          label={props.label ?? t.where}
          value={value.kind}
          onValue={kind => setValue({ ...value, kind })}
          options={offered.map(kind => ({ value: kind, text: texts[kind] }))}
        />
      )}
      {value.kind === 'tags' && (
        <TagPicks
          chosen={value.tags}
          onChosen={tags => setValue({ ...value, tags })}
          among={among}
          error={props.error}
        />
      )}
      {value.kind === 'some' && (
        <Picks chosen={value.servers} onChosen={servers => setValue({ ...value, servers })} error={props.error} />
      )}
    </>
  )
}

/** With more rows the page gets slow; more tags are searched by name. */
const most = 100

/** Tags to be ticked, with how many servers have each. */
export const TagPicks = (props: {
  chosen: ReadonlySet<string>
  onChosen: (chosen: ReadonlySet<string>) => void
  /** Only these are offered; undefined: any. */
  among?: readonly string[] | undefined
  error?: string | undefined
}) => {
  const t = textsOf(targetsTexts)
  const { chosen, onChosen, among } = props
  const query = useQuery(tagsQuery)
  const [typed, setTyped] = useState('')
  const used = query.data?.tags.filter(({ tag }) => among?.includes(tag) ?? true)
  if (!used) return <Trouble what={t.what} query={query} />
  // A chosen tag that no server has any more can be taken off.
  const unused = [...chosen].filter(tag => !used.some(one => one.tag === tag))
  const all = [...unused.map(tag => ({ tag, servers: 0 })), ...used]
  const matchingTags = all.filter(({ tag }) => tag.includes(typed.trim().toLowerCase()))
  const toggle = (tag: string, on: boolean) => {
    const next = new Set(chosen)
    if (on) next.add(tag)
    else next.delete(tag)
    onChosen(next)
  }
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.picks ?? ''}`}>
      <legend>{t.tags}</legend>
      {all.length > 8 && <FindField label={t.find} value={typed} onValue={setTyped} />}
      {all.length === 0 && <p className={parts.help}>{t.noTags}</p>}
      {all.length > 0 && matchingTags.length === 0 && <p className={parts.help}>{t.noneFound}</p>}
      <ul className={styles.picked}>
        {matchingTags.slice(0, most).map(({ tag, servers }) => (
          <li key={tag}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(tag)}
                onChange={event => toggle(tag, event.currentTarget.checked)}
              />
              {tag}
            </label>
            <span className={parts.muted}>{t.servers(servers)}</span>
          </li>
        ))}
      </ul>
      {matchingTags.length > most && <p className={parts.help}>{t.moreFound(matchingTags.length - most)}</p>}
      {all.length > 0 && (
        <p className={parts.help} role="status">
          {t.chosen(chosen.size)}
        </p>
      )}
      {props.error && <p className={parts.error}>{props.error}</p>}
    </fieldset>
  )
}
