/* What the first load needs of the live feed, the code of which comes with the shell. */

interface Feed {
  isRunning: boolean
  /** Before the data was read that the page begins with. Null: the feed begins with what comes next. */
  position: string | null
  stop: () => void
}
export const feed: Feed = { isRunning: false, position: null, stop: () => undefined }
export const resumeFeedAt = (position: string): void => {
  if (!feed.isRunning) feed.position = position
}
