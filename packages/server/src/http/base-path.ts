/** Removes the path of the base URL from a request's URL. A proxy may strip that path or not; both work. */
export const createBasePath = (baseUrl: () => string): ((url: string) => string) => {
  let lastPath = { base: '', path: '' }
  return url => {
    const base = baseUrl()
    if (base !== lastPath.base) lastPath = { base, path: new URL(base).pathname.replace(/\/+$/, '') }
    const { path } = lastPath
    return path && (url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`))
      ? url.slice(path.length) || '/'
      : url
  }
}
