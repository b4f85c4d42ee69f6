import { Lock, LockOpen, TriangleAlert } from 'lucide-react'
import { useWallet } from '../../api/useWallet.ts'
import { goTo } from '../../ui/route.ts'
import { Tooltip } from '../../ui/Tooltip.tsx'
import { useWalletActions } from './useWalletActions.ts'

/** Wallet state in the status bar. A click locks or unlocks the wallet. */
export function WalletStatus() {
  const state = useWallet().data?.state
  const actions = useWalletActions()
  if (state === undefined || state === 'absent') return null
  const looks = {
    locked: { Icon: Lock, words: 'Wallet locked', hint: 'Unlock the wallet', run: actions.unlock },
    unlocked: { Icon: LockOpen, words: 'Wallet unlocked', hint: 'Lock the wallet', run: actions.lock },
  }
  const trouble = {
    Icon: TriangleAlert,
    words: 'Wallet needs attention',
    hint: 'Show the problem',
    run: () => goTo('wallet'),
  }
  const { Icon, words, hint, run } = state === 'locked' || state === 'unlocked' ? looks[state] : trouble
  return (
    <>
      <span role="status" className="sr-only">
        {words}
      </span>
      <Tooltip content={hint} side="top">
        <button
          type="button"
          onClick={run}
          className="flex h-5.5 shrink-0 items-center gap-1.5 rounded-small px-1.5 hover:bg-hover hover:text-text"
        >
          <Icon aria-hidden className="size-3.5" />
          {words}
        </button>
      </Tooltip>
    </>
  )
}
