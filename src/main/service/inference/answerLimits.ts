import { InferenceError } from './inferenceError.ts'
import type { InnerEvent } from './innerForm.ts'

/** Bounds of one answer, which no provider can lift. */
export type AnswerLimits = {
  /** Of the collected content, in characters. */
  maxChars: number
  /** Between two events with content: comments and empty deltas do not count. */
  maxQuietMs: number
  maxDurationMs: number
}

/** A token has about 4 characters, and one of a repeated character up to 128. */
const charsPerToken = 40
/** Signatures and sealed thinking, whose length does not follow from tokens. */
const slackChars = 1024 * 1024
const maxCollectedChars = 64 * 1024 * 1024
/** Cost of an object for a part of an answer. */
const charsPerPart = 64

export const defaultQuietMs = 10 * 60_000
/** Shorter than a hold of credits lasts. */
export const defaultDurationMs = 50 * 60_000

/** @param maxOutputTokens what the reservation covers */
export function maxAnswerChars(maxOutputTokens: number): number {
  return Math.min(maxCollectedChars, maxOutputTokens * charsPerToken + slackChars)
}

/** Counts the content of an answer against its limits. */
export function createAnswerMeter({ maxChars, maxQuietMs, maxDurationMs }: AnswerLimits, now: () => number) {
  const startedAtMs = now()
  let contentAtMs = startedAtMs
  let chars = 0
  let part: number | undefined

  return {
    /** @returns the error of an answer that is longer than any with its limit of tokens */
    add(event: InnerEvent): InferenceError | undefined {
      const length = contentLength(event)
      if (length > 0) contentAtMs = now()
      chars += length
      if ('block' in event && event.block !== part) {
        part = event.block
        chars += charsPerPart
      }
      if (chars <= maxChars) return undefined
      return new InferenceError('upstream', 'The provider sent more than `max_tokens` allows and was cut off.', {
        reason: 'overlong',
      })
    },
    /** @throws InferenceError `timeout` for an answer that goes on without content, or for too long */
    assertAlive(): void {
      const nowMs = now()
      if (nowMs - contentAtMs > maxQuietMs)
        throw new InferenceError('timeout', 'The provider went silent in its answer.')
      if (nowMs - startedAtMs > maxDurationMs) {
        throw new InferenceError(
          'timeout',
          `The provider did not finish its answer in ${maxDurationMs / 60_000} minutes.`,
        )
      }
    },
  }
}

function contentLength(event: InnerEvent): number {
  switch (event.type) {
    case 'text':
    case 'refusal':
    case 'thinking':
    case 'arguments':
      return event.text.length
    case 'signature':
      return event.signature.value.length
    case 'redacted':
      return event.sealed.value.length
    case 'call':
      return event.id.length + event.name.length + (event.signature?.value.length ?? 0)
    case 'finish':
      return 1
    default:
      return 0
  }
}
