import { useId } from 'react'
import { useQuery } from '@tanstack/react-query'
import { jailsQuery } from '../../api/queries.ts'
import { Picks } from '../fleet/picks.tsx'
import { Check } from '../identity/choices.tsx'
import { binding } from '../../kit/binding.ts'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { nameOf } from '../../lib/clip.ts'
import { banDialogTexts } from './ban-dialog.texts.ts'
import { every, several } from './ban-form.ts'
import type { BanForm } from './ban-form.ts'

const times = ['10m', '1h', '1d', '7d', '30d', 'perm']

export const BanFields = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const { typed, set, said } = form
  const bind = binding({ typed, set, said, error: form.ban.error })
  const timesId = useId()
  return (
    <>
      <TextField label={t.ip} help={t.ipHelp} most={100} dir="ltr" focus {...bind('ip')} />
      <Where form={form} />
      <Jail form={form} />
      <TextField label={t.duration} help={t.durationHelp} most={20} list={timesId} {...bind('time', 'duration')} />
      <datalist id={timesId}>
        {times.map(value => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <TextField label={t.reason} help={t.reasonHelp} most={500} {...bind('reason')} />
      {form.canCut && <Check label={t.cut} meaning={t.cutMeans} checked={typed.cut} onChecked={cut => set({ cut })} />}
    </>
  )
}

const Where = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const { servers, server, only, where, away, typed, set, said } = form
  const choices = [
    ...(only === undefined ? [{ value: '', text: t.chooseServer }] : []),
    ...(servers.length > 1
      ? [
          { value: every, text: t.every(servers.length) },
          { value: several, text: t.several },
        ]
      : []),
  ]
  const help =
    server && server.status !== 'online'
      ? t.waits(nameOf(server.hostname))
      : where === every && away > 0
        ? t.waitMany(away)
        : undefined
  return (
    <>
      <SelectField
        label={t.server}
        help={help}
        value={where}
        onValue={value => set({ where: value })}
        options={[...choices, ...servers.map(({ id, hostname }) => ({ value: id, text: nameOf(hostname) }))]}
        error={where === several ? undefined : said.server}
      />
      {where === several && <Picks chosen={typed.picked} onChosen={picked => set({ picked })} error={said.server} />}
    </>
  )
}

const Jail = ({ form }: { form: BanForm }) => {
  const t = textsOf(banDialogTexts)
  const id = useId()
  const { where, server, typed, set } = form
  const bind = binding({ typed, set, error: form.ban.error })
  const jails = useQuery({ ...jailsQuery(where), enabled: server !== undefined }).data?.jails ?? []
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
