import { useState } from 'react'
import { useWallet } from '#renderer/api/useWallet.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { useUnsaved } from '#renderer/ui/unsaved/useUnsaved.ts'
import type { AutomatonProfile } from '#shared/contract/automatons.ts'
import type { Wallet } from '#shared/contract/wallet.ts'
import { RegisterFields } from './RegisterFields.tsx'
import { ReviewStep } from './ReviewStep.tsx'
import { createInitialForm, listAccounts, toRegistrationInput } from './registerForm.ts'
import { type Preview, useRegister } from './useRegister.ts'

/** Registration in three steps: fill in the form, review the content to sign, request approval. */
export function RegisterPage({ before }: { before: AutomatonProfile | undefined }) {
  const { data: wallet, error, isPending, refetch } = useWallet()
  return (
    <section aria-label="Register automaton" className="size-full overflow-auto">
      <PageColumn className="flex flex-col gap-5 py-5">
        {isPending ? (
          <SkeletonRows label="Loading wallet…" count={4} rowClassName="h-12" />
        ) : !wallet ? (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        ) : listAccounts(wallet).length === 0 ? (
          <NoAccounts wallet={wallet} />
        ) : (
          <RegisterSteps wallet={wallet} before={before} />
        )}
      </PageColumn>
    </section>
  )
}

function RegisterSteps({ wallet, before }: { wallet: Wallet; before: AutomatonProfile | undefined }) {
  const accounts = listAccounts(wallet)
  const [initial] = useState(() => createInitialForm(wallet, { newId: () => crypto.randomUUID(), before }))
  const [form, setForm] = useState(initial)
  const sent = useUnsaved(form !== initial, ['identity', 'new'])
  const [preview, setPreview] = useState<Preview>()
  const { show, ask, busy, failure } = useRegister({ onSubmitted: sent })
  if (preview) {
    return (
      <ReviewStep
        preview={preview}
        isLocked={wallet.state === 'locked'}
        busy={busy}
        failure={failure}
        onBack={() => setPreview(undefined)}
        onAsk={(reason) => ask({ ...toRegistrationInput(form, accounts), ...(reason !== '' && { reason }) })}
      />
    )
  }
  return (
    <RegisterFields
      form={form}
      accounts={accounts}
      busy={busy}
      failure={failure}
      onChange={(part) => setForm((present) => ({ ...present, ...part }))}
      onDone={async () => setPreview(await show(toRegistrationInput(form, accounts)))}
    />
  )
}

function NoAccounts({ wallet }: { wallet: Wallet }) {
  return (
    <div className="flex flex-col gap-2">
      <h2 className="text-large font-semibold">The wallet can’t sign right now</h2>
      <p className="text-muted">
        {wallet.detail ?? 'The wallet has no accounts.'}{' '}
        <a href={buildAddress('wallet')} className="font-medium text-accent hover:underline">
          Open Wallet
        </a>
      </p>
    </div>
  )
}
