import { createRequire } from 'node:module'
import { geoCentroid, geoGraticule, geoNaturalEarth1, geoPath } from 'd3-geo'
import type { GeoPermissibleObjects } from 'd3-geo'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { alpha2 } from './codes.ts'

/*
 * The map is drawn when the dashboard is built: what travels is the outline of each country as a path of whole tenths,
 * so that neither a projection nor the atlas has to be loaded. Places too small to be seen are dots.
 */

export interface World {
  readonly width: number
  readonly height: number
  /** Outlines by the two letters of the country. */
  readonly shapes: readonly (readonly [code: string, path: string])[]
  /** Middles of the countries that have no outline at this scale. */
  readonly dots: readonly (readonly [code: string, x: number, y: number])[]
  /** Land that has no code of its own. */
  readonly rest: string
  /** The edge of the map. */
  readonly sphere: string
}

type Atlas = Topology<{ countries: GeometryCollection<{ name: string }> }>
const require = createRequire(import.meta.url)
const atlas = (scale: '110m' | '50m') => require(`world-atlas/countries-${scale}.json`) as Atlas
const width = 960

/** @throws Error for a country of the atlas whose letters are not known. */
export const drawWorld = (): World => {
  const projection = geoNaturalEarth1().fitWidth(width, { type: 'Sphere' })
  const path = geoPath(projection).digits(1)
  const draw = (what: GeoPermissibleObjects) => path(what) ?? ''
  const [[, top] = [0, 0], [, bottom] = [0, 0]] = path.bounds({ type: 'Sphere' })
  const coarse = atlas('110m')
  const shapes = new Map<string, string>()
  let rest = ''
  for (const country of feature(coarse, coarse.objects.countries).features) {
    const { id, properties } = country
    // Antarctica would take a fifth of the picture, and nobody is there.
    if (id === '010') continue
    const code = alpha2(id, properties.name)
    if (code === null) rest += draw(country)
    else shapes.set(code, (shapes.get(code) ?? '') + draw(country))
  }
  const fine = atlas('50m')
  const dots = feature(fine, fine.objects.countries).features.flatMap(country => {
    const code = alpha2(country.id, country.properties.name)
    const at = projection(geoCentroid(country))
    return code === null || code === 'AQ' || shapes.has(code) || !at
      ? []
      : [[code, Math.round(at[0]), Math.round(at[1])] as const]
  })
  return {
    width,
    // Without the ice in the south.
    height: Math.round((bottom - top) * 0.88),
    shapes: [...shapes].sort(([a], [b]) => (a < b ? -1 : 1)),
    dots,
    rest,
    sphere: draw(geoGraticule().outline()),
  }
}
