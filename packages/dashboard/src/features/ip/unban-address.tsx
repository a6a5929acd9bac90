import { useQuery } from '@tanstack/react-query'
import { lookUpQuery } from '../fleet/queries.ts'
import { Loading } from '../../kit/loading.tsx'
import { Dialog } from '../../kit/modal.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { ipTexts } from './ip.texts.ts'
import UnbanDialog from './unban-dialog.tsx'

/** Unbans an address everywhere, from a place that knows no more of it than the address. */
const UnbanAddress = ({ ip, onClose }: { ip: string; onClose: () => void }) => {
  const t = textsOf(ipTexts)
  const query = useQuery(lookUpQuery(ip))
  return query.data ? (
    <UnbanDialog found={query.data} onClose={onClose} />
  ) : (
    <Dialog title={t.unbanTitle(ip)} onClose={onClose}>
      <Loading what={t.what} query={query} lines={3} />
    </Dialog>
  )
}
export default UnbanAddress
