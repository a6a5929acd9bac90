import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { summaryQuery } from '../../api/queries.ts'
import parts from '../../kit/parts.module.css'
import { State } from '../../kit/state.tsx'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { fleetTexts } from './fleet.texts.ts'
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
  const wanted = typed.trim().toLowerCase()
  const found = all.filter(({ hostname }) => hostname.toLowerCase().includes(wanted))
  const away = all.filter(({ id, status }) => chosen.has(id) && status !== 'online').length
  const toggle = (id: string, on: boolean) => {
    const next = new Set(chosen)
    if (on) next.add(id)
    else next.delete(id)
    onChosen(next)
  }
  return (
    <fieldset className={styles.picks}>
      <legend>{props.legend ?? t.which}</legend>
      <div className={parts.row}>
        <Button size="compact-sm" variant="default" onClick={() => onChosen(new Set(all.map(({ id }) => id)))}>
          {t.all}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => onChosen(new Set(all.filter(({ status }) => status === 'online').map(({ id }) => id)))}
        >
          {t.allOnline}
        </Button>
        {chosen.size > 0 && (
          <Button size="compact-sm" variant="subtle" onClick={() => onChosen(new Set())}>
            {t.nobody}
          </Button>
        )}
      </div>
      {all.length > 8 && (
        <input
          className={parts.input}
          type="search"
          aria-label={t.find}
          placeholder={t.find}
          autoCapitalize="none"
          spellCheck={false}
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
      )}
      {all.length === 0 && <p className={parts.help}>{t.noServers}</p>}
      {all.length > 0 && found.length === 0 && <p className={parts.help}>{t.noneFound}</p>}
      <ul className={styles.picked}>
        {found.slice(0, most).map(({ id, hostname, status }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(id)}
                onChange={event => toggle(id, event.currentTarget.checked)}
              />
              <bdi>{nameOf(hostname)}</bdi>
            </label>
            <State is={status} />
          </li>
        ))}
      </ul>
      {found.length > most && <p className={parts.help}>{t.moreFound(found.length - most)}</p>}
      <p className={parts.help} role="status">
        {t.chosen(chosen.size)}
        {away > 0 && <> {(props.away ?? t.waiting)(away)}</>}
      </p>
      {props.error && <p className={parts.error}>{props.error}</p>}
    </fieldset>
  )
}
