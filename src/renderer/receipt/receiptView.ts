import { isJson, type Json, readText, toJsonObject } from './hostMessages.ts'

/** View of a call. All fields are rendered as text, because they come from sellers, sites and programs. */
export type ReceiptView = {
  state: 'working' | 'waiting' | 'done' | 'failed' | 'unclear'
  heading: string
  sentence: string
  amount: string | undefined
  rows: readonly { name: string; value: string; link?: string }[]
  /** Id to pass to `approval_status`, while its result may still change. */
  follow: string | undefined
}

const beginning: ReceiptView = {
  ...{ state: 'working', heading: 'In progress', sentence: '', amount: undefined, rows: [], follow: undefined },
}

export function createPendingView(): ReceiptView {
  return { ...beginning, sentence: 'Steward is working on it, or waiting for your approval.' }
}

/** Returns the view of a tool's result (`CallToolResult` of MCP). */
export function createResultView({ isError, content, structuredContent }: Json): ReceiptView {
  if (isError === true) return toErrorView(findText(content) ?? 'The request failed.')
  const { waiting, payment } = toJsonObject(structuredContent)
  if (isJson(waiting)) return toWaitingView(waiting)
  if (isJson(payment)) return toPaymentView(payment)
  return { ...beginning, state: 'done', heading: 'Done', sentence: 'Steward completed the request.' }
}

/** Returns the view of an `approval_status` result (`structuredContent`). */
export function createStatusView(status: Json): ReceiptView {
  const { id, state, sentence, error, result, payment } = status
  const follow = readText(id)
  const words = readText(sentence) ?? ''
  if (isJson(payment)) return toPaymentView(payment)
  switch (state) {
    case 'waiting':
      return { ...toWaitingView({ id, for: 'person', message: words }), follow }
    case 'done':
      return createResultView({ structuredContent: toJsonObject(result) })
    case 'signed':
      return { ...beginning, state: 'done', heading: 'Done', sentence: words }
    case 'expired':
      return toErrorView('The request expired without a decision. Nothing was done.')
    case 'failed':
    case 'denied':
    case 'refused':
      return toErrorView(readText(error) ?? words)
    case 'unclear':
    case 'unknown':
      return { ...beginning, state: 'unclear', heading: 'Outcome unknown', sentence: readText(error) ?? words, follow }
    default:
      return { ...beginning, sentence: words, follow }
  }
}

function toWaitingView({ id, for: whom, message, expires_at }: Json): ReceiptView {
  const person = whom !== 'program'
  const until = formatReceiptTime(expires_at)
  return {
    ...beginning,
    state: person ? 'waiting' : 'working',
    heading: person ? 'Waiting for approval' : 'In progress',
    sentence: stripHint(readText(message) ?? ''),
    rows: until === undefined ? [] : [{ name: 'Expires', value: until }],
    follow: readText(id),
  }
}

const paymentStates: Readonly<Record<string, Pick<ReceiptView, 'state' | 'heading'>>> = {
  waiting: { state: 'waiting', heading: 'Waiting for approval' },
  settled: { state: 'done', heading: 'Paid' },
  refused: { state: 'failed', heading: 'Not paid' },
  unknown: { state: 'unclear', heading: 'Outcome unknown' },
}

/** Returns the view of a payment as tools report it (`paymentOutline`). */
function toPaymentView(payment: Json): ReceiptView {
  const { id, state, paid, sentence, title, scheme, test, paid_micro_usd: settled } = payment
  const maxMicroUsd = Number(payment.amount_usd) * 1_000_000
  const ended = state === 'reconciled' ? (paid === true ? 'settled' : 'refused') : String(state)
  const link = readText(payment.transaction_url)
  const rows = [
    { name: 'For', value: readText(title) },
    { name: 'Paid to', value: readText(payment.pay_to) },
    { name: 'At', value: readText(payment.host) },
    { name: 'Network', value: readText(payment.network) },
    { name: 'Limit signed', value: scheme === 'upto' ? formatUsdc(maxMicroUsd, test) : undefined },
    { name: 'Transaction', value: readText(payment.transaction), ...(link?.startsWith('https://') && { link }) },
  ]
  return {
    ...(paymentStates[ended] ?? { state: 'working', heading: 'In progress' }),
    sentence: readText(sentence) ?? '',
    amount: formatUsdc(settled ?? maxMicroUsd, test),
    rows: rows.flatMap(({ value, ...row }) => (value === undefined ? [] : [{ ...row, value }])),
    follow: readText(id),
  }
}

function toErrorView(words: string): ReceiptView {
  return { ...beginning, state: 'failed', heading: 'Not done', sentence: words }
}

function findText(content: unknown): string | undefined {
  return Array.isArray(content) ? readText(toJsonObject(content[0]).text) : undefined
}

/** Removes the hint for the model about the id. */
function stripHint(message: string): string {
  return message
    .replace(/^Waiting for the user's approval in Steward: /, '')
    .replace(/ Call approval_status with .*$/s, '')
}

function formatUsdc(microUsd: unknown, test: unknown): string | undefined {
  const amount = Number(microUsd)
  if (!Number.isFinite(amount)) return undefined
  // Inlined, because a module shared with other pages would be emitted as a separate file, and this page is a single
  // document.
  const [whole = '', part = ''] = (amount / 1_000_000).toFixed(6).split('.')
  return `${whole}.${part.replace(/0{1,4}$/, '')} ${test === true ? 'test USDC' : 'USDC'}`
}

function formatReceiptTime(time: unknown): string | undefined {
  const date = new Date(readText(time) ?? Number.NaN)
  return Number.isNaN(date.getTime())
    ? undefined
    : date.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
