/*
 * A script or style sheet of a page did not come: the connection broke, or an upgrade of the server removed the file. The page is loaded anew,
 * once in a minute; after that the error page shows it. Drafts survive.
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
