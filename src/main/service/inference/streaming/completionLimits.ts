import type { CanonicalEvent } from '../canonical/canonical.ts'
import { InferenceError } from '../inferenceError.ts'

/** Limits of one completion, whatever the provider sends. */
export type CompletionLimits = {
  /** Maximum length of the collected content, in characters. */
  maxChars: number
  /** Maximum time between two events with content. Comments and empty deltas do not count. */
  maxQuietMs: number
  maxDurationMs: number
}

/** A token averages about 4 characters; one of a repeated character has up to 128. */
const charsPerToken = 40
/** Allowance for signatures and encrypted thinking, whose length is independent of tokens. */
const slackChars = 1024 * 1024
const maxCollectedChars = 64 * 1024 * 1024
/** Overhead per content part, counted as characters. */
const charsPerPart = 64

export const defaultQuietMs = 10 * 60_000
/** Must be shorter than the lifetime of a credit hold. */
export const defaultDurationMs = 50 * 60_000

/** @param maxOutputTokens output tokens of the reservation */
export function getMaxCompletionChars(maxOutputTokens: number): number {
  return Math.min(maxCollectedChars, maxOutputTokens * charsPerToken + slackChars)
}

/** Counts the content of a completion against its limits. */
export function createCompletionMeter({ maxChars, maxQuietMs, maxDurationMs }: CompletionLimits, now: () => number) {
  const startedAtMs = now()
  let contentAtMs = startedAtMs
  let chars = 0
  let part: number | undefined

  return {
    /** @returns an error if the completion is too long for its token limit */
    add(event: CanonicalEvent): InferenceError | undefined {
      const length = measureContent(event)
      if (length > 0) contentAtMs = now()
      chars += length
      if ('block' in event && event.block !== part) {
        part = event.block
        chars += charsPerPart
      }
      if (chars <= maxChars) return undefined
      return new InferenceError('upstream', 'The provider exceeded `max_tokens` and was cut off.', {
        reason: 'overlong',
      })
    },
    /** @throws InferenceError `timeout` if no content arrives or the completion takes too long */
    assertAlive(): void {
      const nowMs = now()
      if (nowMs - contentAtMs > maxQuietMs)
        throw new InferenceError('timeout', 'The provider stopped responding mid-stream.')
      if (nowMs - startedAtMs > maxDurationMs) {
        throw new InferenceError(
          'timeout',
          `The provider did not finish its response within ${maxDurationMs / 60_000} minutes.`,
        )
      }
    },
  }
}

function measureContent(event: CanonicalEvent): number {
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
