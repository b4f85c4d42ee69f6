import { ArrowLeftRight, CirclePlus, HandCoins, Scale } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { CreditTransaction } from '#shared/contract/credits.ts'
import { useConnection } from '../../api/AgentProvider.tsx'
import { Button } from '../../ui/Button.tsx'
import { ErrorNotice, isSignInNeeded } from '../../ui/ErrorNotice.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { PageFrame, PageScroll } from '../../ui/PageFrame.tsx'
import { goTo, useRoute } from '../../ui/route.ts'
import { useAddressFilters } from '../../ui/useAddressFilters.ts'
import { BalanceCard } from './balance/BalanceCard.tsx'
import { TopUpPanel } from './balance/TopUpPanel.tsx'
import { AdjustDialog } from './giving/AdjustDialog.tsx'
import { GiveDialog } from './giving/GiveDialog.tsx'
import { RefundDialog } from './giving/RefundDialog.tsx'
import { HistorySection } from './history/HistorySection.tsx'
import { HistoryFilters, noHistoryFilters } from './history/historyFilters.ts'
import { KeyLimits } from './keys/KeyLimits.tsx'
import { RunningSandboxes } from './running/RunningSandboxes.tsx'
import { SpendingSection } from './spending/SpendingSection.tsx'
import { useCreditAccount } from './useCredits.ts'

/**
 * Credits screen: balance, spending and the owner's actions. Its dialogs have addresses, such as `#/credits/adjust`.
 */
export function CreditsScreen({ budgets }: { budgets: ReactNode }) {
  const [, page] = useRoute()
  const isEmbedded = useConnection()?.kind === 'embedded'
  const { data: account, error } = useCreditAccount()
  const isOwner = account?.role === 'owner'
  const [filters, setFilters] = useAddressFilters(HistoryFilters, noHistoryFilters)
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [refunded, setRefunded] = useState<CreditTransaction>()
  const close = () => goTo('credits')

  const showDay = (day: string) => {
    setFilters({ ...noHistoryFilters, period: 'between', from: day, to: day })
    document.getElementById('credit-history')?.scrollIntoView({ block: 'start' })
  }

  if (isSignInNeeded(error)) {
    return (
      <PageFrame title="Credits">
        <PageScroll width="table" className="flex flex-col gap-6 py-5">
          <ErrorNotice error={error} />
          {budgets}
        </PageScroll>
      </PageFrame>
    )
  }
  return (
    <PageFrame
      title="Credits"
      note={isEmbedded ? 'Metered usage of your own provider keys' : undefined}
      actions={
        isOwner ? (
          <>
            <Button size="small" icon={Scale} onClick={() => goTo('credits', 'adjust')}>
              Adjust balance
            </Button>
            <Menu
              align="end"
              items={[
                { label: 'Grant credits…', icon: CirclePlus, onSelect: () => goTo('credits', 'grant') },
                { label: 'Transfer credits…', icon: ArrowLeftRight, onSelect: () => goTo('credits', 'transfer') },
              ]}
            >
              <Button size="small" icon={HandCoins}>
                Give
              </Button>
            </Menu>
          </>
        ) : (
          account && (
            <Button size="small" icon={ArrowLeftRight} onClick={() => goTo('credits', 'transfer')}>
              Transfer
            </Button>
          )
        )
      }
    >
      <PageScroll ref={setScroller} width="table" className="flex flex-col gap-6 py-5">
        <BalanceCard isEmbedded={isEmbedded} />
        <TopUpPanel isEmbedded={isEmbedded} />
        <SpendingSection onDay={showDay} />
        <div className="grid items-start gap-6 wide:grid-cols-2">
          <RunningSandboxes isEmbedded={isEmbedded} />
          <div className="flex min-w-0 flex-col gap-6">
            <KeyLimits />
            {budgets}
          </div>
        </div>
        <HistorySection
          scroller={scroller}
          filters={filters}
          onFilters={setFilters}
          {...(isOwner && { onRefund: setRefunded })}
        />
      </PageScroll>
      {account && page === 'adjust' && <AdjustDialog isOwner={isOwner} onClose={close} />}
      {account && (page === 'grant' || page === 'transfer') && (
        <GiveDialog kind={page} ownId={account.id} isOwner={isOwner} onClose={close} />
      )}
      {refunded && <RefundDialog charge={refunded} onClose={() => setRefunded(undefined)} />}
    </PageFrame>
  )
}
