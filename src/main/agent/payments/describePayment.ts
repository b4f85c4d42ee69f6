import { solanaNetworks, usdcDecimals } from '#shared/contract/networks.ts'
import type { Payment } from '#shared/contract/paymentRecords.ts'
import { formatTokenAmount } from '#shared/tokenAmount.ts'

type DescribedPayment = Pick<Payment, 'state' | 'paid' | 'amount' | 'test' | 'scheme'>

/**
 * Returns a sentence with the state and the outcome, including unknown ones.
 * @param moved amount that was paid, if known, in millionths of a USDC
 */
export function describePaymentState({ state, paid, amount, test, scheme }: DescribedPayment, moved = amount): string {
  const figure = `${formatTokenAmount(BigInt(moved), usdcDecimals)} ${test ? 'test USDC' : 'USDC'}`
  const isUpperBound = scheme === 'upto' && paid !== true
  const [money, within] = isUpperBound ? [`Up to ${figure}`, `up to ${figure}`] : [figure, figure]
  switch (state) {
    case 'planned':
      return `${money} is about to be paid.`
    case 'waiting':
      return `${money} waits for approval.`
    case 'signed':
      return `${money} is signed and about to be sent.`
    case 'sent':
      return `${money} was sent. The seller has not responded yet.`
    case 'settled':
      return `${money} was paid.`
    case 'refused':
      return paid === null
        ? `The seller refused ${within}. The amount counts toward your limits until the signature expires.`
        : `Nothing was paid.`
    case 'unknown':
      return `Steward does not know yet whether ${within} was paid. It keeps checking and signs nothing new.`
    case 'reconciled':
      return paid ? `${money} was paid.` : `Nothing was paid. The signature expired without being used.`
  }
}

const [solana, solanaDevnet] = solanaNetworks
const explorers: Readonly<Record<string, string>> = {
  'eip155:8453': 'https://basescan.org/tx/',
  [solana.id]: 'https://explorer.solana.com/tx/',
  'eip155:84532': 'https://sepolia.basescan.org/tx/',
}

export function toTransactionUrl(network: string, transaction: string | null): string | null {
  if (transaction === null) return null
  if (network === solanaDevnet.id) return `https://explorer.solana.com/tx/${transaction}?cluster=devnet`
  const explorer = explorers[network]
  return explorer === undefined ? null : `${explorer}${transaction}`
}
