import { AppError } from '#shared/appError.ts'
import { chatToolLimits } from '#shared/contract/chatTools.ts'

/** Delta of a call. `index` identifies the call. */
export type ToolCallDelta = { index: number; name: string; arguments: string; extra: unknown }
/** Fields to return to the provider unchanged: signed thinking and text signatures. */
export type ProviderState = { reasoning_details?: unknown[] | undefined; extra_content?: unknown }
export type AccumulatedCall = { name: string; arguments: string; extra: unknown }

export type ToolCallAccumulator = {
  /** @throws AppError `inference/upstream` if the calls exceed their limit */
  add(piece: ToolCallDelta): void
  /** @throws AppError `inference/upstream` if the details exceed their limit */
  carry(carried: ProviderState): void
  calls(): AccumulatedCall[]
  readProviderState(): ProviderState
}

/** More calls than any model makes. Excess calls up to this limit are rejected individually. */
const maxCalls = 8 * chatToolLimits.callsOfStep
const maxDetails = 1_000

function measureJson(value: unknown): number {
  return value === undefined ? 0 : (JSON.stringify(value)?.length ?? 0)
}

/** Assembles the calls of one step from their deltas. */
export function createToolCallAccumulator(): ToolCallAccumulator {
  const calls = new Map<number, AccumulatedCall>()
  let details: unknown[] = []
  let extraContent: unknown
  let characters = 0

  /** @throws AppError `inference/upstream` */
  function countCharacters(count: number): void {
    characters += count
    if (characters <= 4 * chatToolLimits.argumentCharacters && calls.size <= maxCalls) return
    throw new AppError('inference/upstream', 'The model made too many tool calls and was stopped.')
  }

  return {
    add({ index, name, arguments: text, extra }) {
      const call = calls.get(index) ?? { name: '', arguments: '', extra: undefined }
      countCharacters(name.length + text.length + measureJson(extra))
      calls.set(index, { name: call.name + name, arguments: call.arguments + text, extra: extra ?? call.extra })
    },
    carry({ reasoning_details: added = [], extra_content: extra }) {
      countCharacters(measureJson(added) + measureJson(extra))
      details = [...details, ...added].slice(0, maxDetails)
      extraContent = extra ?? extraContent
    },
    calls: () => [...calls.entries()].sort(([a], [b]) => a - b).map(([, call]) => call),
    readProviderState: () => ({
      ...(details.length > 0 && { reasoning_details: details }),
      ...(extraContent !== undefined && { extra_content: extraContent }),
    }),
  }
}
