import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { useWallet } from '#renderer/api/useWallet.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { buildAddress, goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { giveTestMoney } from '#shared/contract/payments.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { paymentsKey } from '../usePayments.ts'
import { useWalletInfo } from './usePurchase.ts'

type PayerLineProps = {
  network: string
  /** Millionths of a USDC. */
  amount: string
  isTest: boolean
  onCanPay: (canPay: boolean) => void
}

/** Paying account with its balance, and a remedy if the balance is too low. */
export function PayerLine({ network, amount, isTest, onCanPay }: PayerLineProps) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const isAbsent = useWallet().data?.state === 'absent'
  const { data } = useWalletInfo(isAbsent ? undefined : network)
  const isShort = data?.usdc !== undefined && data.usdc !== null && BigInt(data.usdc) < BigInt(amount)
  const canPay = !isAbsent && !isShort
  useEffect(() => onCanPay(canPay), [canPay, onCanPay])
  const giving = useMutation({
    mutationFn: (address: string) => agent(giveTestMoney, { address }),
    onSuccess: () => notify.done('100 test USDC added'),
    onError: (error) => notify.failed(error),
    onSettled: () => readAgain(queryClient, paymentsKey),
  })
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1.5 border-t border-line px-3.5 py-1.5 text-small">
      {isAbsent ? (
        <>
          <span className="flex-1">You need a wallet to pay.</span>
          <Button size="small" onClick={() => goTo('wallet')}>
            Open Wallet
          </Button>
        </>
      ) : data ? (
        <>
          <span className="min-w-0 flex-1 text-muted">
            From <code className="font-mono">{shortenAddress(data.address)}</code>{' '}
            {data.test ? 'with test money' : `on ${data.network_name}`} ·{' '}
            <span className={isShort ? 'text-caution' : undefined}>
              {data.usdc === null ? 'balance unknown' : `balance ${formatUsd(data.usdc, 'exact')}`}
            </span>
          </span>
          {isShort && isTest && (
            <Button size="small" busy={giving.isPending} onClick={() => giving.mutate(data.address)}>
              Get 100 test USDC
            </Button>
          )}
          {isShort && !isTest && (
            <a href={buildAddress('wallet')} className="font-medium text-accent hover:underline">
              Deposit USDC
            </a>
          )}
        </>
      ) : (
        <span className="text-faint">Loading balance…</span>
      )}
    </div>
  )
}
