import { usePolicy } from '../../../agent/usePolicy.ts'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../../ui/Skeleton.tsx'
import { SettingsPage } from '../SettingsPage.tsx'
import { GrantsGroup } from './GrantsGroup.tsx'
import { PolicyEditor } from './PolicyEditor.tsx'

export function PoliciesSection() {
  const { data, error, isPending, refetch } = usePolicy()
  return (
    <SettingsPage
      title="Policies"
      description="What the wallet signs without you, what it asks you first, and what it refuses. The rules are tried from the top, and the first that fits decides."
    >
      {isPending ? (
        <SkeletonRows label="Reading the policy…" count={4} rowClassName="h-16" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <PolicyEditor policy={data} />
      )}
      <GrantsGroup />
    </SettingsPage>
  )
}
