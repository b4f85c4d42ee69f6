import { frameTokens, imageTokens } from './estimateTokens.ts'
import type { MessageWeight } from './messageRepository.ts'

/** Limits of a model, in tokens. */
export type TokenBudget = { contextWindow: number; outputTokens: number }

export type ContextWindow = {
  /** Numbers of messages, oldest first. */
  messages: number[]
  /** Number of oldest messages omitted. */
  omitted: number
  /** Tokens of the whole request: an estimate and an upper bound. */
  defaultTokens: number
  maxTokens: number
}

/** Maximum size of a request to the service, as JSON. The service accepts 32 MB. */
const maxRequestBytes = 30 * 1024 ** 2
/** Safety margin for estimation errors, because a provider rejects a prompt that is too long. */
const margin = 1.1

/**
 * Selects the messages that fit the context window: all, or otherwise the newest ones, starting with a user message.
 * @param weights of the whole branch, oldest first, including the message to reply to
 * @returns undefined if not even that message fits
 */
export function fitContextWindow(
  weights: readonly MessageWeight[],
  system: Pick<MessageWeight, 'bytes' | 'tokens'>,
  budget: TokenBudget,
): ContextWindow | undefined {
  const availableTokens = (budget.contextWindow - Math.min(budget.outputTokens, budget.contextWindow / 2)) / margin
  const sums: Sum[] = [
    { expected: frameTokens.expected + system.tokens, max: 2 * frameTokens.max + system.bytes, bytes: system.bytes },
  ]
  for (const weight of weights.toReversed()) {
    const sum = addMessage(sums.at(-1), weight)
    if (sum.expected > availableTokens || sum.bytes > maxRequestBytes) break
    sums.push(sum)
  }
  let count = sums.length - 1
  if (count < weights.length) while (count > 0 && weights.at(-count)?.role !== 'user') count -= 1
  const sum = sums[count]
  if (count === 0 || !sum) return undefined
  return {
    messages: weights.slice(-count).map(({ number }) => number),
    omitted: weights.length - count,
    defaultTokens: Math.ceil(sum.expected),
    maxTokens: sum.max,
  }
}

type Sum = { expected: number; max: number; bytes: number }

/** Adds an upper bound: no tokenizer produces more tokens than bytes. Images count separately. */
function addMessage(sum: Sum | undefined, { bytes, tokens, images, image_bytes }: MessageWeight): Sum {
  const { expected, max, bytes: before } = sum ?? { expected: 0, max: 0, bytes: 0 }
  return {
    expected: expected + frameTokens.expected + tokens,
    max: max + frameTokens.max * (1 + images) + bytes + images * imageTokens.max,
    bytes: before + bytes + Math.ceil(image_bytes / 3) * 4,
  }
}
