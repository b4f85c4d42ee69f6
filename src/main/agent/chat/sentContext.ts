import type { MessageWeight } from './messageRepository.ts'
import { frameTokens, imageTokens } from './tokenWeight.ts'

/** How much a model takes. */
export type Room = { contextWindow: number; outputTokens: number }

export type SentContext = {
  /** Numbers of messages, oldest first. */
  messages: number[]
  /** So many of the oldest were left out. */
  omitted: number
  /** Of all that is sent: estimated, and more than it can be. */
  usualTokens: number
  mostTokens: number
}

/** Of a request, as JSON, to the service: it takes 32 MB. */
const maxRequestBytes = 30 * 1024 ** 2
/** The estimate can be off by so much, and a provider refuses a prompt that is too long. */
const margin = 1.1

/**
 * The part of a branch that a model can take: all of it, else its newest messages, beginning with one of the person.
 * @param weights of the whole branch, oldest first, with the message that is to be answered at its end
 * @returns undefined where not even that one fits
 */
export function sentContext(
  weights: readonly MessageWeight[],
  system: Pick<MessageWeight, 'bytes' | 'tokens'>,
  room: Room,
): SentContext | undefined {
  const tokenRoom = (room.contextWindow - Math.min(room.outputTokens, room.contextWindow / 2)) / margin
  const sums: Sum[] = [
    { usual: frameTokens.usual + system.tokens, most: 2 * frameTokens.most + system.bytes, bytes: system.bytes },
  ]
  for (const weight of weights.toReversed()) {
    const sum = added(sums.at(-1), weight)
    if (sum.usual > tokenRoom || sum.bytes > maxRequestBytes) break
    sums.push(sum)
  }
  let kept = sums.length - 1
  if (kept < weights.length) while (kept > 0 && weights.at(-kept)?.role !== 'user') kept -= 1
  const sum = sums[kept]
  if (kept === 0 || !sum) return undefined
  return {
    messages: weights.slice(-kept).map(({ number }) => number),
    omitted: weights.length - kept,
    usualTokens: Math.ceil(sum.usual),
    mostTokens: sum.most,
  }
}

type Sum = { usual: number; most: number; bytes: number }

/** No tokenizer makes more tokens of a text than it has bytes; an image has some of its own. */
function added(sum: Sum | undefined, { bytes, tokens, images, image_bytes }: MessageWeight): Sum {
  const { usual, most, bytes: before } = sum ?? { usual: 0, most: 0, bytes: 0 }
  return {
    usual: usual + frameTokens.usual + tokens,
    most: most + frameTokens.most * (1 + images) + bytes + images * imageTokens.most,
    bytes: before + bytes + Math.ceil(image_bytes / 3) * 4,
  }
}
