import { partsOfReason, reasonWords } from './reason-words.ts'
import type { Reason } from './reason-words.ts'

/** Why an address was banned, in words; the names in it are strong where `strong` says so. */
export const ReasonText = ({ reason, strong = false }: { reason: Reason | null | undefined; strong?: boolean }) => (
  <>
    {partsOfReason(reasonWords(reason)).map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : strong ? (
        <b key={index}>
          <bdi>{part}</bdi>
        </b>
      ) : (
        <bdi key={index}>{part}</bdi>
      ),
    )}
  </>
)
