import { useState } from 'react'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { lookUpQuery } from '../fleet/queries.ts'
import type { LookUp } from '../fleet/queries.ts'
import { ButtonLink } from '../../kit/button-link.tsx'
import { Panel } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { Trouble } from '../../kit/trouble.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { AddressDialogs } from './address-dialogs.tsx'
import type { AddressDialog } from './address-dialogs.tsx'
import { Answer } from './answer.tsx'
import { ipTexts } from './ip.texts.ts'
import styles from './ip.module.css'
import { useRestedAddress } from './rested-address.ts'

/** The state of the address that is typed and what can be done about it, without leaving the look-up. */
export const InPlace = ({ typed }: { typed: string }) => {
  const address = useRestedAddress(typed)
  return address === undefined ? null : <Known key={address} ip={address} />
}

const Known = ({ ip }: { ip: string }) => {
  const t = textsOf(ipTexts)
  const query = useQuery(lookUpQuery(ip))
  const lookUp = query.data
  return (
    <>
      <Trouble what={t.what} query={query} />
      {lookUp && (
        <Panel title={lookUp.ip}>
          <div role="status">
            <Answer found={lookUp} brief />
          </div>
          <Acts found={lookUp} />
        </Panel>
      )}
    </>
  )
}

const Acts = ({ found }: { found: LookUp }) => {
  const t = textsOf(ipTexts)
  const { may } = useMay('write')
  const [dialog, setDialog] = useState<AddressDialog | null>(null)
  const isBanned = found.active_bans.length > 0
  return (
    <div className={`${parts.row ?? ''} ${styles.inPlace ?? ''}`}>
      {may && (
        <>
          <Button variant={isBanned ? 'filled' : 'default'} onClick={() => setDialog(isBanned ? 'unban' : 'ban')}>
            {isBanned ? t.unban : t.ban}
          </Button>
          <Button variant="default" onClick={() => setDialog('whitelist')}>
            {t.whitelist}
          </Button>
        </>
      )}
      <ButtonLink variant="default" to="/ip/$addr" params={{ addr: found.ip }} search={{}}>
        {t.details}
      </ButtonLink>
      <AddressDialogs ip={found.ip} found={found} dialog={dialog} onClose={() => setDialog(null)} />
    </div>
  )
}
