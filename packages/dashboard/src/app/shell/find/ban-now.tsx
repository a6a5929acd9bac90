import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useMe } from '../../../api/session.ts'
import { banDialogTexts } from '../../../features/bans/ban-dialog.texts.ts'
import { banOnFleet } from '../../../features/bans/ban-on-fleet.ts'
import type { LookUp } from '../../../features/fleet/queries.ts'
import parts from '../../../kit/parts.module.css'
import { Refusal } from '../../../kit/trouble.tsx'
import { textsOf } from '../../../lib/texts/catalogue.ts'
import { findTexts } from './find.texts.ts'
import styles from './find.module.css'

/** Whether a ban everywhere needs a look first: it would touch somebody who must get in, or change what holds already. */
const needsLook = ({ is_you, is_server, matched_whitelist, fleet_bans, active_bans }: LookUp) =>
  is_you || is_server !== null || matched_whitelist !== null || fleet_bans.length > 0 || active_bans.length > 0

/** Bans the address that was typed on all servers, as the dialog of a ban proposes it. A toast follows it and offers Undo. */
const BanNow = ({ found, onDone }: { found: LookUp; onDone: () => void }) => {
  const ban = useMutation({
    mutationFn: () => banOnFleet({ entry: found.ip, target: { all: true } }),
    onSuccess: onDone,
  })
  // Who has access to some servers chooses them in the dialog.
  const isWhole = useMe()?.server_access !== 'specific'
  if (!isWhole || needsLook(found)) return null
  return (
    <>
      <div className={styles.now}>
        <Button variant="default" loading={ban.isPending} onClick={() => ban.mutate()}>
          {textsOf(banDialogTexts).submitOnAll}
        </Button>
        <span className={parts.help}>{textsOf(findTexts).banNow}</span>
      </div>
      <Refusal error={ban.error} />
    </>
  )
}
export default BanNow
