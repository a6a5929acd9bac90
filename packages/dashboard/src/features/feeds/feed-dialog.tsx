import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { Reply } from '@stockade/client'
import { api } from '../../api/client.ts'
import { binding } from '../../kit/binding.ts'
import { DialogButtons } from '../../kit/dialog-buttons.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { SelectField, TextField } from '../../kit/form-fields.tsx'
import { useKept } from '../../kit/draft.ts'
import parts from '../../kit/parts.module.css'
import { Refusal } from '../../kit/trouble.tsx'
import { number } from '../../lib/numbers.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check } from '../identity/choices.tsx'
import type { Feed } from './consumers.ts'
import { feedsTexts } from './feeds.texts.ts'
import { readFeedsAgain } from './queries.ts'
import styles from './feeds.module.css'

type Contents = Pick<Feed, 'q' | 'bans' | 'fleet_bans' | 'family' | 'maximum'>
type Typed = Omit<Contents, 'maximum'> & { readonly name: string; readonly maximum: string }
type Problems = Partial<Record<'name' | 'bans' | 'maximum', string>>

const mostEntries = 200_000
const usual: Contents = { q: '', bans: true, fleet_bans: true, family: 'both', maximum: 100_000 }

const contentsOf = ({ q, bans, fleet_bans, family, maximum }: Typed): Contents => ({
  ...{ bans, fleet_bans, family },
  q: q.trim(),
  maximum: Number(maximum),
})
const problemsOf = (typed: Typed): Problems => {
  const t = textsOf(feedsTexts).dialog
  const maximum = /^\d{1,6}$/.test(typed.maximum.trim()) ? Number(typed.maximum) : 0
  return {
    ...(typed.name.trim() === '' ? { name: t.missingName } : {}),
    ...(typed.bans || typed.fleet_bans ? {} : { bans: t.nothing }),
    ...(maximum < 1 || maximum > mostEntries ? { maximum: t.wrongMaximum } : {}),
  }
}

/** Creates a feed or changes one, after a look at what it would hold. */
const FeedDialog = (props: {
  feed?: Feed
  onMade: (made: Reply<'POST /fleet/feeds'>) => void
  onClose: () => void
}) => {
  const t = textsOf(feedsTexts).dialog
  const { feed, onMade, onClose } = props
  const { q, bans, fleet_bans, family, maximum } = feed ?? usual
  const is: Typed = { q, bans, fleet_bans, family, maximum: String(maximum), name: feed?.name ?? '' }
  const { typed, set: setTyped } = useKept(`feed ${feed?.id ?? 'new'}`, is)
  const [isTried, setTried] = useState(false)
  const preview = useMutation({
    mutationFn: () => api.call('POST /fleet/feeds/preview', { body: contentsOf(typed) }),
  })
  const save = useMutation({
    mutationFn: async () => {
      const body = { name: typed.name.trim(), ...contentsOf(typed) }
      if (!feed) {
        const newFeed = await api.call('POST /fleet/feeds', { body })
        return onMade(newFeed)
      }
      await api.call('PATCH /fleet/feeds/{id}', { params: { id: feed.id }, body })
      void readFeedsAgain()
      onClose()
    },
  })
  const { name: missing, ...others } = problemsOf(typed)
  const act = (withName: boolean, run: () => void) => {
    setTried(true)
    if (Object.keys(others).length === 0 && !(withName && missing) && !save.isPending) run()
  }
  const set = (change: Partial<Typed>) => {
    setTyped(change)
    if (!('name' in change)) preview.reset()
  }
  return (
    <FormDialog
      title={feed ? t.changeTitle(feed.name) : t.newTitle}
      onClose={onClose}
      onSubmit={() => act(true, () => save.mutate())}
    >
      <Fields typed={typed} set={set} said={isTried ? problemsOf(typed) : {}} error={save.error ?? preview.error} />
      {preview.data && <Preview found={preview.data} />}
      <Refusal error={save.error ?? preview.error} />
      <DialogButtons verb={feed ? t.save : t.create} isRunning={save.isPending} onCancel={onClose}>
        <Button variant="default" loading={preview.isPending} onClick={() => act(false, () => preview.mutate())}>
          {t.preview}
        </Button>
      </DialogButtons>
    </FormDialog>
  )
}
export default FeedDialog

const Fields = (props: { typed: Typed; set: (change: Partial<Typed>) => void; said: Problems; error: unknown }) => {
  const t = textsOf(feedsTexts)
  const { typed, set, said } = props
  const bind = binding(props)
  return (
    <>
      <TextField label={t.dialog.name} most={100} focus {...bind('name')} />
      <Check label={t.dialog.bans} checked={typed.bans} onChecked={bans => set({ bans })} />
      {typed.bans && (
        <TextField label={t.dialog.search} help={t.dialog.searchHelp} most={2000} dir="ltr" {...bind('q')} />
      )}
      <Check label={t.dialog.fleetBans} checked={typed.fleet_bans} onChecked={on => set({ fleet_bans: on })} />
      {said.bans && <p className={parts.error}>{said.bans}</p>}
      <SelectField
        label={t.dialog.family}
        value={typed.family}
        onValue={family => set({ family })}
        options={(['both', 'ipv4', 'ipv6'] as const).map(value => ({ value, text: t.families[value] }))}
      />
      <TextField label={t.dialog.maximum} help={t.dialog.maximumHelp} most={6} kind="numeric" {...bind('maximum')} />
    </>
  )
}

/** What the preview says of what the feed does not hold; what waits for the next reading says only a feed that is read. */
const leftOutKinds = ['wide', 'of_one_server', 'of_some_servers', 'protected'] as const

const Preview = ({ found }: { found: Reply<'POST /fleet/feeds/preview'> }) => {
  const t = textsOf(feedsTexts)
  return (
    <div className={styles.preview} role="status">
      <b>{found.total === 0 ? t.none : t.size(found.total, number(found.ipv4), number(found.ipv6))}</b>
      {found.collapsed < found.total && <span>{t.joined(number(found.collapsed))}</span>}
      {found.truncated && <span>{t.truncated}</span>}
      {leftOutKinds
        .filter(kind => found.left_out[kind] > 0)
        .map(kind => (
          <span key={kind}>{t.leftOut[kind](found.left_out[kind])}</span>
        ))}
      {found.samples.length > 0 && (
        <span className={parts.muted} dir="auto">
          {t.samples(found.samples.slice(0, 3).join(', '))}
        </span>
      )}
    </div>
  )
}
