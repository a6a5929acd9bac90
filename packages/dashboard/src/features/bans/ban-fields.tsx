import { useId } from 'react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { jailsQuery } from '../../api/queries.ts'
import { TargetChoice } from '../fleet/target-choice.tsx'
import { Check } from '../identity/choices.tsx'
import { binding } from '../../kit/binding.ts'
import { DurationField } from '../../kit/duration-field.tsx'
import { TextField } from '../../kit/form-fields.tsx'
import { durationTexts } from '../../kit/duration.texts.ts'
import parts from '../../kit/parts.module.css'
import { fieldProblem } from '../../kit/trouble.tsx'
import { readRange } from '../../lib/address.ts'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import type { BanForm } from './ban-form.ts'

export const BanFields = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const { typed, set, target, visibleProblems, ban } = form
  const bind = binding({ typed, set, said: { ip: visibleProblems.ip, time: visibleProblems.time }, error: ban.error })
  return (
    <>
      <TextField
        label={t.ip}
        help={t.ipHelp}
        most={100}
        dir="ltr"
        focus
        {...bind('ip', form.isFleetBan ? 'entry' : 'ip')}
      />
      <ActiveBans entry={typed.ip} />
      <TargetChoice target={target} error={visibleProblems.target ?? fieldProblem(ban.error, 'target')} />
      {!form.isFleetBan && <Jail form={form} />}
      <DurationField
        label={t.duration}
        help={`${form.usual === undefined ? t.jailLength : ''} ${textsOf(durationTexts).help}`}
        usual={form.usual}
        {...bind('time', 'duration')}
      />
      <TextField label={t.reason} help={t.reasonHelp} most={500} {...bind('reason')} />
      {form.canCut && <Check label={t.cut} meaning={t.cutMeans} checked={typed.cut} onChecked={cut => set({ cut })} />}
    </>
  )
}

/** How much of the entry is banned already: a range without attackers is a slip, or a precaution. */
const ActiveBans = ({ entry }: { entry: string }) => {
  const ip = entry.trim()
  const total = useQuery({
    queryKey: ['bans', 'covered', ip],
    queryFn: ({ signal }) => api.call('GET /bans', { query: { ip, active: true, limit: 1 }, signal }),
    enabled: readRange(ip) !== null,
  }).data?.total
  return total === undefined ? null : (
    <p className={parts.help} role="status">
      {textsOf(banDialogTexts).activeBans(number(total), total)}
    </p>
  )
}

const Jail = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const id = useId()
  const { chosenServers, typed, set } = form
  const [first, other] = chosenServers
  const bind = binding({ typed, set, error: form.ban.error })
  const jails = useQuery({ ...jailsQuery(first?.id ?? ''), enabled: first !== undefined && !other }).data?.jails ?? []
  return (
    <>
      <TextField label={t.jail} help={t.jailHelp} most={64} dir="ltr" list={id} {...bind('jail')} />
      <datalist id={id}>
        {jails.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
