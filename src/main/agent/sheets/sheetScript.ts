/**
 * All that a sheet does by itself: it tells the window its height and its end, shows what was typed into a password
 * field, and keeps a phrase out of the clipboard. Every step works without it.
 */
export const sheetScript = `'use strict'
const { window: origin, tells } = document.body.dataset
const main = document.querySelector('main')
const form = document.querySelector('form')

if (origin && parent !== window) {
  const tell = (message) => parent.postMessage(message, origin)
  const tellSize = () => tell({ type: 'steward.sheet.size', height: Math.ceil(main.getBoundingClientRect().height) })
  new ResizeObserver(tellSize).observe(main)
  if (tells) tell({ type: tells })
}

for (const field of document.querySelectorAll('input[type="password"]')) {
  const around = document.createElement('div')
  const button = document.createElement('button')
  const label = document.querySelector('label[for="' + field.id + '"]').textContent
  const show = (shown) => {
    field.type = shown ? 'text' : 'password'
    button.textContent = shown ? 'Hide' : 'Show'
    button.setAttribute('aria-label', (shown ? 'Hide: ' : 'Show: ') + label)
  }
  around.className = 'with-show'
  button.type = 'button'
  show(false)
  button.addEventListener('click', () => show(field.type === 'password'))
  field.replaceWith(around)
  around.append(field, button)
}

for (const secret of document.querySelectorAll('[data-secret]')) {
  for (const name of ['copy', 'cut', 'dragstart', 'contextmenu']) {
    secret.addEventListener(name, (event) => event.preventDefault())
  }
}

form?.addEventListener('submit', (event) => {
  for (const field of form.querySelectorAll('.with-show input')) field.type = 'password'
  if (event.submitter?.hasAttribute('formaction')) return
  if (form.getAttribute('aria-busy')) return event.preventDefault()
  form.setAttribute('aria-busy', 'true')
})

addEventListener('keydown', (event) => {
  if (event.key === 'Escape') form?.querySelector('button[value="cancel"]')?.click()
})

const wanted = '[aria-invalid="true"], [data-focus], .field input, .field textarea, input:checked, footer button'
const focusFirst = () => {
  if (document.activeElement !== document.body) return
  const field = document.querySelector('[aria-invalid="true"]') ?? form?.querySelector(wanted)
  field?.focus()
}
focusFirst()
// Before the window has given this frame the focus, nothing here can take it. The Tab key finds its own place first.
addEventListener('focus', () => setTimeout(focusFirst))
`
