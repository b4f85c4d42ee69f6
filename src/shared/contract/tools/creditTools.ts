import { z } from 'zod'
import { creditLimits, getBalance, getPricing, listTransactions } from '../credits.ts'
import { listNetworks } from '../wallet.ts'
import { defineTool, type Tool } from './tool.ts'

const { page } = creditLimits
const group = 'money'

/** Tools for the balance, history and prices of credits, and for payment networks. */
export const creditTools: readonly Tool[] = [
  defineTool({
    name: 'credits_balance',
    description: 'Get the credit balance',
    group,
    effect: 'read',
    routes: [getBalance],
    input: {},
    output: { balance_cents: z.int(), formatted: z.string() },
    run: (_, { call }) => call(getBalance, {}),
  }),
  defineTool({
    name: 'credits_history',
    description: 'List credit transactions, newest first',
    group,
    effect: 'read',
    routes: [listTransactions],
    input: {
      limit: z.int().min(page.min).max(page.max).default(page.default),
      offset: z.int().min(0).max(1_000_000_000).default(0),
    },
    output: { transactions: z.array(z.looseObject({ id: z.string(), type: z.string() })), total: z.int() },
    run: ({ limit, offset }, { call }) => call(listTransactions, { limit, offset }),
  }),
  defineTool({
    name: 'credits_pricing',
    description: 'List sandbox prices and credit packages',
    group,
    effect: 'read',
    routes: [getPricing],
    input: {},
    output: { tiers: z.array(z.looseObject({})), payment_tiers: z.array(z.looseObject({})) },
    run: async (_, { call }) => {
      const { tiers, payment_tiers, sandboxes_charged } = await call(getPricing, {})
      return { tiers, payment_tiers, sandboxes_charged }
    },
  }),
  defineTool({
    name: 'wallet_networks',
    description: 'List payment networks and their USDC addresses',
    group,
    effect: 'read',
    routes: [listNetworks],
    input: {},
    output: {
      networks: z.array(z.looseObject({ id: z.string(), chain_id: z.int().nullable(), usdc_address: z.string() })),
    },
    run: (_, { call }) => call(listNetworks, {}),
  }),
]
