import type { IntentRecord } from '../../../shared/contract/intents.ts'
import type { IntentRepository } from './intentRepository.ts'

type Options = {
  intents: Pick<IntentRepository, 'expired' | 'nextExpiryMs' | 'change'>
  now: () => number
  became: (record: IntentRecord) => void
}

/** A computer that slept wakes up with its clock ahead of its timers: they are looked after at least this often. */
const longestMs = 60_000

/** Ends what waited too long, at its time and whenever somebody looks. */
export function intentExpiry({ intents, now, became }: Options) {
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const plan = (): void => {
    clearTimeout(timer)
    const nextMs = closed ? undefined : intents.nextExpiryMs()
    if (nextMs === undefined) return
    timer = setTimeout(sweep, Math.min(Math.max(nextMs - now(), 1), longestMs))
    timer.unref()
  }
  const sweep = (): void => {
    const due = intents.expired(now())
    for (const record of due) {
      const expired: IntentRecord = { ...record, state: 'expired', error: 'Nobody decided in time.' }
      if (intents.change(expired, 'waiting')) became(expired)
    }
    plan()
  }
  return {
    sweep,
    /** Something waits since now. */
    plan,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
