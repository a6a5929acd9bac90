import { useQuery } from '@tanstack/react-query'
import { Loading } from '../../kit/loading.tsx'
import { SelectField } from '../../kit/form-fields.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import type { DestinationForm } from './destination-form.ts'
import { typesQuery } from './queries.ts'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'

const severities = Array.from({ length: 11 }, (_, severity) => severity)

/** The kinds of events that are sent, from which severity on. */
export const Events = ({ form }: { form: DestinationForm }) => {
  const t = textsOf(siemTexts)
  const { values, set } = form
  const types = useQuery(typesQuery)
  const all = types.data ?? []
  const sent = all.filter(
    ({ id, default_severity }) => values.events.includes(id) && default_severity >= values.minimum,
  )
  const turn = (id: string, on: boolean) =>
    // In the order of the server, so that a type that is taken out and put back is no change.
    set({ events: all.map(type => type.id).filter(type => (type === id ? on : values.events.includes(type))) })
  return (
    <Panel title={t.eventsTitle}>
      <div className={parts.form}>
        <Loading what={t.what.types} query={types} lines={8} />
        {types.data && (
          <fieldset className={parts.group}>
            <legend>{t.events}</legend>
            {all.map(({ id, name, description, default_severity }) => {
              const below = default_severity < values.minimum
              return (
                <div key={id} className={below ? styles.struck : undefined} data-type={id}>
                  <Check
                    label={name}
                    meaning={
                      <>
                        {t.severity(default_severity)} {description} {below && t.below}
                      </>
                    }
                    checked={values.events.includes(id)}
                    onChecked={on => turn(id, on)}
                  />
                </div>
              )
            })}
          </fieldset>
        )}
        <SelectField
          {...form.bind('minimum')}
          help={t.minimumHelp}
          options={severities.map(value => ({ value, text: t.minimumOf(value) }))}
        />
        {types.data && (
          <p className={sent.length === 0 ? parts.warn : parts.help} role="status">
            {sent.length === 0 ? t.nothingSent : t.someSent(sent.length, all.length)}
          </p>
        )}
      </div>
    </Panel>
  )
}
