import { Link, useNavigate } from '@tanstack/react-router'
import { outlines as world } from '../../../world/outlines.ts'
import { countryName } from '../../lib/countries.ts'
import type { BansSearch } from '../bans/filter.ts'
import parts from '../../kit/parts.module.css'
import { PlainTable } from '../../kit/plain-table.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { number } from '../../lib/numbers.ts'
import { chartsTexts } from '../../kit/charts/charts.texts.ts'
import { bandsOf, stepOf } from './world-steps.ts'
import styles from '../../kit/charts/charts.module.css'

export interface Place {
  /** `ZZ` where the place is not known. */
  readonly code: string
  readonly count: number
}

interface Needs {
  readonly places: readonly Place[]
  /** What the bans have in common beside their country. */
  readonly search: BansSearch
}

/** Countries by how many bans came from them, and the same as a table beside it. */
export const WorldMap = ({ places, search }: Needs) => {
  const t = textsOf(chartsTexts)
  const knownPlaces = places.filter(({ code }) => code !== 'ZZ')
  const unknown = places.find(({ code }) => code === 'ZZ')?.count ?? 0
  const most = Math.max(0, ...knownPlaces.map(({ count }) => count))
  return (
    <div className={styles.world}>
      <div>
        <Picture places={knownPlaces} search={search} most={most} />
        <ul className={styles.legend}>
          {bandsOf(most).map(({ step, from, to }) => (
            <li key={step}>
              <svg viewBox="0 0 14 14" aria-hidden="true">
                <rect data-step={step} x="0.5" y="0.5" width="13" height="13" />
              </svg>
              {t.map.step(number(from), number(to))}
            </li>
          ))}
          {unknown > 0 && <li>{t.map.unknown(number(unknown))}</li>}
        </ul>
      </div>
      <PlaceTable places={knownPlaces} search={search} />
    </div>
  )
}

const Picture = ({ places, search, most }: Needs & { most: number }) => {
  const t = textsOf(chartsTexts)
  const navigate = useNavigate()
  const counts = new Map(places.map(({ code, count }) => [code, count]))
  const total = places.reduce((sum, { count }) => sum + count, 0)
  const [first] = places
  const open = (code: string) => void navigate({ to: '/bans', search: { ...search, country: code } })
  /** What a country is on the map: a shade and a way to its bans, or just land. */
  const facts = (code: string) => {
    const count = counts.get(code) ?? 0
    return count === 0
      ? { className: styles.land }
      : { 'data-step': stepOf(count, most), 'data-country': code, onClick: () => open(code) }
  }
  const title = (code: string) =>
    counts.has(code) ? <title>{t.map.title(countryName(code), number(counts.get(code) ?? 0))}</title> : null
  return (
    <svg
      className={styles.map}
      viewBox={`0 0 ${world.width} ${world.height}`}
      role="img"
      aria-label={
        first
          ? t.map.sentence(
              t.bans(number(total), total),
              t.map.places(number(places.length), places.length),
              countryName(first.code),
            )
          : t.empty
      }
    >
      <path className={styles.sphere} d={world.sphere} />
      <path className={styles.land} d={world.rest} />
      {world.shapes.map(([code, d]) => (
        <path key={code} d={d} {...facts(code)}>
          {title(code)}
        </path>
      ))}
      {world.dots
        .filter(([code]) => counts.has(code))
        .map(([code, x, y]) => (
          <circle key={code} cx={x} cy={y} r="5" {...facts(code)}>
            {title(code)}
          </circle>
        ))}
    </svg>
  )
}

const PlaceTable = ({ places, search }: Needs) => {
  const t = textsOf(chartsTexts)
  return (
    <PlainTable
      caption={t.map.caption}
      heads={[t.map.country, { key: 'count', text: t.count, className: parts.end }]}
      frame={styles.places}
    >
      {places.map(({ code, count }) => (
        <tr key={code}>
          <td>
            <Link to="/bans" search={{ ...search, country: code }} className={parts.link} preload={false}>
              {countryName(code)}
            </Link>
          </td>
          <td className={parts.end}>{number(count)}</td>
        </tr>
      ))}
    </PlainTable>
  )
}
