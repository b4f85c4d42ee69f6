import { useEffect } from 'react'
import { goTo, useRoute } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { shortenAddress } from '#shared/shortAddress.ts'
import { useWaitingAccountRequests } from './useAccountRequests.ts'

/**
 * Shows one notice for all pending account requests while the inbox is not open. The notice links to the inbox and
 * contains no decision buttons.
 */
export function useAccountNotice(): void {
  const [section] = useRoute()
  const waiting = useWaitingAccountRequests()
  const first = waiting[0]?.wallet_address
  const title = first === undefined || section === 'approvals' ? undefined : buildTitle(first, waiting.length)
  useEffect(() => {
    if (title === undefined) return
    return notify.asked(title, { action: { label: 'Review', run: () => goTo('approvals') } })
  }, [title])
}

function buildTitle(address: string, count: number): string {
  return count === 1 ? `${shortenAddress(address)} asks for an account` : `${count} wallets ask for an account`
}
