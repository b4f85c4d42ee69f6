import { useSyncExternalStore } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { computeRunCents } from './runCost.ts'

/** Cost that updates periodically and re-renders only when its text changes. */
export function RunCost({ sandbox }: { sandbox: Sandbox }) {
  return useSyncExternalStore(subscribeEveryFewSeconds, () => formatUsdCents(computeRunCents(sandbox, Date.now())))
}

function subscribeEveryFewSeconds(listener: () => void): () => void {
  const timer = setInterval(listener, 5_000)
  return () => clearInterval(timer)
}
