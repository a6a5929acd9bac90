/* global document, localStorage, location, matchMedia */
/* Before the first paint: the colour scheme that was chosen, and no rail where nobody is signed in. A file, not inline: the page's policy forbids inline scripts. */
;(function () {
  var root = document.documentElement
  var chosen = null
  try {
    chosen = localStorage.getItem('stockade-scheme')
  } catch (error) {
    // Storage may be forbidden; the system's scheme will do.
  }
  var dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
  if (/\/(login|setup)$/.test(location.pathname)) root.setAttribute('data-bare', '')
})()
