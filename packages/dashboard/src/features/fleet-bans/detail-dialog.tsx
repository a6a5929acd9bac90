import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { OpenStates, ServerStates } from '../fleet/server-states.tsx'
import type { OpenState } from '../fleet/server-states.tsx'
import { CloseButton } from '../../kit/dialog-buttons.tsx'
import { Coverage } from '../../kit/coverage.tsx'
import { Dialog } from '../../kit/modal.tsx'
import parts from '../../kit/parts.module.css'
import { Stranger } from '../../kit/stranger.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { serversOf } from './columns.tsx'
import { fleetBansTexts } from './fleet-bans.texts.ts'
import { fleetBanQuery, fleetBanServersQuery } from '../fleet/fleet-bans.ts'
import type { FleetBan } from '../fleet/fleet-bans.ts'
import styles from './fleet-bans.module.css'

/** Which servers do not hold the ban, and why; with what can be done about the ban. */
const DetailDialog = (props: {
  given: FleetBan
  onClose: () => void
  onChange: ((ban: FleetBan) => void) | undefined
  onLift: ((ban: FleetBan) => void) | undefined
}) => {
  const { given, onClose, onChange, onLift } = props
  const t = textsOf(fleetBansTexts)
  const ban = useQuery({ ...fleetBanQuery(given.id), initialData: given }).data
  const all = serversOf(ban)
  return (
    <Dialog title={ban.entry} onClose={onClose}>
      <div className={parts.form}>
        {ban.reason && <Stranger text={ban.reason} most={500} />}
        <p className={styles.asked} role="status">
          <Coverage
            held={ban.state.applied}
            running={ban.state.pending}
            failed={ban.state.failed + ban.state.not_covered}
          />
          {all > 0 && ban.state.applied === all ? t.allHold : t.heldTitle(ban.state.applied, all)}
        </p>
        {ban.state.in_jail > 0 && <p className={parts.muted}>{t.inJail(ban.state.in_jail)}</p>}
        {ban.state.applied < all && (
          <section aria-label={t.serversOf}>
            <OpenStates counts={ban.state}>{state => <Servers id={ban.id} state={state} />}</OpenStates>
          </section>
        )}
        <div className={parts.row}>
          {onChange && (
            <Button variant="default" onClick={() => onChange(ban)}>
              {t.change}
            </Button>
          )}
          {onLift && (
            <Button variant="default" onClick={() => onLift(ban)}>
              {t.lift}
            </Button>
          )}
          <CloseButton onClick={onClose} />
        </div>
      </div>
    </Dialog>
  )
}
export default DetailDialog

const Servers = ({ id, state }: { id: number; state: OpenState }) => {
  const t = textsOf(fleetBansTexts)
  const query = useQuery(fleetBanServersQuery(id, { state, limit: 20 }))
  return <ServerStates what={t.what} query={query} state={state} word={t.states[state]} more={t.more} />
}
