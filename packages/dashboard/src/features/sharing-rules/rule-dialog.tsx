import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { TargetChoice } from '../fleet/target-choice.tsx'
import { binding } from '../../kit/binding.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import parts from '../../kit/parts.module.css'
import { Refusal, fieldProblem } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { readAgain, turnOn } from './acts.ts'
import type { Rule } from './queries.ts'
import { useRuleForm } from './rule-form.ts'
import type { RuleForm } from './rule-form.ts'
import { rulesTexts } from './sharing-rules.texts.ts'
import { SimulationResult } from './simulation.tsx'

type Said = Partial<RuleForm['problems']>

/** Writes a rule, shows what it would have done, and turns it on. */
const RuleDialog = ({ rule, onClose }: { rule?: Rule; onClose: () => void }) => {
  const t = textsOf(rulesTexts).dialog
  const form = useRuleForm(rule)
  const [isTried, setTried] = useState(false)
  const isArmed = rule?.state === 'armed'
  const simulation = useMutation({
    mutationFn: () => api.call('POST /rules/simulate', { body: { days, ...form.conditions, ...form.limits } }),
  })
  const save = useMutation({
    mutationFn: async (isOn: boolean) => {
      const body = { name: form.typed.name.trim(), ...form.limits, ...(isArmed ? {} : form.conditions) }
      const saved = rule
        ? await api.call('PATCH /rules/{id}', { params: { id: rule.id }, body })
        : await api.call('POST /rules', { body })
      readAgain()
      // A simulation of what is stored is what permits to arm it.
      if (isOn) await turnOn({ ...saved, state: 'draft' })
    },
    onSuccess: onClose,
  })
  const error = save.error ?? simulation.error
  const visibleProblems: Said = isTried ? form.problems : {}
  const isRight = ({ name, ...others }: RuleForm['problems'], withName: boolean) =>
    Object.values(others).every(problem => problem === undefined) && (!withName || name === undefined)
  const act = (withName: boolean, run: () => void) => {
    setTried(true)
    if (isRight(form.problems, withName) && !save.isPending && !simulation.isPending) run()
  }
  return (
    <FormDialog
      title={rule ? t.changeTitle(rule.name) : t.newTitle}
      onClose={onClose}
      onSubmit={() => act(isArmed, isArmed ? () => save.mutate(false) : () => simulation.mutate())}
    >
      {isArmed && <p className={parts.help}>{t.armed}</p>}
      <Names form={form} said={visibleProblems} error={error} />
      {!isArmed && <Conditions form={form} said={visibleProblems} error={error} />}
      <Limits form={form} error={error} />
      <Refusal error={error} />
      {!isArmed && <SimulationResult days={days} running={simulation.isPending} simulation={simulation.data} />}
      <div className={parts.row}>
        {!isArmed && (
          <Button type="submit" variant={simulation.data ? 'default' : 'filled'} loading={simulation.isPending}>
            {t.simulate}
          </Button>
        )}
        {!isArmed && simulation.data && (
          <Button loading={save.isPending} onClick={() => act(true, () => save.mutate(true))}>
            {t.saveOn}
          </Button>
        )}
        <Button variant="default" onClick={() => act(true, () => save.mutate(false))}>
          {t.save}
        </Button>
        <CancelButton onClick={onClose} />
      </div>
    </FormDialog>
  )
}
export default RuleDialog

const days = 30

const Names = ({ form, said, error }: { form: RuleForm; said: Said; error: unknown }) => (
  <TextField
    label={textsOf(rulesTexts).dialog.name}
    most={100}
    focus
    {...binding({ typed: form.typed, set: form.set, said, error })('name')}
  />
)

const Conditions = ({ form, said, error }: { form: RuleForm; said: Said; error: unknown }) => {
  const t = textsOf(rulesTexts).dialog
  const { typed, set } = form
  const bind = binding({ typed, set, said, error })
  return (
    <>
      <TextField
        label={t.servers}
        most={4}
        kind="numeric"
        value={typed.servers}
        onValue={servers => set({ servers })}
        error={fieldProblem(error, 'min_servers') ?? fieldProblem(error, 'min_bans')}
      />
      <TextField label={t.within} help={t.withinHelp} most={20} {...bind('within')} />
      <TextField label={t.jails} help={t.jailsHelp} most={2000} {...bind('jails')} />
      <TargetChoice label={t.target} target={form.target} error={said.target ?? fieldProblem(error, 'target')} />
      <TextField label={t.length} help={t.lengthHelp} most={20} {...bind('length', 'duration')} />
      <MoreConditions form={form} error={error} />
    </>
  )
}

const MoreConditions = ({ form, error }: { form: RuleForm; error: unknown }) => {
  const t = textsOf(rulesTexts).dialog
  const { typed, set } = form
  const bind = binding({ typed, set, error })
  return (
    <details>
      <summary>{t.more}</summary>
      <div className={parts.form}>
        <TextField label={t.bans} most={4} kind="numeric" value={typed.bans} onValue={bans => set({ bans })} />
        <TextField label={t.countries} help={t.countriesHelp} most={400} {...bind('countries')} />
        <TextField label={t.factor} most={5} kind="decimal" {...bind('factor')} />
      </div>
    </details>
  )
}

const Limits = ({ form, error }: { form: RuleForm; error: unknown }) => {
  const t = textsOf(rulesTexts).dialog
  const bind = binding({ typed: form.typed, set: form.set, error })
  return (
    <>
      <TextField label={t.perHour} help={t.perHourHelp} most={5} kind="numeric" {...bind('perHour', 'per_hour')} />
      <TextField label={t.exclude} help={t.excludeHelp} most={20_000} dir="ltr" {...bind('exclude')} />
    </>
  )
}
