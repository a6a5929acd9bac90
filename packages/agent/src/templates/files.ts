import * as fs from 'node:fs'
import { join } from 'node:path'
import { isTemplateName } from '@stockade/contract/names.ts'
import { fileMark, ownJail, ownJailFiles } from '../engine/own-files.ts'
import type { OwnFile } from '../engine/own-files.ts'
import { writeIni } from './ini.ts'
import type { Source } from './logs.ts'
import type { Template } from './model.ts'

const templateFile = /^zz-stockade-30-template-(.+)\.local$/

/** The templates whose stanza is on this host. */
export const deployedTemplates = (config: string): ReadonlySet<string> => {
  const names = fs.existsSync(join(config, 'jail.d')) ? fs.readdirSync(join(config, 'jail.d')) : []
  return new Set(names.map(name => templateFile.exec(name)?.[1]).filter(isTemplateName))
}

/** The files of a deployed template; a filter file of an older version goes when the template has none any more. */
export const templateFiles = (config: string, template: Template, source: Source | null): OwnFile[] => {
  const [filter, stanza] = placesOf(config, template.name)
  const { filterText } = template
  return [
    { path: filter, text: filterText === null ? null : `${fileMark}\n${writeIni(filterText)}` },
    {
      path: stanza,
      text: stanzaText(template, source, filterText === null ? template.filter : `stockade-${template.name}`),
    },
  ]
}

export const noTemplateFiles = (config: string, name: string): OwnFile[] =>
  placesOf(config, name).map(path => ({ path, text: null }))

/** The same jail from the plain options alone, with a filter that matches nothing. */
export const referenceFiles = (config: string, template: Template, source: Source | null): OwnFile[] => {
  const [, stanza] = placesOf(config, template.name)
  const plain = new Map([...template.options].filter(([option]) => option !== 'failregex' && option !== 'ignoreregex'))
  return [...ownJailFiles(config), { path: stanza, text: stanzaText({ ...template, options: plain }, source, ownJail) }]
}

const placesOf = (config: string, name: string): readonly [filter: string, stanza: string] => [
  join(config, 'filter.d', `stockade-${name}.conf`),
  join(config, 'jail.d', `zz-stockade-30-template-${name}.local`),
]

const stanzaText = (template: Template, source: Source | null, filter: string | null): string => {
  const options = new Map(template.options)
  if (filter !== null) options.set('filter', [filter])
  if (source) {
    options.set('backend', [source.backend])
    if (source.logpaths.length > 0) options.set('logpath', source.logpaths)
    if (source.journalmatch.length > 0) options.set('journalmatch', source.journalmatch)
  } else if (template.backend !== null) options.set('backend', [template.backend])
  return `${fileMark}\n${writeIni([{ name: template.name, options }])}`
}
