import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { summaryQuery } from '../../api/queries.ts'
import { FindField } from '../../kit/find-field.tsx'
import parts from '../../kit/parts.module.css'
import { SmallButton } from '../../kit/small-button.tsx'
import { Mark } from '../../kit/state.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { number } from '../../lib/numbers.ts'
import { fleetTexts } from './fleet.texts.ts'
import { targetsTexts } from './targets.texts.ts'
import { healthOf, healthTones } from './health.ts'
import type { SummaryRow } from './health.ts'
import styles from './fleet.module.css'

/** With more rows the page gets slow; larger fleets are searched by name. */
const most = 100

/** Servers to be ticked, with all or all online at once. Hosts that are away can be chosen: what they get waits. */
export const Picks = (props: {
  chosen: ReadonlySet<string>
  onChosen: (chosen: ReadonlySet<string>) => void
  legend?: string
  error?: string | undefined
  /** What becomes of it on servers that are away. */
  away?: (count: number) => string
}) => {
  const t = textsOf(fleetTexts)
  const { chosen, onChosen } = props
  const query = useQuery(summaryQuery)
  const all = query.data?.servers
  const [typed, setTyped] = useState('')
  if (!all) return <Trouble what={t.what} query={query} />
  const searchText = typed.trim().toLowerCase()
  const tag = /^tag:(\S+)$/.exec(searchText)?.[1]
  const matches = all.filter(({ hostname, tags }) =>
    tag === undefined ? hostname.toLowerCase().includes(searchText) : tags.some(each => each.startsWith(tag)),
  )
  const away = all.filter(({ id, status }) => chosen.has(id) && status !== 'online').length
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.picks ?? ''}`}>
      <legend>{props.legend ?? t.which}</legend>
      <Shortcuts all={all} chosen={chosen} onChosen={onChosen} />
      <TagShortcuts all={all} chosen={chosen} onChosen={onChosen} />
      {all.length > 8 && <FindField label={t.find} value={typed} onValue={setTyped} />}
      {all.length === 0 && <p className={parts.help}>{t.noServers}</p>}
      {all.length > 0 && matches.length === 0 && <p className={parts.help}>{t.noneFound}</p>}
      <ul className={styles.picked}>
        {matches.slice(0, most).map(server => (
          <ServerBox key={server.id} server={server} chosen={chosen} onChosen={onChosen} />
        ))}
      </ul>
      {matches.length > most && <p className={parts.help}>{t.moreFound(matches.length - most)}</p>}
      <p className={parts.help} role="status">
        {t.chosen(chosen.size)}
        {away > 0 && <> {(props.away ?? t.waiting)(away)}</>}
      </p>
      {props.error && <p className={parts.error}>{props.error}</p>}
    </fieldset>
  )
}

type Server = Pick<SummaryRow, 'id' | 'hostname' | 'status' | 'protection' | 'tags'>
interface Choosing {
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
}
const Shortcuts = ({ all, chosen, onChosen }: Choosing & { all: readonly Server[] }) => {
  const t = textsOf(fleetTexts)
  const choose = (servers: readonly Server[]) => onChosen(new Set(servers.map(({ id }) => id)))
  return (
    <div className={parts.row}>
      <SmallButton onClick={() => choose(all)}>{t.all}</SmallButton>
      <SmallButton onClick={() => choose(all.filter(({ status }) => status === 'online'))}>{t.allOnline}</SmallButton>
      {chosen.size > 0 && (
        <Button size="xs" variant="subtle" onClick={() => choose([])}>
          {t.nobody}
        </Button>
      )}
    </div>
  )
}

/** So many tags have a button, those of most servers; the others are searched as `tag:NAME`. */
const mostTags = 12
/** All servers of a tag at once; those that have it and are chosen all are taken off by the same button. */
const TagShortcuts = ({ all, chosen, onChosen }: Choosing & { all: readonly Server[] }) => {
  const serversByTag = new Map<string, string[]>()
  for (const { id, tags } of all) for (const tag of tags) serversByTag.set(tag, [...(serversByTag.get(tag) ?? []), id])
  const usedTags = [...serversByTag].sort(
    ([a, { length: ofA }], [b, { length: ofB }]) => ofB - ofA || a.localeCompare(b),
  )
  if (usedTags.length === 0) return null
  return (
    <div className={parts.row} role="group" aria-label={textsOf(targetsTexts).tags}>
      {usedTags.slice(0, mostTags).map(([tag, ids]) => {
        const isChosen = ids.every(id => chosen.has(id))
        const others = [...chosen].filter(id => !ids.includes(id))
        return (
          <button
            key={tag}
            type="button"
            className={parts.chip}
            aria-pressed={isChosen}
            onClick={() => onChosen(new Set(isChosen ? others : [...others, ...ids]))}
          >
            {tag} <span className={parts.muted}>{number(ids.length)}</span>
          </button>
        )
      })}
    </div>
  )
}

const ServerBox = ({ server, chosen, onChosen }: Choosing & { server: Server }) => {
  const { id, hostname } = server
  const health = healthOf(server)
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={chosen.has(id)}
          onChange={event =>
            onChosen(new Set(event.currentTarget.checked ? [...chosen, id] : [...chosen].filter(other => other !== id)))
          }
        />
        <bdi>{nameOf(hostname)}</bdi>
      </label>
      <Mark tone={healthTones[health]}>{textsOf(fleetTexts).palisade.healths[health]}</Mark>
    </li>
  )
}
