import { useSyncExternalStore } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { runCents } from './runCost.ts'

/** Ticks by itself, and is drawn again only when it reads differently. */
export function RunCost({ sandbox }: { sandbox: Sandbox }) {
  return useSyncExternalStore(everyFewSeconds, () => formatUsdCents(runCents(sandbox, Date.now())))
}

function everyFewSeconds(listener: () => void): () => void {
  const timer = setInterval(listener, 5_000)
  return () => clearInterval(timer)
}
