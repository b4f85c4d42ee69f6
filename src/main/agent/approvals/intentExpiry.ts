import type { Clock } from '#platform/time/clock.ts'
import type { IntentLifecycle } from './intentLifecycle.ts'
import type { IntentRepository } from './intentRepository.ts'

type Options = {
  lifecycle: Pick<IntentLifecycle, 'apply' | 'subscribe' | 'moveDeadlines'>
  intents: Pick<IntentRepository, 'listExpired' | 'nextExpiryMs'>
  now: () => number
  clock: Pick<Clock, 'check' | 'onJump'>
}

/** Maximum timer delay. After sleep, timers lag behind the clock, so deadlines are checked at least this often. */
const maxTimerDelayMs = 60_000

/** Expires intents on a timer and on every read. */
export function createIntentExpiry({ lifecycle, intents, now, clock }: Options) {
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const plan = (): void => {
    clearTimeout(timer)
    const nextMs = closed ? undefined : intents.nextExpiryMs()
    if (nextMs === undefined) return
    timer = setTimeout(sweep, Math.min(Math.max(nextMs - now(), 1), maxTimerDelayMs))
    timer.unref()
  }
  const sweep = (): void => {
    if (closed) return
    clock.check() // adjusts deadlines if the clock was set
    for (const { id } of intents.listExpired(now()))
      lifecycle.apply(id, 'expire', { error: 'The request expired without a decision.' })
    plan()
  }
  const unsubscribe = lifecycle.subscribe(({ record }) => {
    if (record.state === 'waiting') plan()
  })
  const ignoreJumps = clock.onJump('requests', ({ fromMs, toMs, cause }) => {
    if (cause === 'set') lifecycle.moveDeadlines(toMs - fromMs)
    plan()
  })
  return {
    sweep,
    close() {
      closed = true
      unsubscribe()
      ignoreJumps()
      clearTimeout(timer)
    },
  }
}
