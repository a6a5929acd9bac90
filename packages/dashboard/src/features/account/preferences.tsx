import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { keysOf } from '@stockade/contract/records.ts'
import { optionsQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { SelectField } from '../../kit/form-fields.tsx'
import { keyList } from '../../kit/keys.ts'
import { useWords } from '../../kit/now.ts'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { usePreferences, useTheme } from '../../kit/preferences.ts'
import { groupsFor } from '../navigation/places.ts'
import { shellTexts } from '../navigation/shell.texts.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { chooseLanguage, chosenLanguage, languages } from '../../lib/texts/language.ts'
import { browserZone, preferences } from '../../lib/preferences.ts'
import { exactTime } from '../../lib/time.ts'
import { Check, Choices } from '../identity/choices.tsx'
import identity from '../identity/identity.module.css'
import { AccountPage } from './account-page.tsx'
import { preferencesTexts } from './preferences.texts.ts'

/** How one wants the dashboard. Everything holds at once; there is nothing to save. */
export const OwnPreferences = () => {
  const t = textsOf(preferencesTexts)
  return (
    <AccountPage title={t.title}>
      <p className={parts.muted}>{t.kept}</p>
      <div className={identity.columns}>
        <Look />
        <Times />
        <Use />
      </div>
    </AccountPage>
  )
}

const optionsOf = <T extends string>(names: Readonly<Record<T, string>>) =>
  keysOf(names).map(value => ({ value, label: names[value] }))

const Look = () => {
  const t = textsOf(preferencesTexts)
  const { density } = usePreferences()
  const { theme, choose: wear } = useTheme()
  const [chosen, setChosen] = useState(chosenLanguage)
  const [differs, setDiffers] = useState(false)
  const choose = (value: string) => {
    const language = keysOf(languages).find(tag => tag === value) ?? null
    setChosen(language)
    setDiffers(chooseLanguage(language))
    preferences.change({ language })
  }
  return (
    <Panel title={t.look}>
      <div className={parts.form}>
        <Choices legend={t.theme} options={optionsOf(textsOf(shellTexts).themes)} value={theme} onValue={wear} />
        <Choices
          legend={t.density}
          options={optionsOf(t.densities)}
          value={density}
          onValue={value => preferences.change({ density: value })}
        />
        <SelectField
          label={t.language}
          help={
            differs && (
              <span role="status">
                {t.languageHelp}{' '}
                <button type="button" className={parts.quiet} onClick={() => location.reload()}>
                  {t.reload}
                </button>
              </span>
            )
          }
          value={chosen ?? ''}
          options={[
            { value: '', text: t.asBrowser },
            ...Object.entries(languages).map(([tag, name]) => ({ value: tag, text: name, lang: tag })),
          ]}
          onValue={choose}
        />
      </div>
    </Panel>
  )
}

const Times = () => {
  const t = textsOf(preferencesTexts)
  const { zone, clock } = usePreferences()
  const siteZone = useQuery(optionsQuery).data?.timezone ?? ''
  const now = useWords(exactTime)
  return (
    <Panel title={t.times}>
      <div className={parts.form}>
        <Choices
          legend={t.zone}
          options={[
            { value: 'browser', label: t.zones.browser(browserZone) },
            { value: 'utc', label: t.zones.utc },
            { value: 'site', label: t.zones.site(siteZone) },
          ]}
          value={zone}
          onValue={value => preferences.change({ zone: value })}
        >
          <p className={parts.help}>{t.zoneHelp}</p>
        </Choices>
        <Choices
          legend={t.clock}
          options={[
            { value: '24', label: t.clocks['24'] },
            { value: '12', label: t.clocks['12'] },
          ]}
          value={clock}
          onValue={value => preferences.change({ clock: value })}
        />
        <p className={parts.muted}>{t.now(now)}</p>
      </div>
    </Panel>
  )
}

const Use = () => {
  const t = textsOf(preferencesTexts)
  const names = textsOf(shellTexts)
  const { start, keys, reduced } = usePreferences()
  const role = useMe()?.role
  return (
    <Panel title={t.use}>
      <div className={parts.form}>
        <SelectField
          label={t.start}
          help={t.startHelp}
          value={start}
          options={groupsFor(role).flatMap(({ items }) =>
            items.map(({ to, text }) => ({ value: to, text: names[text] })),
          )}
          onValue={value => preferences.change({ start: value })}
        />
        <Check
          label={t.keys}
          meaning={t.keysHelp}
          checked={keys}
          onChecked={value => preferences.change({ keys: value })}
        />
        <div>
          <button type="button" className={parts.quiet} onClick={() => keyList.set(true)}>
            {t.showKeys}
          </button>
        </div>
        <Check
          label={t.reduced}
          meaning={t.reducedHelp}
          checked={reduced}
          onChecked={value => preferences.change({ reduced: value })}
        />
      </div>
    </Panel>
  )
}
