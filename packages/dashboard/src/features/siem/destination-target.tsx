import { SecretField, SelectField, TextField } from '../../kit/form-fields.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { CheckField } from '../identity/choices.tsx'
import { chooseTransport, isEncrypted, isHttp, problemsOf, transportsOf, typeHost } from './destination-form.ts'
import type { DestinationForm } from './destination-form.ts'
import type { SiemSettings } from './queries.ts'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'

/** Where events are sent to, and how. */
export const Target = ({ is, form }: { is: SiemSettings; form: DestinationForm }) => {
  const t = textsOf(siemTexts)
  const { values, set } = form
  const { format, transport } = values
  return (
    <Panel title={t.target}>
      <div className={parts.form}>
        <CheckField {...form.bind('enabled')} meaning={t.enabledHelp} />
        <TextField
          {...form.bind('host')}
          onValue={text => set(typeHost(values, text))}
          help={isHttp(format) ? t.hostHelp.http : t.hostHelp.stream}
          most={2048}
          kind="url"
        />
        <div className={styles.pair}>
          <SelectField
            {...form.bind('transport')}
            onValue={chosen => set(chooseTransport(values, chosen))}
            help={t.transportHelp[transport]}
            options={transportsOf(format).map(value => ({ value, text: t.transports[value] }))}
          />
          <TextField {...form.bind('port')} most={6} kind="numeric" />
        </div>
        {(format === 'json' || format === 'collector') && (
          <>
            <TextField {...form.bind('path')} help={t.pathHelp[format]} most={2048} kind="url" />
            <SecretField
              {...form.bind('token')}
              // Another host requires it, although the field was not touched.
              error={form.problemOf('token') ?? problemsOf(values, is).token}
              help={t.tokenHelp[format]}
              isSet={is.token_set}
            />
          </>
        )}
        {(transport === 'tcp' || transport === 'tls') && <CheckField {...form.bind('lines')} meaning={t.linesHelp} />}
        {isEncrypted(transport) && <Certificate form={form} />}
      </div>
    </Panel>
  )
}

const Certificate = ({ form }: { form: DestinationForm }) => {
  const t = textsOf(siemTexts)
  return (
    <>
      <CheckField {...form.bind('verify')} meaning={t.verifyHelp} />
      {form.values.verify ? (
        <TextField {...form.bind('ca')} help={t.caHelp} most={64 * 1024} rows={3} />
      ) : (
        <p className={parts.warn} role="status">
          {t.verifyOff}
        </p>
      )}
    </>
  )
}

/** How many events go together, and how long one waits for others. */
export const Pace = ({ form }: { form: DestinationForm }) => {
  const t = textsOf(siemTexts)
  return (
    <Panel title={t.pace}>
      <div className={styles.pair}>
        <TextField {...form.bind('batch')} help={t.batchHelp} most={6} kind="numeric" />
        <TextField {...form.bind('flush')} help={t.flushHelp} most={6} kind="numeric" />
      </div>
    </Panel>
  )
}
