import './receipt.css'
import { createHostMessages, isJson, type Json, toJsonObject } from './hostMessages.ts'
import { createPendingView, createResultView, createStatusView, type ReceiptView } from './receiptView.ts'

/**
 * Page that hosts of MCP Apps show beside a call that pays or requires approval: request, outcome and payment. It
 * offers no decision, because requests are approved only in Steward. Imports nothing from the window, so that the page
 * is a single script and style sheet.
 */
const protocolVersion = '2026-01-26'
const maxFailures = 3
const pauseMs = 2_000

const host = createHostMessages({ noticed: onNotification, ended: () => leaving.abort() })
const leaving = new AbortController()
let followed: string | undefined

draw(createPendingView())
new ResizeObserver(tellSize).observe(document.documentElement)
void begin()

async function begin(): Promise<void> {
  const appInfo = { name: 'steward-receipt', title: 'Steward', version: '1' }
  const { hostContext } = await host.ask('ui/initialize', { protocolVersion, appInfo, appCapabilities: {} })
  look(toJsonObject(hostContext))
  host.tell('ui/notifications/initialized', {})
}

function onNotification(method: string, params: Json): void {
  if (method === 'ui/notifications/host-context-changed') look(params)
  if (method === 'ui/notifications/tool-result') show(createResultView(params))
  if (method === 'ui/notifications/tool-cancelled') {
    show({ ...createPendingView(), state: 'failed', heading: 'Not done', sentence: 'The call was cancelled.' })
  }
}

function look({ theme }: Json): void {
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme
}

function show(view: ReceiptView): void {
  draw(view)
  if (view.follow !== undefined && view.follow !== followed) {
    followed = view.follow
    void follow(view.follow)
  }
}

/** Polls until the state is final. Each request takes up to 20 s. The host may reject it. */
async function follow(id: string): Promise<void> {
  for (let failures = 0; failures < maxFailures && !leaving.signal.aborted; ) {
    try {
      const answer = await host.ask('tools/call', { name: 'approval_status', arguments: { id } })
      if (followed !== id) return
      const { structuredContent, isError } = answer
      if (isError === true || !isJson(structuredContent)) return
      const view = createStatusView(structuredContent)
      draw(view)
      if (view.state === 'done' || view.state === 'failed') return
      failures = 0
    } catch {
      failures += 1
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function draw({ state, heading, sentence, amount, rows }: ReceiptView): void {
  const main = document.querySelector('main') ?? document.body.appendChild(createElement('main'))
  main.dataset.state = state
  main.ariaLabel = 'Steward'
  const list = createElement('dl')
  for (const row of rows) list.append(createElement('dt', row.name), createValueCell(row))
  const note =
    state === 'waiting' ? [createElement('p', 'Approve or deny it in Steward, under Approvals.', 'note')] : []
  main.replaceChildren(
    createElement('h1', heading),
    ...(amount === undefined ? [] : [createElement('p', amount, 'amount')]),
    createElement('p', sentence, 'sentence'),
    ...(rows.length === 0 ? [] : [list]),
    ...note,
  )
}

function createValueCell({ value, link }: ReceiptView['rows'][number]): HTMLElement {
  const cell = createElement('dd')
  if (link === undefined) {
    cell.append(createElement('bdi', value))
    return cell
  }
  const button = createElement('button', value)
  button.setAttribute('aria-label', `Transaction ${value}: show it in the block explorer`)
  button.addEventListener('click', () => void host.ask('ui/open-link', { url: link }).catch(() => {}))
  cell.append(button)
  return cell
}

function createElement(tag: string, text?: string, className?: string): HTMLElement {
  const it = document.createElement(tag)
  if (text !== undefined) it.textContent = toVisibleText(text)
  if (className !== undefined) it.className = className
  return it
}

/** Replaces characters that reorder or hide text with their code points. */
function toVisibleText(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/[\p{Cf}\p{Cc}]/gu, (sign) =>
      sign === '\n' ? sign : `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
    )
}

function tellSize(): void {
  const { width, height } = document.documentElement.getBoundingClientRect()
  host.tell('ui/notifications/size-changed', { width: Math.ceil(width), height: Math.ceil(height) })
}
