/* Where this page came from. The server writes the base path and the nonce into `index.html`. */

/** Base path of the dashboard, with a trailing slash: `/` or `/stockade/`. */
export const basePath: string = new URL(document.baseURI).pathname

/** Address of the dashboard as the browser uses it, without a trailing slash. */
export const ownAddress: string = new URL('.', document.baseURI).href.replace(/\/$/, '')

/** Nonce for the style elements that components make at run time. */
export const styleNonce: string = document.querySelector('meta[name="csp-nonce"]')?.getAttribute('content') ?? ''

declare const __VERSION__: string
/** Version that this dashboard was built with; the server's own unless it was changed since. */
export const builtVersion: string = __VERSION__

/** A path that a sign-in may return to: ours, never another host's. */
export const safeReturn = (path: string | undefined): string =>
  path && /^\/(?![/\\])/.test(path) && !/^\/(login|setup|invite)\b/.test(path) ? path : '/'
