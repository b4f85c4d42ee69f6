import { z } from 'zod'
import { AppError } from '../../appError.ts'
import { creditLimits } from '../credits.ts'
import { domainLimits } from '../domainSearch.ts'
import { checkPayment, discoverPayments, fetchPaid, type PaidResult, type PaymentCheck } from '../localPayments.ts'
import { buyRegistration, buyRenewal, buyTopUp, quotePurchase } from '../localPurchases.ts'
import { getWalletInfo } from '../walletInfo.ts'
import { paymentOutline } from './paymentOutline.ts'
import { defineTool, type Tool, type ToolCost, type ToolResult, type ToolWaiting } from './tool.ts'

const group = 'money'
const { min, max } = domainLimits.years
const years = z.int().min(min).max(max).default(1)
const url = z.string()
const method = z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET')
const usdMicro = 1_000_000
const payment = z.looseObject({ id: z.string(), state: z.string(), amount_usd: z.number() })
const bought = { success: z.boolean(), domain: z.string(), expires_at: z.string(), transaction_id: z.string() }
const largestTopUp = Math.floor(creditLimits.amountCents.max / 100)

type Paid = z.output<typeof PaidResult>
type Quoted = Pick<z.output<typeof PaymentCheck>, 'offers' | 'chosen'>

/** What is held is what the offer of now costs; another price is refused when it is paid. */
function quoted({ offers, chosen }: Quoted): number | undefined {
  const offer = chosen === null ? undefined : offers[chosen]
  return offer?.amount_micro_usd ?? undefined
}

/** Held until the payment has ended: what waits or is unclear may still be paid. */
function paidCost(result: ToolResult): number | undefined {
  if ('waiting' in result) return undefined
  const { data } = payment.extend({ paid_micro_usd: z.number().nullable() }).safeParse(result.payment)
  return data ? (data.paid_micro_usd ?? Math.ceil(data.amount_usd * usdMicro)) : 0
}

function told({ payment: paid, answer }: Paid): ToolResult | { waiting: ToolWaiting } {
  const shown = paid && paymentOutline(paid)
  if (paid?.state === 'refused') throw new AppError('payment/denied', paid.error ?? paid.sentence)
  if (answer) return { answer, payment: shown }
  if (!paid) throw new AppError('payment/seller', 'There was no answer.')
  return {
    waiting: {
      id: paid.id,
      for: paid.state === 'waiting' ? 'person' : 'program',
      message: paid.title,
      expires_at: null,
    },
  }
}

/** The JSON that the service answered to what was bought. */
function purchase(result: ToolResult | { waiting: ToolWaiting }): ToolResult | { waiting: ToolWaiting } {
  if (!('answer' in result)) return result
  const { status, body } = z.looseObject({ status: z.int(), body: z.string() }).parse(result.answer)
  const answered = z.record(z.string(), z.unknown()).safeParse(parsed(body)).data ?? {}
  if (status >= 400) {
    throw new AppError('payment/order', String(answered.error ?? `The service answered ${status}.`))
  }
  return { ...answered, payment: result.payment }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const domain = z.string()
const registration = { domain, years, privacy: z.boolean().default(true) }
const pinned = (microUsd: number | undefined) => (microUsd === undefined ? {} : { price_usd: microUsd / usdMicro })

/** The price of now is held, and pinned: the purchase is refused at another one. */
function purchaseCost<A extends z.ZodObject>(
  quoteOf: (args: z.output<A>) => Parameters<typeof quoteInput>[0],
): ToolCost<A> {
  return {
    async atMost(args, { work: { call }, leftMicroUsd }) {
      const microUsd = quoted(await call(quotePurchase, quoteInput(quoteOf(args))))
      if (microUsd === undefined || microUsd > leftMicroUsd) return undefined
      return { args, microUsd }
    },
    of: paidCost,
  }
}

function quoteInput(given: {
  registration?: { domain: string; years: number; privacy: boolean }
  renewal?: { domain: string; years: number }
  topup?: { amount_usd: number }
}) {
  return given
}

const topUp = (name: string, description: string): Tool =>
  defineTool({
    name,
    description,
    group,
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyTopUp, quotePurchase],
    input: { amount_usd: z.int().min(1).max(largestTopUp).describe('one of the packages') },
    output: { success: z.boolean(), credits_cents: z.number(), tx_hash: z.string(), payment },
    cost: purchaseCost(({ amount_usd }) => ({ topup: { amount_usd: Number(amount_usd) } })),
    run: async ({ amount_usd }, { call, waitMs: wait_ms }) =>
      purchase(told(await call(buyTopUp, { amount_usd, wait_ms }))),
  })

export const domainPurchaseTools: readonly Tool[] = [
  defineTool({
    name: 'domain_register',
    description: 'Register a domain, paid with USDC from the wallet',
    group: 'domains',
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyRegistration, quotePurchase],
    input: registration,
    output: { ...bought, payment },
    cost: purchaseCost(({ domain, years, privacy }) => ({
      registration: { domain: String(domain), years: Number(years), privacy: Boolean(privacy) },
    })),
    run: async (args, { call, waitMs: wait_ms, heldMicroUsd }) =>
      purchase(told(await call(buyRegistration, { ...args, ...pinned(heldMicroUsd), wait_ms }))),
  }),
  defineTool({
    name: 'domain_renew',
    description: 'Renew a domain, paid with USDC from the wallet',
    group: 'domains',
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [buyRenewal, quotePurchase],
    input: { domain, years },
    output: { ...bought, payment },
    cost: purchaseCost(({ domain, years }) => ({ renewal: { domain: String(domain), years: Number(years) } })),
    run: async (args, { call, waitMs: wait_ms, heldMicroUsd }) =>
      purchase(told(await call(buyRenewal, { ...args, ...pinned(heldMicroUsd), wait_ms }))),
  }),
]

export const paymentTools: readonly Tool[] = [
  topUp('credits_topup', 'Buy credits with USDC from the wallet; packages: credits_pricing'),
  topUp('credits_purchase', 'Same as credits_topup'),
  defineTool({
    name: 'wallet_info',
    description: 'Wallet address, USDC balance, deposit link',
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
    description: 'Find what a site sells by x402',
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
    description: 'What a URL costs by x402; pays nothing',
    group,
    effect: 'read',
    openWorld: true,
    routes: [checkPayment],
    input: { url, method },
    output: { url: z.string(), needs_payment: z.boolean(), offers: z.array(z.looseObject({})) },
    run: ({ url, method }, { call }) => call(checkPayment, { url, method }),
  }),
  defineTool({
    name: 'x402_fetch',
    description: 'Fetch a URL, paying with USDC where it asks for it',
    group,
    effect: 'pay',
    openWorld: true,
    price: 'usdc',
    routes: [fetchPaid, checkPayment],
    input: {
      url,
      method,
      headers: z.record(z.string(), z.string()).default({}),
      body: z.string().optional().describe('POST, PUT, PATCH'),
    },
    output: {
      status: z.int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      payment: payment.nullable(),
    },
    cost: {
      async atMost(args, { work: { call }, leftMicroUsd }) {
        const check = await call(checkPayment, { url: args.url, method: args.method })
        const microUsd = check.needs_payment ? quoted(check) : 0
        return microUsd === undefined || microUsd > leftMicroUsd ? undefined : { args, microUsd }
      },
      of: paidCost,
    },
    async run(args, { call, waitMs: wait_ms, heldMicroUsd }) {
      const most = heldMicroUsd === undefined ? {} : { max_amount_usd: Math.max(heldMicroUsd, 1) / usdMicro }
      const result = told(await call(fetchPaid, { ...args, ...most, wait_ms }))
      if (!('answer' in result)) return result
      const { status, headers, body, encoding } = z.looseObject({ status: z.int() }).parse(result.answer)
      return { status, headers, body, ...(encoding === 'base64' && { encoding }), payment: result.payment }
    },
  }),
]
