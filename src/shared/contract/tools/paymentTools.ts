import { z } from 'zod'
import { AppError } from '../../appError.ts'
import { creditLimits } from '../credits.ts'
import { domainLimits } from '../domainSearch.ts'
import { checkPayment, discoverPayments, fetchPaid, getPayment, type PaidResult } from '../localPayments.ts'
import { buyRegistration, buyRenewal, buyTopUp } from '../localPurchases.ts'
import type { Payment } from '../paymentRecords.ts'
import { getWalletInfo } from '../walletInfo.ts'
import { outlinePayment } from './paymentOutline.ts'
import { defineTool, type Tool, type ToolContext, type ToolResult, type ToolWaiting } from './tool.ts'

const group = 'money'
const { min, max } = domainLimits.years
const years = z.int().min(min).max(max).default(1)
const url = z.string()
const readingMethod = z.enum(['GET', 'HEAD']).default('GET')
const method = z.enum([...readingMethod.unwrap().options, 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET')
const payment = z.looseObject({ id: z.string(), state: z.string(), amount_usd: z.number() })
const bought = { success: z.boolean(), domain: z.string(), expires_at: z.string(), transaction_id: z.string() }
const largestTopUp = Math.floor(creditLimits.amountCents.max / 100)

type Paid = z.output<typeof PaidResult>

/** Pays, or returns the outcome of the payment that an earlier identical call made. */
async function pay({ call, waitMs: wait_ms, openPayment }: ToolContext, buy: () => Promise<Paid>): Promise<Paid> {
  if (openPayment === undefined) return buy()
  const payment = await call(getPayment, { paymentId: openPayment, wait_ms })
  return { payment, answer: payment.answer }
}

/** @throws AppError with the payment, if one was made */
function toResult({ payment: paid, answer }: Paid): ToolResult | { waiting: ToolWaiting } {
  if (!paid) {
    if (answer) return { answer, payment: null }
    throw new AppError('purchase/seller', 'There was no answer.')
  }
  if (paid.paid === false) throw toFailedResult('purchase/denied', paid.error ?? paid.sentence, paid)
  if (paid.state === 'refused') {
    const until = (paid.valid_until ?? '').slice(11, 16)
    throw toFailedResult(
      'purchase/unknown-outcome',
      `${paid.error ?? 'It was refused.'} The seller can still settle it until ${until} UTC.`,
      paid,
    )
  }
  if (answer && (paid.paid !== null || answer.status < 400)) return { answer, payment: outlinePayment(paid) }
  if (paid.paid) throw toFailedResult('purchase/order', 'The payment was made, but the response is unknown.', paid)
  const isWaiting = paid.state === 'waiting'
  return { waiting: { id: paid.id, for: isWaiting ? 'person' : 'program', message: paid.title, expires_at: null } }
}

function toFailedResult(
  code: 'purchase/denied' | 'purchase/unknown-outcome' | 'purchase/order',
  message: string,
  payment: Payment,
): AppError {
  return new AppError(code, message, {
    detail: `Its payment is ${payment.id}.`,
    fields: { payment: outlinePayment(payment) },
  })
}

/** Returns the JSON response of the service for a purchase. */
function toPurchaseResult(paid: Paid): ToolResult | { waiting: ToolWaiting } {
  const result = toResult(paid)
  if (!('answer' in result)) return result
  const { status, body } = z.looseObject({ status: z.int(), body: z.string() }).parse(result.answer)
  const answered = z.record(z.string(), z.unknown()).safeParse(parseJsonText(body)).data ?? {}
  if (status >= 400) {
    const words = String(answered.error ?? `The service answered ${status}.`)
    throw paid.payment ? toFailedResult('purchase/order', words, paid.payment) : new AppError('purchase/seller', words)
  }
  return { ...answered, payment: result.payment }
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const domain = z.string()
const registration = { domain, years, privacy: z.boolean().default(true) }
const defineTopUpTool = (name: string, description: string): Tool =>
  defineTool({
    name,
    description,
    group,
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyTopUp, getPayment],
    input: { amount_usd: z.int().min(1).max(largestTopUp).describe('Amount of a credit package') },
    output: { success: z.boolean(), credits_cents: z.number(), tx_hash: z.string(), payment },
    run: async ({ amount_usd }, work) =>
      toPurchaseResult(await pay(work, () => work.call(buyTopUp, { amount_usd, wait_ms: work.waitMs }))),
  })

/** Tools that buy and renew domains with USDC from the wallet. */
export const domainPurchaseTools: readonly Tool[] = [
  defineTool({
    name: 'domain_register',
    description: 'Register a domain, paid with USDC from the wallet',
    group: 'domains',
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyRegistration, getPayment],
    input: registration,
    output: { ...bought, payment },
    run: async (args, work) =>
      toPurchaseResult(await pay(work, () => work.call(buyRegistration, { ...args, wait_ms: work.waitMs }))),
  }),
  defineTool({
    name: 'domain_renew',
    description: 'Renew a domain, paid with USDC from the wallet',
    group: 'domains',
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyRenewal, getPayment],
    input: { domain, years },
    output: { ...bought, payment },
    run: async (args, work) =>
      toPurchaseResult(await pay(work, () => work.call(buyRenewal, { ...args, wait_ms: work.waitMs }))),
  }),
]

/** Tools that pay with USDC from the wallet, and tools that read the wallet and payments. */
export const paymentTools: readonly Tool[] = [
  defineTopUpTool('credits_topup', 'Buy credits with USDC from the wallet; packages: credits_pricing'),
  defineTopUpTool('credits_purchase', 'Same as credits_topup'),
  defineTool({
    name: 'wallet_info',
    description: 'Get the wallet address, USDC balance and deposit link',
    group,
    effect: 'read',
    openWorld: true,
    routes: [getWalletInfo],
    input: { network: z.string().default('eip155:8453') },
    output: {
      address: z.string(),
      network: z.string(),
      usdc_balance: z.string().nullable(),
      deposit_link: z.string().nullable(),
    },
    run: ({ network }, { call }) => call(getWalletInfo, { network }),
  }),
  defineTool({
    name: 'x402_discover',
    description: 'Find x402 resources that a site sells',
    group,
    effect: 'read',
    openWorld: true,
    routes: [discoverPayments],
    input: { url: url.describe('origin') },
    output: { url: z.string(), source: z.string().nullable(), endpoints: z.array(z.looseObject({ url: z.string() })) },
    run: ({ url }, { call }) => call(discoverPayments, { url }),
  }),
  defineTool({
    name: 'x402_check',
    description: 'Get the x402 price of a URL without paying',
    group,
    effect: 'read',
    openWorld: true,
    routes: [checkPayment],
    input: { url, method: readingMethod },
    output: { url: z.string(), needs_payment: z.boolean(), offers: z.array(z.looseObject({})) },
    run: ({ url, method }, { call }) => call(checkPayment, { url, method }),
  }),
  defineTool({
    name: 'x402_fetch',
    description: 'Fetch a URL and pay with USDC if required',
    group,
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [fetchPaid, getPayment],
    change: ({ url, method }) =>
      readingMethod.safeParse(method).success
        ? undefined
        : {
            sentence: `Send ${method} to ${url.slice(0, 200)}.`,
            target: /^https?:\/\/([^/?#]+)/i.exec(url)?.[1] ?? '',
          },
    input: {
      url,
      method,
      headers: z.record(z.string(), z.string()).default({}),
      body: z.string().optional().describe('Only for POST, PUT and PATCH'),
    },
    output: {
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      payment: payment.nullable(),
    },
    async run(args, work) {
      const result = toResult(await pay(work, () => work.call(fetchPaid, { ...args, wait_ms: work.waitMs })))
      if (!('answer' in result)) return result
      const { status, headers, body, encoding } = z.looseObject({ status: z.int() }).parse(result.answer)
      return { status, headers, body, ...(encoding === 'base64' && { encoding }), payment: result.payment }
    },
  }),
]
