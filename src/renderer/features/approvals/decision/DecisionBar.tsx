import { useRef, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Kbd } from '#renderer/ui/Kbd.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { buildContentKey } from './buildContentKey.ts'
import { canApproveMore } from './describeGrant.ts'
import { GrantDialog } from './GrantDialog.tsx'
import { useArmed } from './useArmed.ts'
import { useDecision } from './useDecision.ts'

/**
 * Decision buttons, always at the same position below the request. No single key approves a request: `A` focuses the
 * button, Enter activates it.
 */
export function DecisionBar({ record }: { record: IntentRecord }) {
  const decision = useDecision(record)
  const { needsUnlock, busy, error } = decision
  const [asksMore, setAsksMore] = useState(false)
  const armed = useArmed(`${buildContentKey(record)} ${needsUnlock}`)
  const denyButton = useRef<HTMLButtonElement>(null)
  const approveButton = useRef<HTMLButtonElement>(null)
  useCommands([
    {
      id: 'approvals.to-approve',
      title: 'Focus Approve',
      section: 'Approvals',
      shortcut: 'a',
      run: () => approveButton.current?.focus(),
    },
    {
      id: 'approvals.to-deny',
      title: 'Focus Deny',
      section: 'Approvals',
      shortcut: 'd',
      run: () => denyButton.current?.focus(),
    },
  ])
  const unlock = async () => {
    await decision.unlock()
    denyButton.current?.focus() // returns focus to a button on which Enter approves nothing
  }
  const isAllowed = record.decision !== null
  const isBlocked = record.blocked_reason !== undefined
  return (
    <section aria-label="Decision" className="border-t border-line bg-canvas">
      <PageColumn className="flex flex-col gap-2.5 py-3">
        {error !== undefined && !asksMore && <ErrorNotice error={error} />}
        <div className="flex flex-wrap items-center justify-end gap-2">
          <Keys />
          <Button ref={denyButton} busy={busy === 'deny'} onClick={() => void decision.deny()}>
            Deny
          </Button>
          {canApproveMore(record) && !needsUnlock && (
            <Button disabled={!armed || isBlocked || busy !== undefined} onClick={() => setAsksMore(true)}>
              Approve and remember…
            </Button>
          )}
          {needsUnlock ? (
            <Button ref={approveButton} variant="primary" onClick={() => void unlock()}>
              Unlock wallet…
            </Button>
          ) : (
            !isAllowed && (
              <Button
                ref={approveButton}
                variant="primary"
                busy={busy === 'approve' && !asksMore}
                disabled={!armed || isBlocked}
                onClick={() => void decision.approve()}
              >
                {record.needs_confirmation ? 'Approve once…' : 'Approve once'}
              </Button>
            )
          )}
        </div>
      </PageColumn>
      {asksMore && (
        <GrantDialog
          record={record}
          busy={busy === 'approve'}
          error={error}
          onApprove={(grant) => void decision.approve(grant).then((done) => done && setAsksMore(false))}
          onClose={() => setAsksMore(false)}
        />
      )}
    </section>
  )
}

function Keys() {
  return (
    <p className="mr-auto flex items-center gap-1.5 text-small text-faint max-narrow:hidden">
      <Kbd shortcut="a" /> approve · <Kbd shortcut="d" /> deny · <Kbd shortcut="enter" /> confirm
    </p>
  )
}
