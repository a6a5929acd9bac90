import { useState } from 'react'
import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api, statusOf } from '../../api/client.ts'
import { queries, summaryQuery } from '../../api/queries.ts'
import { useMe } from '../../api/session.ts'
import { BatchReceipt } from '../fleet/receipts.tsx'
import type { JailsByServer } from '../fleet/receipts.tsx'
import type { LookUp } from '../fleet/queries.ts'
import { tellUnbannedEverywhere } from '../fleet/undo.ts'
import { CancelButton } from '../../kit/dialog-buttons.tsx'
import { useKeptState } from '../../kit/draft.ts'
import { TextField } from '../../kit/form-fields.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { PlainForm } from '../../kit/plain-form.tsx'
import { Refusal } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Check, Choices } from '../identity/choices.tsx'
import { EndChoice } from '../whitelist/end-choice.tsx'
import { endAt } from '../whitelist/ends.ts'
import type { End } from '../whitelist/ends.ts'
import { endsTexts } from '../whitelist/ends.texts.ts'
import { ipTexts } from './ip.texts.ts'

interface Asked {
  readonly servers: readonly string[]
  /** Whether the address is whitelisted too, with this description and end. */
  readonly whitelist: boolean
  readonly description: string
  readonly end: End
  /** Fleet bans to be lifted too: a host that they concern would go on dropping the address. */
  readonly fleetBans: ReadonlySet<number>
}

/** Whitelists first: what is whitelisted is not banned again while it is being lifted. */
const whitelistedEntry = async (ip: string, { whitelist, description, end }: Asked) => {
  if (!whitelist) return undefined
  const expires_at = endAt(end)
  const body = { ip, description: description.trim(), ...(expires_at ? { expires_at } : {}) }
  return api.call('POST /whitelist', { body }).catch((error: unknown) => {
    // It is on the list already: that is what was asked for.
    if (statusOf(error) !== 409) throw error
    return undefined
  })
}

/** As they are before the unban, which ends them. */
const jailsByServer = (bans: LookUp['active_bans']): JailsByServer => {
  const jails = new Map<string, readonly string[]>()
  for (const { server_id: id, jail } of bans) jails.set(id, [...new Set([...(jails.get(id) ?? []), jail])])
  return jails
}

const useUnban = (found: LookUp) =>
  useMutation({
    mutationFn: async (asked: Asked) => {
      const entry = await whitelistedEntry(found.ip, asked)
      for (const id of asked.fleetBans) await api.call('DELETE /fleet/bans/{id}', { params: { id } })
      const batch = await api.call('POST /commands/batch', {
        body: { server_ids: [...asked.servers], type: 'unban-ip', params: { ip: found.ip, jail: '*' } },
      })
      return { ...batch, entryId: entry?.id, jails: jailsByServer(found.active_bans) }
    },
    onSuccess: ({ batch_id, commands, entryId }) => {
      const bans = found.active_bans.map(line => ({
        ...line,
        ip: found.ip,
        server: { id: line.server_id, hostname: line.server },
      }))
      const ids = commands.map(({ id }) => id)
      tellUnbannedEverywhere(found.ip, commands.length, ids, batch_id, bans, entryId)
      void queries.invalidateQueries({ queryKey: ['lookup'] })
      void queries.invalidateQueries({ queryKey: ['whitelist'] })
      void queries.invalidateQueries({ queryKey: ['fleet-bans'] })
    },
  })

/** Lifts an address from every jail of every server that has it, or of all of them; and may whitelist it first. */
const UnbanDialog = ({ found, onClose }: { found: LookUp; onClose: () => void }) => {
  const t = textsOf(ipTexts)
  const unban = useUnban(found)
  return (
    <Dialog title={t.unbanTitle(found.ip)} onClose={onClose}>
      {unban.data ? (
        <div className={parts.form}>
          <BatchReceipt batchId={unban.data.batch_id} jails={unban.data.jails} list />
          <div className={parts.row}>
            <Button onClick={onClose}>{t.done}</Button>
          </div>
        </div>
      ) : (
        <Form found={found} unban={unban} onClose={onClose} />
      )}
    </Dialog>
  )
}
export default UnbanDialog

const Form = (props: { found: LookUp; unban: ReturnType<typeof useUnban>; onClose: () => void }) => {
  const { found, unban, onClose } = props
  const t = textsOf(ipTexts)
  const all = useQuery(summaryQuery).data?.servers.map(({ id }) => id) ?? []
  // As it was when the dialog opened: bans that are lifted meanwhile must not change what the button says.
  const [where] = useState(() => [...new Set(found.active_bans.map(line => line.server_id))])
  const [scope, setScope] = useState<'where' | 'all'>(where.length > 0 ? 'where' : 'all')
  const [whitelist, setWhitelist] = useKeptState<boolean>(`unban ${found.ip}/whitelist`, false)
  const [description, setDescription] = useKeptState(`unban ${found.ip}/description`, '')
  // Long enough to get back in and look; who means for ever says so.
  const [end, setEnd] = useKeptState<End>(`unban ${found.ip}/end`, { kind: 'day', until: '' })
  const [late, setLate] = useState(false)
  // One that reaches beyond the servers of a restricted user is refused to them, and the unban with it: theirs to tick.
  const isRestricted = useMe()?.server_access === 'specific'
  const [fleetBans, setFleetBans] = useState<ReadonlySet<number>>(() =>
    isRestricted ? new Set() : ownFleetBans(found),
  )
  const servers = scope === 'where' ? where : all
  const submit = () => {
    const over = whitelist && endAt(end) === undefined
    setLate(over)
    if (servers.length > 0 && !over && !unban.isPending)
      unban.mutate({ servers, whitelist, description, end, fleetBans })
  }
  return (
    <PlainForm onSubmit={submit}>
      <p>{t.unbanText}</p>
      {where.length > 0 && (
        <Choices
          legend={t.scope}
          options={[
            { value: 'where', label: t.where(where.length) },
            { value: 'all', label: t.everywhere(all.length) },
          ]}
          value={scope}
          onValue={setScope}
        />
      )}
      <FleetBans found={found} chosen={fleetBans} onChosen={setFleetBans} />
      {!found.is_whitelisted && (
        <Check label={t.alsoWhitelist} meaning={t.alsoWhitelistMeans} checked={whitelist} onChecked={setWhitelist} />
      )}
      {whitelist && <Description value={description} onValue={setDescription} />}
      {whitelist && <EndChoice value={end} onValue={setEnd} error={late ? textsOf(endsTexts).invalid : undefined} />}
      {servers.length === 0 && <p className={parts.warn}>{t.noServers}</p>}
      <Refusal error={unban.error} />
      <div className={parts.row}>
        <Button type="submit" disabled={servers.length === 0} loading={unban.isPending} data-autofocus>
          {t.unbanOn(servers.length)}
        </Button>
        <CancelButton onClick={onClose} />
      </div>
    </PlainForm>
  )
}

/** Fleet bans of the address alone. One of a range also bans others, so it is lifted only when it is ticked. */
const ownFleetBans = ({ ip, fleet_bans: bans }: LookUp): ReadonlySet<number> =>
  new Set(bans.filter(({ entry }) => entry === ip).map(({ id }) => id))

const FleetBans = (props: {
  found: LookUp
  chosen: ReadonlySet<number>
  onChosen: (chosen: ReadonlySet<number>) => void
}) => {
  const t = textsOf(ipTexts)
  const { found, chosen, onChosen } = props
  const toggle = (id: number, isOn: boolean) => {
    const next = new Set(chosen)
    if (isOn) next.add(id)
    else next.delete(id)
    onChosen(next)
  }
  return found.fleet_bans.map(({ id, entry }) => (
    <Check
      key={id}
      label={t.alsoFleetBan(entry)}
      meaning={entry === found.ip ? t.alsoFleetBanMeans : t.alsoFleetBanOfRange}
      checked={chosen.has(id)}
      onChecked={isOn => toggle(id, isOn)}
    />
  ))
}

const Description = ({ value, onValue }: { value: string; onValue: (value: string) => void }) => (
  <TextField label={textsOf(ipTexts).description} value={value} onValue={onValue} most={1000} />
)
