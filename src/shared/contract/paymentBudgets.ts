import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { MicroUsdAmount, paymentLimits } from './paymentRecords.ts'
import { defineRoute } from './route.ts'

/** Budget and its usage. */
export const BudgetState = z.object({
  scope: z
    .enum(['payment', 'day', 'month', 'host', 'payee'])
    .describe(
      '`payment`: maximum of one payment. `day`: any 24 hours. `month`: calendar month in UTC. `host`, `payee`: one host or payee, per calendar month.',
    ),
  key: z.string().nullable().describe('Host, or network and address of the payee (`eip155:8453:0x…`).'),
  limit_micro_usd: MicroUsdAmount.nullable().describe('Limit in micro-dollars. Null if unlimited.'),
  used_micro_usd: MicroUsdAmount.describe('Amount paid. For `day` and `month`, includes the cost of chats.'),
  held_micro_usd: MicroUsdAmount.describe(
    'Amount approved or signed, but not yet confirmed as paid or void. Counts as used.',
  ),
  remaining_micro_usd: MicroUsdAmount.nullable().describe('Remaining amount. Null if unlimited.'),
  resets_at: IsoTime.nullable().describe('End of the month. Null for `payment` and `day`.'),
})
export type BudgetState = z.infer<typeof BudgetState>

const Limit = MicroUsdAmount.nullable().describe('Limit in micro-dollars. Null for no limit. 0 blocks all payments.')

const HostLimit = z.object({
  host: z
    .string()
    .trim()
    .toLowerCase()
    .regex(
      /^[a-z0-9.-]{1,255}(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/,
      'must be a host, as in api.example or 127.0.0.1:8080',
    ),
  month_micro_usd: MicroUsdAmount,
})

const PayeeLimit = z.object({
  payee: z
    .string()
    .trim()
    // Base58 is case-sensitive.
    .overwrite((value) => (/^solana:/i.test(value) ? value : value.toLowerCase()))
    .regex(
      /^(eip155:\d{1,18}:0x[0-9a-f]{40}|solana:[1-9A-HJ-NP-Za-km-z]{32}:[1-9A-HJ-NP-Za-km-z]{32,44})$/,
      'must be network and address, as in eip155:8453:0x…',
    ),
  month_micro_usd: MicroUsdAmount,
})

/** Server on this computer with its port, such as `127.0.0.1:8080`. */
const LocalServer = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^(127(\.\d{1,3}){3}|\[::1\]|([a-z0-9-]+\.)*localhost):\d{1,5}$/,
    'must be a host of this computer with its port, as in 127.0.0.1:8080',
  )

const isUniqueBy =
  <T>(key: (it: T) => string) =>
  (all: readonly T[]) =>
    new Set(all.map(key)).size === all.length

/** Limits of payments in micro-dollars. Null: no limit */
export const PaymentBudgetLimits = z.object({
  payment_micro_usd: Limit,
  day_micro_usd: Limit,
  month_micro_usd: Limit,
  hosts: z
    .array(HostLimit)
    .max(paymentLimits.named)
    .refine(
      isUniqueBy<z.output<typeof HostLimit>>(({ host }) => host),
      'must not name a host twice',
    ),
  payees: z
    .array(PayeeLimit)
    .max(paymentLimits.named)
    .refine(
      isUniqueBy<z.output<typeof PayeeLimit>>(({ payee }) => payee),
      'must not name a payee twice',
    ),
  local_servers: z
    .array(LocalServer)
    .max(paymentLimits.named)
    .refine(
      isUniqueBy<string>((it) => it),
      'must not name a server twice',
    )
    .default([])
    .describe('Servers on this computer that programs and models may reach by x402. The window reaches all of them.'),
  ask_first_payee: z
    .boolean()
    .describe('Whether Steward asks you before the first payment to a payee, even if a rule allows it.'),
})
export type PaymentBudgetLimits = z.infer<typeof PaymentBudgetLimits>

/** Daily and monthly limits include all spending: USDC payments, credits, renewals, and chat costs. */
export const PaymentBudgets = z.object({
  limits: PaymentBudgetLimits,
  states: z.array(BudgetState).describe('State of each limit. Always includes `day` and `month`.'),
  payees: z
    .array(z.object({ host: z.string(), network: z.string(), pay_to: z.string(), since: IsoTime }))
    .describe('First payee of each host. Steward refuses another payee of the same host on the same network.'),
})
export type PaymentBudgets = z.infer<typeof PaymentBudgets>

export const getPaymentBudgets = defineRoute({
  operation: 'paymentBudgetGet',
  method: 'GET',
  path: '/local/payments/budgets',
  summary: 'Get the payment limits and the remaining amounts',
  description:
    'Returns amounts in micro-dollars. Initially, no limits are set and the first payment to each payee asks the user. Fails with 500 `data/unusable` if the stored limits cannot be read; all payments are then refused.',
  tag: 'Payments',
  auth: 'person',
  response: PaymentBudgets,
})

export const changePaymentBudgets = defineRoute({
  operation: 'paymentBudgetChange',
  method: 'PUT',
  path: '/local/payments/budgets',
  summary: 'Change the payment limits',
  description:
    'Lower limits apply immediately. A change that allows more requires the same confirmation as a policy that allows more: 403 `policy/confirmation`, then the secure prompt `confirm_policy`. In Electron, a dialog opens automatically.',
  example: {
    payment_micro_usd: 5_000_000,
    day_micro_usd: 20_000_000,
    month_micro_usd: null,
    hosts: [{ host: 'api.example.com', month_micro_usd: 10_000_000 }],
    payees: [],
    local_servers: ['127.0.0.1:8080'],
    ask_first_payee: true,
  },
  tag: 'Payments',
  auth: 'person',
  refusals: [409, 423],
  body: PaymentBudgetLimits,
  response: PaymentBudgets,
})

export const forgetPayee = defineRoute({
  operation: 'paymentPayeeForget',
  method: 'DELETE',
  path: '/local/payments/payees/:host',
  summary: 'Remove the payees of a host to allow others',
  description:
    'Deletes the payees of all networks, and succeeds if none exist. With `ask_first_payee`, the next payment asks the user. Otherwise, the user must confirm the deletion: 403 `policy/confirmation`.',
  tag: 'Payments',
  auth: 'person',
  refusals: [409, 423],
  params: z.object({ host: z.string().min(1).max(262) }),
  response: z.object({ success: z.literal(true), host: z.string() }),
})
