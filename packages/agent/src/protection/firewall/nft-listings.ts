import { steadyNow } from '../../clock.ts'
import { runProgram, timedOut } from '../../process.ts'
import type { Ran } from '../../process.ts'

const timeout = 20_000
/** After an nft that hung, questions are answered alike for a while: each would hold up the other checks for as long. */
const hungFor = 60_000
/** A longer listing is not worth its memory. */
const longestKept = 64 * 1024

/** Runs `nft list …` and `nft get …`; the words are those behind the program. */
export type NftListings = (words: readonly string[]) => Promise<Ran>

/**
 * Starts nft only after nftables changed, where the kernel says so by its generation number. Elements with a timeout vanish without a
 * new generation, so a listing that shows a timeout is made each time; `-t` leaves elements out.
 */
export const createNftListings = (needs: {
  nft: readonly string[]
  /** Changes with each change of nftables; null when the kernel cannot be asked. */
  generation: () => number | null
}): NftListings => {
  let keptOf: number | null = null
  let hung: { readonly ran: Ran; readonly until: number } | null = null
  const listingByCommand = new Map<string, Ran>()

  return async words => {
    if (hung !== null && steadyNow() < hung.until) return hung.ran
    const generation = needs.generation()
    if (generation === null || generation !== keptOf) listingByCommand.clear()
    keptOf = generation
    const key = words.join('\0')
    const knownListing = listingByCommand.get(key)
    if (knownListing) return knownListing
    const ran = await runProgram([...needs.nft, ...words], { timeout })
    hung = ran.code === timedOut ? { ran, until: steadyNow() + hungFor } : null
    const isLasting = words[0] === '-t' || !/\btimeout\b/.test(ran.stdout)
    if (generation !== null && keptOf === generation && ran.code === 0 && ran.stdout.length <= longestKept && isLasting)
      listingByCommand.set(key, ran)
    return ran
  }
}
