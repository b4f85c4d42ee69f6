import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { kindNames, requesterNames } from '#shared/contract/intentLabels.ts'
import { IntentKind, type PolicyRule, RequesterKind } from '#shared/contract/intents.ts'
import type { RuleDraft } from './policyDraft.ts'

const effects = [
  { value: 'allow', label: 'Allow', detail: 'Signed at once.' },
  { value: 'ask', label: 'Ask me', detail: 'Waits in Approvals.' },
  { value: 'deny', label: 'Deny', detail: 'Refused at once.' },
] as const satisfies readonly { value: PolicyRule['effect']; label: string; detail: string }[]

const kinds = [
  { value: '*', label: 'Anything' },
  ...IntentKind.options.map((value) => ({ value, label: kindNames[value] })),
] as const

const requesters = [
  { value: '*', label: 'Anyone' },
  ...RequesterKind.options.map((value) => ({ value, label: requesterNames[value] })),
] as const

/** Grid columns of the fields, and of their headings in wide windows. */
export const ruleColumns =
  'grid-cols-[7rem_minmax(8rem,1fr)_minmax(8rem,1.15fr)_minmax(8rem,1fr)_5rem] max-wide:grid-cols-2'

type RuleFieldsProps = {
  rule: RuleDraft
  faults: { host?: string; amount?: string } | undefined
  onChange: (part: Partial<RuleDraft>) => void
}

export function RuleFields({ rule, faults, onChange }: RuleFieldsProps) {
  return (
    <div className={`grid gap-1.5 ${ruleColumns}`}>
      <Select
        label="Effect"
        labelHidden
        value={rule.effect}
        onChange={(effect) => onChange({ effect })}
        options={effects}
      />
      <Select label="Action" labelHidden value={rule.kind} onChange={(kind) => onChange({ kind })} options={kinds} />
      <Select
        label="Requester"
        labelHidden
        value={rule.requester}
        onChange={(requester) => onChange({ requester })}
        options={requesters}
      />
      <TextField
        label="Host"
        labelHidden
        value={rule.host}
        onChange={(host) => onChange({ host })}
        error={faults?.host}
        placeholder="* for any"
        monospaced
      />
      <TextField
        label="Up to, in dollars"
        labelHidden
        value={rule.amount}
        onChange={(amount) => onChange({ amount })}
        error={faults?.amount}
        placeholder="Any"
        inputMode="decimal"
      />
    </div>
  )
}
