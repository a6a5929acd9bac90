import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { CallInput } from '@stockade/client'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { binding } from '../../kit/binding.ts'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useKept } from '../../kit/draft.ts'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { alertsTexts } from './alerts.texts.ts'
import { alertsQuery } from './queries.ts'

type RuleInput = CallInput<'POST /alerts/rules'>['body']
const kinds = ['bans-over', 'bans-unusual', 'new-jail', 'near-whitelist'] as const
/** Kinds that compare numbers of bans, so that they can be narrowed to some and tried on the past. */
const isOfSums = (kind: (typeof kinds)[number]): boolean => kind === 'bans-over' || kind === 'bans-unusual'
const severities = ['critical', 'warning', 'info'] as const
interface Typed {
  readonly name: string
  readonly kind: (typeof kinds)[number]
  readonly severity: (typeof severities)[number]
  readonly threshold: string
  readonly factor: string
  readonly minimum: string
  readonly jail: string
  readonly asn: string
}
const conditionsOf = ({
  kind,
  threshold,
  factor,
  minimum,
  jail,
  asn,
}: Typed): NonNullable<RuleInput['conditions']> => ({
  ...(kind === 'bans-over' ? { threshold: Number(threshold) } : {}),
  ...(kind === 'bans-unusual' ? { factor: Number(factor), minimum: Number(minimum) } : {}),
  ...(isOfSums(kind) && jail.trim() ? { jail: jail.trim() } : {}),
  ...(isOfSums(kind) && asn.trim() ? { asn: Number(asn.trim().replace(/^AS/i, '')) } : {}),
})
const bodyOf = (typed: Typed): RuleInput => ({
  name: typed.name.trim(),
  kind: typed.kind,
  severity: typed.severity,
  conditions: conditionsOf(typed),
})

const first: Typed = {
  name: '',
  kind: 'bans-over',
  severity: 'warning',
  threshold: '100',
  factor: '10',
  minimum: '20',
  jail: '',
  asn: '',
}

/** Adds a rule of bans. */
const RuleDialog = ({ onClose }: { onClose: () => void }) => {
  const t = textsOf(alertsTexts)
  const { typed, set } = useKept<Typed>('new alert rule', first)
  const tried = useMutation({
    mutationFn: () => api.call('POST /alerts/rules/preview', { body: bodyOf({ ...typed, name: typed.name || '-' }) }),
  })
  const save = useMutation({
    mutationFn: () => api.call('POST /alerts/rules', { body: bodyOf(typed) }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: alertsQuery.queryKey })
      onClose()
    },
  })
  const bind = binding({ typed, set, error: save.error })
  return (
    <FormDialog
      title={t.add}
      onClose={onClose}
      onSubmit={() => {
        if (!save.isPending) save.mutate()
      }}
    >
      <TextField label={t.name} most={100} focus {...bind('name')} />
      <Conditions typed={typed} set={set} />
      <div role="status">
        {tried.data && (tried.data.times.length > 0 ? t.previewTimes(tried.data.times.length) : t.previewNone)}
      </div>
      <Refusal error={save.error ?? tried.error} />
      <div className={parts.actions}>
        {isOfSums(typed.kind) && (
          <Button variant="default" loading={tried.isPending} onClick={() => tried.mutate()}>
            {t.preview}
          </Button>
        )}
        <Button type="submit" loading={save.isPending} disabled={typed.name.trim() === ''}>
          {t.add}
        </Button>
      </div>
    </FormDialog>
  )
}
export default RuleDialog

const Conditions = ({ typed, set }: { typed: Typed; set: (change: Partial<Typed>) => void }) => {
  const t = textsOf(alertsTexts)
  const numeral = (name: 'threshold' | 'factor' | 'minimum') => (
    <TextField label={t[name]} most={10} kind="decimal" value={typed[name]} onValue={value => set({ [name]: value })} />
  )
  return (
    <>
      <SelectField
        label={t.kind}
        value={typed.kind}
        onValue={kind => set({ kind })}
        options={kinds.map(value => ({ value, text: t.kinds[value] }))}
      />
      {typed.kind === 'bans-over' && numeral('threshold')}
      {typed.kind === 'bans-unusual' && (
        <>
          {numeral('factor')}
          {numeral('minimum')}
        </>
      )}
      {isOfSums(typed.kind) && (
        <>
          <TextField label={t.jail} help={t.jailHelp} most={64} value={typed.jail} onValue={jail => set({ jail })} />
          <TextField label={t.asn} help={t.asnHelp} most={12} value={typed.asn} onValue={asn => set({ asn })} />
        </>
      )}
      <SelectField
        label={t.severity}
        value={typed.severity}
        onValue={severity => set({ severity })}
        options={severities.map(value => ({ value, text: t.severities[value] }))}
      />
    </>
  )
}
