/* global document, localStorage, addEventListener */
/* The search field and the color scheme of the documentation page. Without this script the page is complete, but cannot be searched. */
;(function () {
  var root = document.documentElement
  try {
    var chosen = localStorage.getItem('stockade-scheme')
    if (chosen === 'dark' || chosen === 'light') root.setAttribute('data-scheme', chosen)
  } catch {
    // Without storage the scheme of the system applies.
  }

  var search = document.querySelector('input[type=search]')
  var status = document.querySelector('[role=status]')
  var operations = Array.from(document.querySelectorAll('article'), function (article) {
    var link = document.querySelector('nav a[href="#' + article.getAttribute('aria-labelledby') + '"]')
    return { article: article, item: link.parentElement, text: article.textContent.toLowerCase() }
  })
  var groups = Array.from(document.querySelectorAll('nav details, main section'))

  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
    var count = 0
    operations.forEach(function (operation) {
      var matches = words.every(function (word) {
        return operation.text.includes(word)
      })
      operation.article.hidden = operation.item.hidden = !matches
      if (matches) count++
    })
    groups.forEach(function (group) {
      group.hidden = !group.querySelector('li:not([hidden]), article:not([hidden])')
      if (group.tagName === 'DETAILS') group.open = words.length > 0
    })
    status.textContent = words.length === 0 ? '' : count + (count === 1 ? ' operation' : ' operations')
  }
  search.parentElement.hidden = false
  search.addEventListener('input', filter)
  addEventListener('keydown', function (event) {
    if (event.key === '/' && document.activeElement !== search) {
      event.preventDefault()
      search.focus()
    }
    if (event.key === 'Escape' && document.activeElement === search) {
      search.value = ''
      filter()
    }
  })
  // A link to an operation that the search hides clears the search.
  addEventListener('hashchange', function () {
    var target = document.getElementById(document.location.hash.slice(1))
    if (!target || !target.closest('[hidden]')) return
    search.value = ''
    filter()
    target.scrollIntoView()
  })
})()
