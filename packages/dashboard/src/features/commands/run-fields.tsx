import { useId } from 'react'
import { useQuery } from '@tanstack/react-query'
import { jailsQuery } from '../../api/queries.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { templatesQuery } from '../fleet/queries.ts'
import { DurationField } from '../../kit/duration-field.tsx'
import { durationTexts } from '../../kit/duration.texts.ts'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { commandTypes } from './filter.ts'
import { needsAgain, needsIp, needsJail } from './run-form.ts'
import type { RunErrors, TypedCommand } from './run-form.ts'

/** Any command with the form that its type needs; deploying and previewing a template have places of their own. */
const types = commandTypes.filter(type => type !== 'deploy-template' && type !== 'template-preview')

interface Given {
  readonly typed: TypedCommand
  readonly errors: RunErrors
  readonly set: (change: Partial<TypedCommand>) => void
}

export const TypeField = ({ typed, set, focused }: Pick<Given, 'typed' | 'set'> & { focused: boolean }) => {
  const t = textsOf(commandsTexts).dialog
  const names = textsOf(fleetTexts).types
  return (
    <SelectField
      label={t.what}
      focus={focused}
      value={typed.type}
      options={types.map(type => ({ value: type, text: names[type] }))}
      onValue={type => set({ type })}
    />
  )
}

/** The parameters that the type of the command has. */
export const ParamFields = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  const { type, ip, time } = typed
  return (
    <>
      {needsIp(typed) && (
        <TextField label={t.ip} error={errors.ip} dir="ltr" value={ip} onValue={typedIp => set({ ip: typedIp })} />
      )}
      {needsJail(typed) && <JailField typed={typed} errors={errors} set={set} />}
      {type === 'ban-ip' && (
        <DurationField
          label={t.duration}
          help={`${t.jailLength} ${textsOf(durationTexts).help}`}
          error={errors.time}
          value={time}
          onValue={typedTime => set({ time: typedTime })}
        />
      )}
      {type === 'remove-template' && <TemplateField typed={typed} errors={errors} set={set} />}
    </>
  )
}

const JailField = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  const listId = useId()
  const [only = ''] = typed.servers.size === 1 ? typed.servers : []
  const jails = useQuery({ ...jailsQuery(only), enabled: only !== '' }).data?.jails ?? []
  return (
    <>
      <TextField
        label={t.jail}
        help={typed.type === 'unban-ip' ? t.jailOrAll : t.jailHelp}
        error={errors.jail}
        dir="ltr"
        list={listId}
        value={typed.jail}
        onValue={jail => set({ jail })}
      />
      <datalist id={listId}>
        {jails.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

const TemplateField = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  const templates = useQuery(templatesQuery({})).data?.templates ?? []
  return (
    <SelectField
      label={t.template}
      error={errors.template}
      value={typed.template}
      options={[
        { value: '', text: t.noTemplate },
        ...templates.map(({ name, display_name }) => ({ value: name, text: display_name })),
      ]}
      onValue={template => set({ template })}
    />
  )
}

/** What the command means, and a very wide range once more. */
export const Consequences = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  return (
    <>
      {needsAgain(typed) && (
        <TextField
          label={t.wide(typed.ip.trim())}
          error={errors.again}
          dir="ltr"
          value={typed.again}
          onValue={again => set({ again })}
        />
      )}
      {typed.type === 'service-restart' && <p className={parts.warn}>{t.restart}</p>}
      {typed.type === 'jail-disable' && <p className={parts.warn}>{t.disable}</p>}
    </>
  )
}
