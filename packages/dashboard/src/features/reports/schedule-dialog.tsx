import { useState } from 'react'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { binding } from '../../kit/binding.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useKept } from '../../kit/draft.ts'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { locale, textsOf } from '../../lib/texts/catalogue.ts'
import { TargetChoice, useTarget } from '../fleet/target-choice.tsx'
import type { ReportPeriod } from './filter.ts'
import { readSchedulesAgain } from './queries.ts'
import { reportsTexts } from './reports.texts.ts'

const weekdays: readonly number[] = [1, 2, 3, 4, 5, 6, 7]
/** 1 January 2024 was a Monday. */
const weekdayName = (day: number): string =>
  new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, day))
const within = (text: string, least: number, most: number): boolean =>
  /^\d{1,2}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most

interface Typed {
  readonly name: string
  readonly period: ReportPeriod
  readonly hour: string
  readonly weekday: number
  readonly day: string
  readonly recipients: string
}
const first: Typed = { name: '', period: 'week', hour: '7', weekday: 1, day: '1', recipients: '' }

const draft = 'new report schedule'

const useSchedule = () => {
  const t = textsOf(reportsTexts).schedules
  const { typed, set } = useKept(draft, first)
  const target = useTarget(draft)
  const problems = {
    name: typed.name.trim() === '' ? t.missingName : undefined,
    hour: within(typed.hour, 0, 23) ? undefined : t.wrongHour,
    day: within(typed.day, 1, 28) ? undefined : t.wrongDay,
    target: target.problem,
  }
  return {
    ...{ typed, set, target, problems },
    isRight: Object.values(problems).every(problem => problem === undefined),
    body: () => ({
      ...{ name: typed.name.trim(), period: typed.period, weekday: typed.weekday },
      ...{ hour: Number(typed.hour), day: Number(typed.day) },
      target: target.input ?? { all: true as const },
      recipients: typed.recipients.split(/[\s,;]+/).filter(Boolean),
    }),
  }
}
type Form = ReturnType<typeof useSchedule>
interface FieldsProps {
  readonly form: Form
  readonly said: Partial<Form['problems']>
  readonly error: unknown
}

/** Creates a schedule that sends reports. */
const ScheduleDialog = ({ onClose }: { onClose: () => void }) => {
  const t = textsOf(reportsTexts).schedules
  const form = useSchedule()
  const [isTried, setTried] = useState(false)
  const create = useMutation({
    mutationFn: () => api.call('POST /reports/schedules', { body: form.body() }),
    onSuccess: () => {
      void readSchedulesAgain()
      onClose()
    },
  })
  const fields: FieldsProps = { form, said: isTried ? form.problems : {}, error: create.error }
  return (
    <FormDialog
      title={t.add}
      onClose={onClose}
      onSubmit={() => {
        setTried(true)
        if (form.isRight && !create.isPending) create.mutate()
      }}
    >
      <NameAndTime {...fields} />
      <AboutAndTo {...fields} />
      <Refusal error={create.error} />
      <DialogButtons verb={t.create} isRunning={create.isPending} onCancel={onClose} />
    </FormDialog>
  )
}
export default ScheduleDialog

const NameAndTime = ({ form: { typed, set }, said, error }: FieldsProps) => {
  const bind = binding({ typed, set, said, error })
  const all = textsOf(reportsTexts)
  const t = all.schedules
  return (
    <>
      <TextField label={t.name} most={100} focus {...bind('name')} />
      <SelectField
        label={t.period}
        value={typed.period}
        onValue={period => set({ period })}
        options={(['day', 'week', 'month'] as const).map(value => ({ value, text: all.titles[value] }))}
      />
      {typed.period === 'week' && (
        <SelectField
          label={t.weekday}
          value={typed.weekday}
          onValue={weekday => set({ weekday })}
          options={weekdays.map(value => ({ value, text: weekdayName(value) }))}
        />
      )}
      {typed.period === 'month' && (
        <TextField
          label={t.day}
          help={t.dayHelp}
          most={2}
          kind="numeric"
          value={typed.day}
          onValue={day => set({ day })}
          error={said.day}
        />
      )}
      <TextField
        label={t.hour}
        help={t.hourHelp}
        most={2}
        kind="numeric"
        value={typed.hour}
        onValue={hour => set({ hour })}
        error={said.hour}
      />
    </>
  )
}

const AboutAndTo = ({ form: { typed, set, target }, said, error }: FieldsProps) => {
  const bind = binding({ typed, set, said, error })
  const t = textsOf(reportsTexts).schedules
  return (
    <>
      <TargetChoice label={t.target} target={target} error={said.target ?? fieldProblem(error, 'target')} />
      <TextField
        label={t.recipients}
        help={t.recipientsHelp}
        most={4000}
        kind="email"
        dir="ltr"
        {...bind('recipients')}
      />
    </>
  )
}
