import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Server } from '../../api/queries.ts'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { Confirm } from '../identity/dialogs.ts'
import { serverTexts } from './server.texts.ts'
import { nameOf } from '../../lib/clip.ts'

/** Irreversible: the name has to be typed. */
export const DeleteDialog = ({ server, onClose }: { server: Server; onClose: () => void }) => {
  const t = textsOf(serverTexts)
  const navigate = useNavigate()
  const remove = async () => {
    await api.call('DELETE /servers/{serverId}', { params: { serverId: server.id } })
    await navigate({ to: '/servers', search: {} })
    queries.removeQueries({ queryKey: ['server', server.id] })
    await queries.invalidateQueries({ queryKey: ['servers'] })
  }
  // Typed as it is shown: invisible characters cannot be typed.
  const name = nameOf(server.hostname).trim()
  return (
    <Confirm
      title={t.dangerTitle}
      text={t.dangerText}
      verb={t.deleteNow}
      name={name}
      nameLabel={t.typeName(name)}
      act={remove}
      onClose={onClose}
    />
  )
}
