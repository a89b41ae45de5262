// What the reference page can do beyond showing itself: copy an example, and find
// an operation or event. Without this file the page is complete.
'use strict'

// A button beside each example that copies it.
for (const example of document.querySelectorAll('pre')) {
  if (!navigator.clipboard) break // only where the page came over TLS or from this machine
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(example.textContent)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Not allowed'
    }
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  const frame = document.createElement('div')
  frame.className = 'example'
  example.replaceWith(frame)
  frame.append(example, button)
}

// A field above the operations that leaves those that hold every word of it.
const search = document.createElement('input')
search.type = 'search'
search.placeholder = 'Search'
search.setAttribute('aria-label', 'Search operations, fields and events')
document.querySelector('nav .brand').after(search)

const entries = [...document.querySelectorAll('article, .event')].map((part) => ({
  part,
  text: part.textContent.toLowerCase(),
  link: document.querySelector(`nav a[href="#${CSS.escape(part.id)}"]`),
}))

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const { part, text, link } of entries) {
    const hidden = !words.every((word) => text.includes(word))
    part.hidden = hidden
    if (link) link.parentElement.hidden = hidden
  }
  for (const group of document.querySelectorAll('.group')) {
    const parts = group.querySelectorAll('article, .event')
    group.hidden = parts.length > 0 && [...parts].every((part) => part.hidden)
  }
}

search.addEventListener('input', find)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input')) return
  event.preventDefault()
  search.focus()
})
