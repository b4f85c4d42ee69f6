import './prompt.css'
import type { SecurePromptMessage } from '#shared/contract/wallet.ts'

/**
 * Script of a secure prompt. Reports its height and result to the window, shows password input on request, and blocks
 * copying of a phrase. Every step works without this script. Imports nothing, so that no third-party code runs on pages
 * that handle secrets.
 */
const root = document.documentElement
const { window: origin, tells } = document.body.dataset
const form = document.querySelector('form')

// A page that has ended has no theme from the window.
root.dataset.theme ??= matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
if (origin !== undefined && parent !== window) tellWindow(origin)
for (const field of document.querySelectorAll<HTMLInputElement>('input[type="password"]')) addShowButton(field)
for (const secret of document.querySelectorAll('[data-secret]')) blockClipboard(secret)
form?.addEventListener('submit', (event) => beginSending(form, event))
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') form?.querySelector<HTMLElement>('button[value="cancel"]')?.click()
})
focusFirst()
// Focusing has no effect before the window has focused this frame. Deferred, so that focus moved by Tab takes
// precedence.
addEventListener('focus', () => setTimeout(focusFirst))

function tellWindow(origin: string): void {
  const main = document.querySelector('main')
  const tell = (message: SecurePromptMessage) => parent.postMessage(message, origin)
  if (main) {
    const height = () => Math.ceil(main.getBoundingClientRect().height)
    new ResizeObserver(() => tell({ type: 'steward.secure-prompt.size', height: height() })).observe(main)
  }
  if (tells === 'steward.secure-prompt.done' || tells === 'steward.secure-prompt.cancelled') tell({ type: tells })
}

function addShowButton(field: HTMLInputElement): void {
  const around = document.createElement('div')
  const button = document.createElement('button')
  const label = field.labels?.[0]?.textContent ?? ''
  const show = (isVisible: boolean) => {
    field.type = isVisible ? 'text' : 'password'
    button.textContent = isVisible ? 'Hide' : 'Show'
    button.setAttribute('aria-label', (isVisible ? 'Hide: ' : 'Show: ') + label)
  }
  around.className = 'revealable'
  button.type = 'button'
  show(false)
  button.addEventListener('click', () => show(field.type === 'password'))
  field.replaceWith(around)
  around.append(field, button)
}

function blockClipboard(secret: Element): void {
  for (const name of ['copy', 'cut', 'dragstart', 'contextmenu']) {
    secret.addEventListener(name, (event) => event.preventDefault())
  }
}

function beginSending(form: HTMLFormElement, event: SubmitEvent): void {
  for (const field of form.querySelectorAll<HTMLInputElement>('.revealable input')) field.type = 'password'
  if (event.submitter?.hasAttribute('formaction')) return
  if (form.getAttribute('aria-busy')) event.preventDefault()
  else form.setAttribute('aria-busy', 'true')
}

function focusFirst(): void {
  if (document.activeElement !== document.body) return
  const selector = '[aria-invalid="true"], [data-focus], .field input, .field textarea, input:checked, footer button'
  const field =
    document.querySelector<HTMLElement>('[aria-invalid="true"]') ?? form?.querySelector<HTMLElement>(selector)
  field?.focus()
}
