import { Button } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries, serversQuery } from '../../api/queries.ts'
import { useMay, useMe } from '../../api/session.ts'
import { Empty } from '../../kit/list-states.tsx'
import { BriefTrouble, Refusal } from '../../kit/trouble.tsx'
import { readRange } from '../../lib/address.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { fleetTexts } from '../fleet/fleet.texts.ts'
import { whitelistTexts } from './whitelist.texts.ts'

const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

/** What must never be locked out, each with one tap. */
export const EmptyWhitelist = ({ onAdd }: { onAdd: () => void }) => {
  const t = textsOf(whitelistTexts)
  const me = useMe()
  const { may } = useMay('write')
  const query = useQuery(serversQuery({ page: 1 }))
  const servers = query.data?.servers ?? []
  const ofServers = servers.flatMap(({ ip_address: ip, hostname }) =>
    ip === null ? [] : [{ ip, description: t.serversNote(hostname) }],
  )
  const add = useMutation({
    mutationFn: (entries: { ip: string; description: string }[]) =>
      api.call('POST /whitelist/bulk', { body: { entries } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['whitelist'] }),
  })
  const mine = me && readRange(me.ip_address) ? { ip: me.ip_address, description: t.mineNote(me.username) } : null
  return (
    <>
      <Empty icon={<IconShieldCheck size={32} stroke={1.5} />} title={t.emptyTitle} text={t.empty}>
        {may && (
          <>
            {mine && (
              <Button variant="default" onClick={() => add.mutate([mine])} loading={add.isPending}>
                {t.addMine(mine.ip)}
              </Button>
            )}
            {ofServers.length > 0 && (
              <Button variant="default" onClick={() => add.mutate(ofServers)}>
                {t.addServers(ofServers.length)}
              </Button>
            )}
            <Button
              variant="default"
              onClick={() => add.mutate(privateRanges.map(ip => ({ ip, description: t.privateNote })))}
            >
              {t.addPrivate}
            </Button>
            <Button variant="subtle" onClick={onAdd}>
              {t.addOther}
            </Button>
          </>
        )}
      </Empty>
      <BriefTrouble what={textsOf(fleetTexts).what} query={query} />
      <Refusal error={add.error} />
    </>
  )
}
