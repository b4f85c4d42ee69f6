import type { Migration } from '../../migrate.ts'

/** Links tool calls to payments, so that a retry finds the first payment until its outcome is known. */
export const toolPaymentIds = {
  version: 22,
  up: 'ALTER TABLE tool_payments ADD COLUMN payment_id TEXT',
} as const satisfies Migration
