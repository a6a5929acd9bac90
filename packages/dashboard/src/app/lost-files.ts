/*
 * A script or style sheet failed to load: the connection broke, or an upgrade of the server removed the file. Reload the page, at most once a
 * minute; after that the error page appears. Drafts survive.
 */
/** Milliseconds. */
const pause = 60_000

export const reloadForLostFiles = (): void => {
  addEventListener('vite:preloadError', event => {
    const key = `stockade-lost-file:${event.payload.message}`
    if (Date.now() - Number(sessionStorage.getItem(key)) < pause) return
    sessionStorage.setItem(key, String(Date.now()))
    event.preventDefault()
    location.reload()
  })
}
