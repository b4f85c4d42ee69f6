import { usePolicy } from '#renderer/api/usePolicy.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { SettingsPage } from '../SettingsPage.tsx'
import { GrantsGroup } from './GrantsGroup.tsx'
import { PolicyEditor } from './PolicyEditor.tsx'

export function PoliciesSection() {
  const { data, error, isPending, refetch } = usePolicy()
  return (
    <SettingsPage
      title="Policies"
      description="What the wallet signs automatically, asks you about, or refuses. The first matching rule applies."
    >
      {isPending ? (
        <SkeletonRows label="Loading policies…" count={4} rowClassName="h-16" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <PolicyEditor policy={data} />
      )}
      <GrantsGroup />
    </SettingsPage>
  )
}
