import type { ToolClient, ToolPolicy, ToolProfile } from '#shared/contract/toolClients.ts'

export const profileOptions: readonly { value: ToolProfile; label: string; detail: string }[] = [
  { value: 'all', label: 'Everything', detail: 'All tools.' },
  { value: 'read-only', label: 'Read only', detail: 'Reads everything, changes nothing.' },
  { value: 'sandboxes', label: 'Sandboxes', detail: 'Sandboxes, terminals, files and ports.' },
  { value: 'domains', label: 'Domains', detail: 'Domains and DNS, including purchases.' },
  { value: 'money', label: 'Money', detail: 'Credits, wallet and x402 payments.' },
  {
    value: 'code',
    label: 'Code',
    detail: 'Two tools: search operations, and run programs that call them. Fewest tokens.',
  },
]

export const changeOptions: readonly { value: ToolPolicy['changes']; label: string; detail: string }[] = [
  { value: 'allow', label: 'Allow', detail: 'Creates and changes without asking.' },
  { value: 'ask', label: 'Ask me', detail: 'Each change waits in Approvals.' },
  { value: 'deny', label: 'Deny', detail: 'Refused at once.' },
]

export const destroyOptions: readonly { value: ToolPolicy['destroys']; label: string; detail: string }[] = [
  { value: 'ask', label: 'Ask me', detail: 'Each deletion waits in Approvals.' },
  { value: 'deny', label: 'Deny', detail: 'Refused at once. Payments too.' },
  { value: 'allow', label: 'Allow', detail: 'Deletes without asking. Payments still follow your policies.' },
]

export function getProfileName(profile: ToolProfile): string {
  return profileOptions.find(({ value }) => value === profile)?.label ?? profile
}

const changeLabels = { allow: 'changes', ask: 'asks before changes', deny: 'changes nothing' } as const
const destroyLabels = { allow: 'deletes', ask: 'asks before deleting', deny: 'deletes nothing' } as const

/** Describes a policy, such as `Changes, asks before it deletes`. */
export function describePolicy({
  policy,
  dry_run,
  profile,
}: Pick<ToolClient, 'policy' | 'dry_run' | 'profile'>): string {
  if (profile === 'read-only') return 'Reads only'
  if (dry_run) return 'Dry run: changes nothing'
  const words = `${changeLabels[policy.changes]}, ${destroyLabels[policy.destroys]}`
  return words.charAt(0).toUpperCase() + words.slice(1)
}
