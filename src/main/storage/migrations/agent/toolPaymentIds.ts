import type { Migration } from '../../migrate.ts'

/** A repeated tool call finds the payment of the first one until it is known what became of it. */
export const toolPaymentIds = {
  version: 22,
  up: 'ALTER TABLE tool_payments ADD COLUMN payment_id TEXT',
} as const satisfies Migration
