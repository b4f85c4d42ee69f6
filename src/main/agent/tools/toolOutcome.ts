import { AppError } from '#shared/appError.ts'
import type { Tool, ToolResult, ToolWaiting } from '#shared/contract/tools/tool.ts'

/** Result of a tool call. Its text is untrusted and displayed as plain text. */
export type ToolOutcome =
  | { kind: 'result'; result: ToolResult; text: string }
  /** The call continues without its caller. `approval_status` or `executor.waitUntilSettled` returns its outcome. */
  | { kind: 'waiting'; waiting: ToolWaiting }
  | { kind: 'error'; code: string; sentence: string; hint: string; payment?: ToolResult }

export function toResultOutcome(tool: Tool, result: ToolResult): ToolOutcome {
  return { kind: 'result', result, text: tool.text?.(result) ?? JSON.stringify(result, null, 2) }
}

export function toFailureOutcome(error: unknown): ToolOutcome & { kind: 'error' } {
  if (!(error instanceof AppError)) {
    return toFailureOutcome(new AppError('internal/unexpected', 'Something went wrong in Steward.'))
  }
  const { code, message, detail, hint, fields } = error
  const sentence = detail === undefined ? message : `${message} ${detail}`
  const { payment } = fields
  const hasPayment = typeof payment === 'object' && payment !== null
  return { kind: 'error', code, sentence, hint, ...(hasPayment && { payment: { ...payment } }) }
}
