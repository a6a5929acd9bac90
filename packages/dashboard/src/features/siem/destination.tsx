import { useState } from 'react'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { useForm } from '../../kit/form.ts'
import { Form } from '../../kit/form.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Lines } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Events } from './destination-events.tsx'
import {
  changeOf,
  chooseFormat,
  fieldsOf,
  formats,
  isHttp,
  losesToken,
  pathOf,
  problemsOf,
  typedOf,
} from './destination-form.ts'
import { Pace, Target } from './destination-target.tsx'
import { siemSettingsQuery } from './queries.ts'
import type { Format, SiemSettings } from './queries.ts'
import { samples } from './samples.ts'
import { SiemPage } from './siem-page.tsx'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'
import { TestEvent } from './test-event.tsx'

export const Destination = () => <SiemPage section="destination">{is => is && <DestinationPage is={is} />}</SiemPage>

const DestinationPage = ({ is }: { is: SiemSettings }) => {
  const t = textsOf(siemTexts)
  // Before there is a target nothing is chosen, whatever the server's default is.
  const [isBegun, setBegun] = useState(is.host !== null || is.enabled)
  const form = useForm({
    name: 'siem',
    is: typedOf(is),
    fields: fieldsOf(is),
    problems: values => problemsOf(values, is),
    pathOf,
    fresh: async () => typedOf(await queries.fetchQuery({ ...siemSettingsQuery, staleTime: 0 })),
    parts: [
      {
        send: (values, changed) => api.call('PATCH /siem/settings', { body: changeOf(values, changed, is) }),
      },
    ],
    reread: () => queries.invalidateQueries({ queryKey: ['siem'] }),
  })
  const { values } = form
  return (
    <Form form={form}>
      {!isBegun && <p>{t.intro}</p>}
      <Formats
        chosen={isBegun ? values.format : null}
        onChoose={format => {
          setBegun(true)
          form.set(chooseFormat(values, format))
        }}
      />
      {isBegun && (
        <div className={styles.halves}>
          <Target is={is} form={form} />
          <div className={`${styles.stack ?? ''} ${styles.beside ?? ''}`}>
            <TestEvent is={is} unsaved={form.changed.size > 0} save={form.trySave} />
            <Sample format={values.format} />
          </div>
          <Events form={form} />
          <Pace form={form} />
        </div>
      )}
      {losesToken(values, is) && (
        <p className={parts.warn} role="status">
          {t.losesToken}
        </p>
      )}
    </Form>
  )
}

const Formats = ({ chosen, onChoose }: { chosen: Format | null; onChoose: (format: Format) => void }) => {
  const t = textsOf(siemTexts)
  return (
    <fieldset className={`${parts.group ?? ''} ${styles.formats ?? ''}`}>
      <legend>{t.format}</legend>
      {formats.map(format => (
        <label key={format} className={styles.format}>
          <input
            type="radio"
            name="format"
            value={format}
            checked={chosen === format}
            onChange={() => onChoose(format)}
          />
          <span>
            {t.formats[format]}
            <small>{t.formatMeans[format]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const Sample = ({ format }: { format: Format }) => {
  const t = textsOf(siemTexts)
  return (
    <Panel title={t.sample}>
      <div className={styles.outcome}>
        <Lines text={samples[format]} label={t.sampleLabel(t.formats[format])} />
        {isHttp(format) && <p className={parts.help}>{t.sampleOneLine}</p>}
      </div>
    </Panel>
  )
}
