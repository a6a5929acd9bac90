import { settings as contract } from '@stockade/contract'
import { authorOf } from '../../core/author.ts'
import { iso } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Http } from '../../http/http.ts'
import { defaultsOfSections, fieldsOf, sectionsOf, storedOf } from './sections.ts'
import type { SettingsService } from './settings.service.ts'

/** The sections, their export and import. */
export const mountSettings = (
  http: Http,
  settings: SettingsService,
  needs: {
    baseUrl: () => string
    clock: Clock
  },
): void => {
  const { get } = settings
  const sections = () => sectionsOf(get, needs.baseUrl)
  const shownUrl = () => ({ site_url: sections().service.site_url, isOwnUrl: get('service.site_url') !== null })
  http.serve(contract.getSettings, sections)
  http.serve(contract.updateSettings, async ({ actor, body }) => {
    const updated_fields = fieldsOf(await settings.update(authorOf(actor), storedOf(body, shownUrl())))
    return { message: updated_fields.length > 0 ? 'The settings are changed.' : 'Nothing was changed.', updated_fields }
  })
  http.serve(contract.exportSettings, () => ({
    version: contract.exportVersion,
    exported_at: iso(needs.clock()),
    settings: sections(),
  }))
  http.serve(contract.importSettings, async ({ actor, body }) => {
    const { merge = true } = body
    const storedSettings = storedOf(body.settings, shownUrl(), 'settings.')
    const updated_sections = merge
      ? contract.sectionNames.filter(name => body.settings[name] !== undefined)
      : [...contract.sectionNames]
    await settings.update(authorOf(actor), merge ? storedSettings : { ...defaultsOfSections(), ...storedSettings }, {
      name: 'settings.import',
      author: authorOf(actor),
      data: { merge, sections: updated_sections },
    })
    return { message: 'The settings are imported.', updated_sections }
  })
}
