import { Button } from '#renderer/ui/Button.tsx'
import { usePurchase } from '#renderer/ui/purchaseContext.ts'
import type { CheckedDomain } from '#shared/contract/domainSearch.ts'

type BuyButtonProps = {
  result: Pick<CheckedDomain, 'domain' | 'unicode' | 'available'>
  /** US dollars per year; null if unknown. */
  renewal: number | null
}

/** Button to buy a domain. Renders nothing if the name is not available. */
export function BuyButton({ result: { domain, unicode, available }, renewal }: BuyButtonProps) {
  const openPurchase = usePurchase()
  if (!available) return <span />
  return (
    <Button
      size="small"
      aria-label={`Buy ${unicode}`}
      onClick={() => openPurchase({ kind: 'registration', domain, unicode, renewal })}
    >
      Buy…
    </Button>
  )
}
