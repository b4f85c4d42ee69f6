import { z } from 'zod'
import { getIntent } from '../intents.ts'
import { getPayment } from '../localPayments.ts'
import { PaymentId } from '../paymentRecords.ts'
import { getToolCall, ToolCallId } from '../toolCalls.ts'
import { outlinePayment } from './paymentOutline.ts'
import { defineTool, type Tool } from './tool.ts'

/** Tools for calls that returned a pending id. */
export const approvalTools: readonly Tool[] = [
  defineTool({
    name: 'approval_status',
    description: 'Get the state or result of a waiting or running call; takes up to 20 s',
    group: 'approvals',
    effect: 'read',
    routes: [getToolCall, getPayment, getIntent],
    input: { id: z.string() },
    output: { id: z.string(), state: z.string(), result: z.unknown(), error: z.string().nullable() },
    async run({ id }, { call, waitMs: wait_ms }) {
      if (id.startsWith('pay_')) {
        const record = await call(getPayment, { paymentId: PaymentId.parse(id), wait_ms })
        const { state, sentence, error, receipt, answer, intent_id } = record
        const payment = outlinePayment(record)
        return { id, state, sentence, error, intent_id, payment, result: answer && { answer, receipt } }
      }
      if (id.startsWith('int_')) {
        const { state, sentence, error } = await call(getIntent, { intentId: id, wait_ms })
        return { id, state, sentence, error, result: null }
      }
      return call(getToolCall, { callId: ToolCallId.parse(id), wait_ms })
    },
  }),
]
