import type { CanonicalEvent } from '../canonical/canonical.ts'

/**
 * Enforces the invariants of every completion: exactly one end, with nothing after it; the end reason `calls` if and
 * only if there are calls; `{}` for a call without arguments.
 */
export function createCompletionRules() {
  let ended = false
  let called = false
  /** Call without arguments so far. */
  let bare: number | undefined

  function pushEvent(event: CanonicalEvent, passed: CanonicalEvent[]): void {
    if (event.type === 'arguments' && event.block === bare && event.text !== '') bare = undefined
    if (bare !== undefined && isEndOfCall(event, bare)) {
      passed.push({ type: 'arguments', block: bare, text: '{}' })
      bare = undefined
    }
    if (event.type === 'call') {
      called = true
      bare = event.block
    }
    ended = event.type === 'finish' || event.type === 'error'
    if (event.type !== 'finish') passed.push(event)
    else if (called && event.reason === 'stop') passed.push({ ...event, reason: 'calls' })
    else if (!called && event.reason === 'calls') passed.push({ ...event, reason: 'stop' })
    else passed.push(event)
  }

  return {
    pass(events: Iterable<CanonicalEvent>): CanonicalEvent[] {
      const passed: CanonicalEvent[] = []
      for (const event of events) {
        if (ended) break
        // Most events are text, which no rule affects.
        if (event.type === 'text' && bare === undefined) passed.push(event)
        else pushEvent(event, passed)
      }
      return passed
    },
    /** True after `finish` or `error`. Later events are dropped. */
    hasEnded: () => ended,
  }
}

function isEndOfCall(event: CanonicalEvent, block: number): boolean {
  if (event.type === 'finish') return true
  return 'block' in event && event.block !== block
}
