import { lazy } from 'react'
import type { LookUp } from '../fleet/queries.ts'
import { Dialogs } from '../../kit/dialogs.tsx'

const UnbanDialog = lazy(() => import('./unban-dialog.tsx'))
const AddDialog = lazy(() => import('../whitelist/add-dialog.tsx'))
const BanDialog = lazy(() => import('../bans/ban-dialog.tsx'))

export type AddressDialog = 'unban' | 'whitelist' | 'ban'

/** What is done about an address. */
export const AddressDialogs = (props: {
  ip: string
  found: LookUp | undefined
  dialog: AddressDialog | null
  onClose: () => void
}) => {
  const { ip, found, dialog, onClose } = props
  return (
    <Dialogs>
      {dialog === 'unban' && found && <UnbanDialog found={found} onClose={onClose} />}
      {dialog === 'whitelist' && <AddDialog given={ip} onClose={onClose} />}
      {dialog === 'ban' && <BanDialog ip={ip} onClose={onClose} />}
    </Dialogs>
  )
}
