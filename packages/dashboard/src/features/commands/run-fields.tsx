import { useId } from 'react'
import { useQuery } from '@tanstack/react-query'
import { jailsQuery } from '../../api/queries.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { templatesQuery } from '../fleet/queries.ts'
import { Field } from '../../kit/field.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { commandsTexts } from './commands.texts.ts'
import { commandTypes } from './filter.ts'
import { needsAgain, needsIp, needsJail } from './run-form.ts'
import type { RunErrors, TypedCommand } from './run-form.ts'

/** Any command with the form that its type needs; deploying has a page of its own. */
const types = commandTypes.filter(type => type !== 'deploy-template')
const plain = { className: parts.input, autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const

interface Given {
  readonly typed: TypedCommand
  readonly errors: RunErrors
  readonly set: (change: Partial<TypedCommand>) => void
}

export const TypeField = ({ typed, set, focused }: Pick<Given, 'typed' | 'set'> & { focused: boolean }) => {
  const t = textsOf(commandsTexts).dialog
  const names = textsOf(fleetTexts).types
  return (
    <Field label={t.what}>
      {ids => (
        <select
          {...ids}
          className={parts.input}
          data-autofocus={focused || undefined}
          value={typed.type}
          onChange={event => {
            const type = types.find(known => known === event.currentTarget.value)
            if (type) set({ type })
          }}
        >
          {types.map(known => (
            <option key={known} value={known}>
              {names[known]}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** The parameters that the type of the command has. */
export const ParamFields = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  const { type, ip, time } = typed
  return (
    <>
      {needsIp(typed) && (
        <Field label={t.ip} error={errors.ip}>
          {ids => (
            <input
              {...ids}
              {...plain}
              dir="ltr"
              value={ip}
              onChange={event => set({ ip: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
      {needsJail(typed) && <JailField typed={typed} errors={errors} set={set} />}
      {type === 'ban-ip' && (
        <Field label={t.duration} help={t.durationHelp} error={errors.time}>
          {ids => (
            <input {...ids} {...plain} value={time} onChange={event => set({ time: event.currentTarget.value })} />
          )}
        </Field>
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
    <Field label={t.jail} help={typed.type === 'unban-ip' ? t.jailOrAll : t.jailHelp} error={errors.jail}>
      {ids => (
        <>
          <input
            {...ids}
            {...plain}
            dir="ltr"
            list={listId}
            value={typed.jail}
            onChange={event => set({ jail: event.currentTarget.value })}
          />
          <datalist id={listId}>
            {jails.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

const TemplateField = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  const templates = useQuery(templatesQuery({})).data?.templates ?? []
  return (
    <Field label={t.template} error={errors.template}>
      {ids => (
        <select
          {...ids}
          className={parts.input}
          value={typed.template}
          onChange={event => set({ template: event.currentTarget.value })}
        >
          <option value="">{t.noTemplate}</option>
          {templates.map(({ name, display_name }) => (
            <option key={name} value={name}>
              {display_name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** What the command means, and a very wide range once more. */
export const Consequences = ({ typed, errors, set }: Given) => {
  const t = textsOf(commandsTexts).dialog
  return (
    <>
      {needsAgain(typed) && (
        <Field label={t.wide(typed.ip.trim())} error={errors.again}>
          {ids => (
            <input
              {...ids}
              {...plain}
              dir="ltr"
              value={typed.again}
              onChange={event => set({ again: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
      {typed.type === 'service-restart' && <p className={parts.warn}>{t.restart}</p>}
      {typed.type === 'jail-disable' && <p className={parts.warn}>{t.disable}</p>}
    </>
  )
}
