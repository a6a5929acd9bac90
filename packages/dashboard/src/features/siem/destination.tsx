import { useState } from 'react'
import type { FormEvent } from 'react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { announce } from '../../kit/announce.tsx'
import { Field } from '../../kit/field.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Lines } from '../../kit/stranger.tsx'
import { Refusal, Trouble, fieldProblem } from '../../kit/trouble.tsx'
import { Waiting } from '../../kit/waiting.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import { useDraft } from '../../kit/draft.ts'
import { SecretSetting, TextSetting, secretChange } from '../settings/fields.tsx'
import { SaveBar } from '../settings/settings-page.tsx'
import { settingsTexts } from '../settings/settings.texts.ts'
import {
  changeOf,
  chooseFormat,
  chooseTransport,
  formats,
  isEncrypted,
  isHttp,
  losesToken,
  problemsOf,
  transportsOf,
  typeHost,
  typedOf,
} from './destination-form.ts'
import type { Transport, Typed } from './destination-form.ts'
import { siemSettingsQuery, typesQuery } from './queries.ts'
import type { Format, SiemSettings } from './queries.ts'
import { samples } from './samples.ts'
import { SiemPage } from './siem-page.tsx'
import styles from './siem.module.css'
import { siemTexts } from './siem.texts.ts'
import { TestEvent } from './test-event.tsx'

export const Destination = () => <SiemPage section="destination">{is => is && <Form is={is} />}</SiemPage>

/** What the API calls each field, where a refusal may name it. */
const apiNames: Readonly<Record<keyof Typed, string>> = {
  enabled: 'enabled',
  format: 'format',
  host: 'host',
  port: 'port',
  transport: 'protocol',
  verify: 'tls_verify',
  ca: 'ca_cert',
  path: 'path',
  token: 'token',
  events: 'events',
  minimum: 'min_severity',
  batch: 'batch_size',
  flush: 'flush_interval',
}

const Form = ({ is }: { is: SiemSettings }) => {
  const t = textsOf(siemTexts)
  const common = textsOf(settingsTexts)
  const was = typedOf(is)
  const draft = useDraft(was, { name: 'siem', secrets: ['token'] })
  const { values, changed } = draft
  // Before there is a target nothing is chosen, whatever the server's default is.
  const [begun, setBegun] = useState(is.host !== null || is.enabled)
  const [tried, setTried] = useState(false)
  const problems = problemsOf(values, is)
  const save = useMutation({
    mutationFn: async () => {
      const fresh = await queries.fetchQuery({ ...siemSettingsQuery, staleTime: 0 })
      if (!draft.isCurrent(typedOf(fresh))) return
      await api.call('PATCH /siem/settings', { body: changeOf(values, changed, is) })
      await queries.invalidateQueries({ queryKey: ['siem'] })
      draft.reset()
      setTried(false)
      announce(common.saved)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.keys(problems).length === 0 && changed.size > 0 && !save.isPending) save.mutate()
  }
  /** Empty fields are not blamed before a save was tried. */
  const problem = (name: keyof Typed) =>
    (values[name] === '' && !tried ? undefined : problems[name]) ?? fieldProblem(save.error, apiNames[name])
  const shown: Shown = { is, values, set: draft.set, problem }
  return (
    <form className={parts.form} onSubmit={submit} noValidate>
      {!begun && <p>{t.intro}</p>}
      <Formats
        chosen={begun ? values.format : null}
        onChoose={format => {
          setBegun(true)
          draft.set(chooseFormat(values, format))
        }}
      />
      {begun && (
        <div className={styles.halves}>
          <Target {...shown} />
          <div className={`${styles.stack ?? ''} ${styles.beside ?? ''}`}>
            <TestEvent key={targetKey(is)} is={is} unsaved={changed.size > 0} />
            <Sample format={values.format} />
          </div>
          <Events {...shown} />
          <Pace {...shown} />
        </div>
      )}
      {tried && Object.keys(problems).length > 0 && (
        <p className={parts.refusal} role="alert">
          {t.mend}
        </p>
      )}
      <Refusal error={save.error} />
      <SaveBar
        changes={changesOf(is, was, values, changed)}
        overtaken={draft.overtaken.map(nameOf)}
        busy={save.isPending}
        onDiscard={() => {
          draft.reset()
          save.reset()
          setTried(false)
          setBegun(is.host !== null || is.enabled)
        }}
      />
    </form>
  )
}

/** A test tells of one target; its result goes with it. */
const targetKey = ({ format, host, port, protocol, tls_enabled, tls_verify, ca_cert, path, token_set }: SiemSettings) =>
  JSON.stringify([format, host, port, protocol, tls_enabled, tls_verify, ca_cert, path, token_set])

const nameOf = (name: keyof Typed): string => textsOf(siemTexts)[name]

/** Each change in a line, for the bar that saves them. */
const changesOf = (is: SiemSettings, was: Typed, typed: Typed, changed: ReadonlySet<keyof Typed>): string[] => {
  const t = textsOf(siemTexts)
  const common = textsOf(settingsTexts)
  const said = (name: keyof Typed, of: Typed): string => {
    const value = of[name]
    if (name === 'format') return t.formats[of.format]
    if (name === 'transport') return t.transports[of.transport]
    if (name === 'events') return t.eventsCount(of.events.length, 8)
    if (typeof value === 'boolean') return value ? common.on : common.off
    return String(value ?? '').trim() || common.notSet
  }
  const lines = [...changed].map(name => {
    if (name === 'token') return secretChange(t.token, is.token_set, typed.token)
    if (name === 'ca') return secretChange(t.ca, was.ca !== '', typed.ca.trim() === '' ? null : typed.ca)
    return common.change(nameOf(name), said(name, was), said(name, typed))
  })
  return losesToken(typed, is) ? [...lines, secretChange(t.token, true, null)] : lines
}

const Formats = ({ chosen, onChoose }: { chosen: Format | null; onChoose: (format: Format) => void }) => {
  const t = textsOf(siemTexts)
  return (
    <fieldset className={styles.formats}>
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

interface Shown {
  readonly is: SiemSettings
  readonly values: Typed
  readonly set: (change: Partial<Typed>) => void
  readonly problem: (name: keyof Typed) => string | undefined
}

const Target = ({ is, values, set, problem }: Shown) => {
  const t = textsOf(siemTexts)
  const { format, transport } = values
  return (
    <Panel title={t.target}>
      <div className={parts.form}>
        <Check
          label={t.enabled}
          meaning={t.enabledHelp}
          checked={values.enabled}
          onChecked={enabled => set({ enabled })}
        />
        <TextSetting
          label={t.host}
          help={isHttp(format) ? t.hostHelp.http : t.hostHelp.stream}
          error={problem('host')}
          most={2048}
          kind="url"
          value={values.host}
          onValue={text => set(typeHost(values, text))}
        />
        <div className={styles.pair}>
          <Field label={t.transport} help={t.transportHelp[transport]} error={problem('transport')}>
            {ids => (
              <select
                {...ids}
                className={parts.input}
                value={transport}
                onChange={event => set(chooseTransport(values, event.currentTarget.value as Transport))}
              >
                {transportsOf(format).map(name => (
                  <option key={name} value={name}>
                    {t.transports[name]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <TextSetting
            label={t.port}
            error={problem('port')}
            most={6}
            kind="numeric"
            value={values.port}
            onValue={port => set({ port })}
          />
        </div>
        {(format === 'json' || format === 'collector') && (
          <>
            <TextSetting
              label={t.path}
              help={t.pathHelp[format]}
              error={problem('path')}
              most={2048}
              kind="url"
              value={values.path}
              onValue={path => set({ path })}
            />
            <SecretSetting
              label={t.token}
              help={t.tokenHelp[format]}
              error={problem('token') ?? (values.token === '' ? problemsOf(values, is).token : undefined)}
              isSet={is.token_set}
              value={values.token}
              onValue={token => set({ token })}
            />
          </>
        )}
        {isEncrypted(transport) && (
          <>
            <Check
              label={t.verify}
              meaning={t.verifyHelp}
              checked={values.verify}
              onChecked={verify => set({ verify })}
            />
            {!values.verify && (
              <p className={parts.warn} role="status">
                {t.verifyOff}
              </p>
            )}
            {values.verify && (
              <TextSetting
                label={t.ca}
                help={t.caHelp}
                error={problem('ca')}
                most={64 * 1024}
                rows={3}
                value={values.ca}
                onValue={ca => set({ ca })}
              />
            )}
          </>
        )}
      </div>
    </Panel>
  )
}

const severities = Array.from({ length: 11 }, (_, severity) => severity)

const Events = ({ values, set, problem }: Shown) => {
  const t = textsOf(siemTexts)
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
        <Trouble what={t.what.types} query={types} />
        {types.isPending && <Waiting lines={8} />}
        {types.data && (
          <fieldset className={styles.types}>
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
        <Field label={t.minimum} help={t.minimumHelp} error={problem('minimum')}>
          {ids => (
            <select
              {...ids}
              className={parts.input}
              value={values.minimum}
              onChange={event => set({ minimum: Number(event.currentTarget.value) })}
            >
              {severities.map(severity => (
                <option key={severity} value={severity}>
                  {t.minimumOf(severity)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {types.data && (
          <p className={sent.length === 0 ? parts.warn : parts.help} role="status">
            {sent.length === 0 ? t.nothingSent : t.someSent(sent.length, all.length)}
          </p>
        )}
      </div>
    </Panel>
  )
}

const Pace = ({ values, set, problem }: Shown) => {
  const t = textsOf(siemTexts)
  return (
    <Panel title={t.pace}>
      <div className={styles.pair}>
        <TextSetting
          label={t.batch}
          help={t.batchHelp}
          error={problem('batch')}
          most={6}
          kind="numeric"
          value={values.batch}
          onValue={batch => set({ batch })}
        />
        <TextSetting
          label={t.flush}
          help={t.flushHelp}
          error={problem('flush')}
          most={6}
          kind="numeric"
          value={values.flush}
          onValue={flush => set({ flush })}
        />
      </div>
    </Panel>
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
