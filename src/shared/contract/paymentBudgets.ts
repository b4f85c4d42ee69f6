import { z } from 'zod'
import { IsoTime } from '../time.ts'
import { MicroUsdAmount, paymentLimits } from './paymentRecords.ts'
import { defineRoute } from './route.ts'

/** Budget and its usage. */
export const BudgetState = z.object({
  scope: z
    .enum(['payment', 'day', 'month', 'host', 'payee'])
    .describe(
      '`payment`: the most that one payment may cost. `day`: any 24 hours. `month`: the calendar month in UTC. `host`, `payee`: this one, per calendar month.',
    ),
  key: z.string().nullable().describe('The host, or network and address of the payee (`eip155:8453:0x…`).'),
  limit_micro_usd: MicroUsdAmount.nullable().describe('Null: no limit.'),
  used_micro_usd: MicroUsdAmount.describe('Paid; of `day` and `month` with what chats cost.'),
  held_micro_usd: MicroUsdAmount.describe(
    'Approved or signed, and not known yet to be paid or void. It counts as used.',
  ),
  remaining_micro_usd: MicroUsdAmount.nullable().describe('Null: no limit.'),
  resets_at: IsoTime.nullable().describe('When the month ends; null for `payment` and `day`.'),
})
export type BudgetState = z.infer<typeof BudgetState>

const Limit = MicroUsdAmount.nullable().describe('Micro-dollars; null: no limit. 0: nothing.')

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
    .overwrite((it) => (/^solana:/i.test(it) ? it : it.toLowerCase()))
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
  ask_first_payee: z.boolean().describe('You are asked before the first payment to a payee, whatever rules allow.'),
})
export type PaymentBudgetLimits = z.infer<typeof PaymentBudgetLimits>

/** Daily and monthly limits include all spending: USDC payments, credits, renewals, and chat costs. */
export const PaymentBudgets = z.object({
  limits: PaymentBudgetLimits,
  states: z.array(BudgetState).describe('One for each limit, and `day` and `month` in any case.'),
  payees: z
    .array(z.object({ host: z.string(), network: z.string(), pay_to: z.string(), since: IsoTime }))
    .describe('Whom each host was paid to first. Another payee of the same host on the same network is refused.'),
})
export type PaymentBudgets = z.infer<typeof PaymentBudgets>

export const getPaymentBudgets = defineRoute({
  operation: 'paymentBudgetGet',
  method: 'GET',
  path: '/local/payments/budgets',
  summary: 'Get the limits of payments, and what is left of them',
  description:
    'There are no limits at first, and the first payment to each payee asks the user. Amounts are in micro-dollars. Fails with 500 `data/unusable` if the stored limits cannot be read; all payments are refused then.',
  tag: 'Payments',
  auth: 'person',
  response: PaymentBudgets,
})

export const changePaymentBudgets = defineRoute({
  operation: 'paymentBudgetChange',
  method: 'PUT',
  path: '/local/payments/budgets',
  summary: 'Change the limits of payments',
  description:
    'Lower limits hold at once. What allows more is confirmed as a policy that allows more: 403 `policy/confirmation`, then the secure prompt `confirm_policy`; in Electron a dialog opens by itself.',
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
  summary: 'Forget the payees of a host, so that it may name others',
  description:
    'Deletes the payees of all networks; succeeds also if there are none. With `ask_first_payee`, the next payment asks the user; otherwise the user confirms the deletion: 403 `policy/confirmation`.',
  tag: 'Payments',
  auth: 'person',
  refusals: [409, 423],
  params: z.object({ host: z.string().min(1).max(262) }),
  response: z.object({ success: z.literal(true), host: z.string() }),
})
