import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { Select, type SelectOption } from '#renderer/ui/Select.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import {
  type ActivitySettings,
  changeActivitySettings,
  getActivitySettings,
} from '#shared/contract/activitySettings.ts'
import { SettingsCard, SettingsGroup, SettingsPage, SettingsRow } from '../SettingsPage.tsx'

const unlimitedOption = 'ever'

const settingsKey = ['activity', 'settings'] as const

export function ActivitySection() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: settingsKey,
    queryFn: () => agent(getActivitySettings, {}),
  })
  const changing = useMutation({
    mutationFn: (change: Partial<ActivitySettings>) => agent(changeActivitySettings, change),
    onSuccess: (changed) => queryClient.setQueryData(settingsKey, changed),
    onError: (error) => notify.failed(error),
  })
  // Shows the selection until it is saved.
  const pending = changing.isPending ? changing.variables : {}
  return (
    <SettingsPage
      title="Activity"
      description="The activity log and terminal recordings, stored only on this computer."
    >
      {isPending ? (
        <SkeletonRows label="Loading settings…" count={3} rowClassName="h-12" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <Settings settings={{ ...data, ...pending }} onChange={changing.mutate} />
      )}
    </SettingsPage>
  )
}

type SettingsProps = {
  settings: ActivitySettings
  onChange: (change: Partial<ActivitySettings>) => void
}

function Settings({ settings, onChange }: SettingsProps) {
  const { keep_entries_days: entries, record_terminals: records, keep_recordings_days: recordings } = settings
  return (
    <>
      <SettingsCard>
        <SettingsRow
          label="Keep entries"
          hint="Older entries are removed permanently. The log records each removal, and the rest can still be verified."
        >
          <div className="w-44">
            <Select
              label="Keep entries"
              labelHidden
              value={formatDaysOption(entries)}
              options={buildRetentionOptions(entries, [30, 90, 365], true)}
              onChange={(option) => onChange({ keep_entries_days: parseDaysOption(option) })}
            />
          </div>
        </SettingsRow>
      </SettingsCard>
      <SettingsGroup title="Terminal recordings">
        <SettingsCard>
          <div className="px-3.5 py-2.5">
            <Checkbox
              label="Record terminals"
              hint="Records the output of new terminals, including any passwords shown. Only you can read the files. Your input is recorded only where the terminal shows it."
              checked={records}
              onChange={(checked) => onChange({ record_terminals: checked })}
            />
          </div>
          <SettingsRow label="Keep recordings" hint="Older recordings are deleted.">
            <div className="w-44">
              <Select
                label="Keep recordings"
                labelHidden
                value={formatDaysOption(recordings)}
                options={buildRetentionOptions(recordings, [1, 7, 14, 30, 90])}
                onChange={(option) => onChange({ keep_recordings_days: parseDaysOption(option) ?? recordings })}
              />
            </div>
          </SettingsRow>
          <SettingsRow label="Recordings" hint="Replay, save or delete them.">
            <a href={buildAddress('activity', 'recordings')} className="font-medium text-accent hover:underline">
              Show recordings
            </a>
          </SettingsRow>
        </SettingsCard>
      </SettingsGroup>
    </>
  )
}

/** Returns the choices, including a current value that is not a preset. */
function buildRetentionOptions(
  present: number | null,
  offered: readonly number[],
  orForEver?: boolean,
): SelectOption<string>[] {
  const days = present === null || offered.includes(present) ? offered : [...offered, present].toSorted((a, b) => a - b)
  return [
    ...days.map((count) => ({ value: String(count), label: formatDays(count) })),
    ...(orForEver ? [{ value: unlimitedOption, label: 'Forever' }] : []),
  ]
}

function formatDaysOption(days: number | null): string {
  return days === null ? unlimitedOption : String(days)
}

function parseDaysOption(option: string): number | null {
  return option === unlimitedOption ? null : Number(option)
}

function formatDays(days: number): string {
  if (days === 365) return 'For 1 year'
  return days === 1 ? 'For 1 day' : `For ${days} days`
}
