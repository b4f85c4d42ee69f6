import { TriangleAlert } from 'lucide-react'
import { encode } from 'uqr'
import { evmNetworks, solanaNetworks } from '#shared/contract/networks.ts'
import type { WalletAccount } from '#shared/contract/wallet.ts'
import { buildDepositLink } from '#shared/depositLink.ts'
import { AddressText } from '../../ui/AddressText.tsx'
import { CopyLine } from '../../ui/CopyLine.tsx'
import { Dialog } from '../../ui/Dialog.tsx'

export function DepositDialog({ account, onClose }: { account: WalletAccount; onClose: () => void }) {
  const { address, label, chain_type: chain } = account
  const [network] = chain === 'evm' ? evmNetworks : solanaNetworks
  return (
    <Dialog open onOpenChange={onClose} title={`Deposit to ${label}`} width="narrow">
      <div className="flex flex-col items-center gap-4">
        <QrCode text={address} label={`QR code of the address ${address}`} />
        <AddressText text={address} label="Copy address" whole />
        <div className="w-full">
          <p className="mb-1 text-small text-muted">Deposit link, for another wallet</p>
          <CopyLine text={buildDepositLink(network, address)} label="Copy deposit link" />
        </div>
        <p className="flex items-start gap-2.5 rounded-card border border-line bg-caution-soft p-3 text-muted">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
          {chain === 'evm' ? (
            <span>
              <strong className="font-medium text-text">USDC on Base only.</strong> Steward pays with USDC on Base; the
              seller pays the fee. Don’t send ether: Steward cannot spend it. Funds on another network won’t show up
              here.
            </span>
          ) : (
            <span>
              <strong className="font-medium text-text">USDC on Solana only.</strong> Steward pays with it if a seller
              requires Solana; the seller pays the fee. Steward cannot spend other tokens.
            </span>
          )}
        </p>
      </div>
    </Dialog>
  )
}

/** Dark on white in every theme, as scanners expect. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-card"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  )
}
