import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import type { ApiKey } from '#shared/contract/accounts.ts'
import { useMe } from '../account/useMe.ts'
import { SettingsPage } from '../SettingsPage.tsx'
import { ApiKeyTable } from './ApiKeyTable.tsx'
import { NewKeyDialog } from './NewKeyDialog.tsx'
import { useApiKeyActions, useApiKeys } from './useApiKeys.ts'

export function ApiKeysSection() {
  const [dialog, setDialog] = useState<'new' | ApiKey>()
  const { revoke } = useApiKeyActions()
  return (
    <SettingsPage
      title="API keys"
      description="Scripts and agents use a key to reach your sandboxes and terminals. They can ask the wallet to sign; you and your policies decide."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => setDialog('new')}>
          New key
        </Button>
      }
    >
      <Keys onRevoke={setDialog} />
      {dialog === 'new' && <NewKeyDialog onClose={() => setDialog(undefined)} />}
      {typeof dialog === 'object' && (
        <ConfirmDialog
          open
          onOpenChange={() => setDialog(undefined)}
          title={`Revoke “${dialog.name}”?`}
          description="Programs using this key lose access at once. You can’t undo this."
          confirmLabel="Revoke key"
          onConfirm={() => revoke(dialog.id)}
        />
      )}
    </SettingsPage>
  )
}

function Keys({ onRevoke }: { onRevoke: (key: ApiKey) => void }) {
  const { data, error, isPending, refetch } = useApiKeys()
  const own = useMe().data?.api_key?.id
  if (isPending) return <SkeletonRows label="Loading API keys…" count={3} rowClassName="h-9" />
  if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  if (data.length === 0) {
    return (
      <p className="rounded-card border border-line px-3.5 py-6 text-center text-muted">
        No keys yet. Create one for each program, so you can revoke them one by one.
      </p>
    )
  }
  return <ApiKeyTable keys={data} own={own} onRevoke={onRevoke} />
}
