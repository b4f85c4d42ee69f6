import { Lock, Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { SettingsGroup } from '../SettingsPage.tsx'
import { findRuleWarnings } from './describeRule.ts'
import { createRule, type DraftFaults, type RuleDraft, toPolicyRule, withRuleAt } from './policyDraft.ts'
import { ruleColumns } from './RuleFields.tsx'
import { RuleRow } from './RuleRow.tsx'

type RuleListProps = {
  rules: readonly RuleDraft[]
  faults: DraftFaults['rules']
  onChange: (rules: RuleDraft[]) => void
}

/** Built-in rules of the policy. The first precedes the user's rules; the second applies if no rule matches. */
const builtInRules = [
  { sentence: 'Only you may sign messages.', note: 'Rules can’t change this.' },
  { sentence: 'Steward may sign in to the service it is connected to.', note: 'Unless one of your rules matches.' },
] as const

/** List of rules. A rule is moved by dragging its handle, or with the arrow keys on it. */
export function RuleList({ rules, faults, onChange }: RuleListProps) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<number>()
  const [announcement, setAnnouncement] = useState('')

  const move = (id: string, place: number) => {
    if (place < 0 || place >= rules.length) return
    onChange(withRuleAt(rules, id, place))
    setAnnouncement(`Rule moved to position ${place + 1} of ${rules.length}.`)
  }
  const drop = () => {
    if (dragged !== undefined && over !== undefined) move(dragged, over)
    setDragged(undefined)
    setOver(undefined)
  }

  return (
    <SettingsGroup
      title="Rules"
      actions={
        <Button
          icon={Plus}
          disabled={rules.length >= 100}
          onClick={() => onChange([...rules, createRule(crypto.randomUUID())])}
        >
          Add rule
        </Button>
      }
    >
      <div className="divide-y divide-line rounded-card border border-line">
        {rules.length > 0 && <RuleHeadings />}
        <ol aria-label="Rules" className="divide-y divide-line">
          {rules.map((rule, place) => (
            <RuleRow
              key={rule.id}
              rule={rule}
              place={place}
              count={rules.length}
              faults={faults.get(rule.id)}
              warnings={findRuleWarnings(toPolicyRule(rule), rules.slice(0, place).map(toPolicyRule))}
              onChange={(part) =>
                onChange(rules.map((ruleDraft) => (ruleDraft.id === rule.id ? { ...ruleDraft, ...part } : ruleDraft)))
              }
              onRemove={() => onChange(rules.filter((it) => it.id !== rule.id))}
              onMove={(next) => move(rule.id, next)}
              drag={{
                isDragged: dragged === rule.id,
                isTarget: dragged !== undefined && dragged !== rule.id && over === place,
                onStart: () => setDragged(rule.id),
                onOver: () => setOver(place),
                onEnd: drop,
              }}
            />
          ))}
        </ol>
        <ul aria-label="Built-in rules" className="divide-y divide-line">
          {builtInRules.map(({ sentence, note }) => (
            <li key={sentence} className="flex items-start gap-2 px-3.5 py-2.5">
              <Lock aria-hidden className="mt-0.5 size-3.5 shrink-0 text-faint" />
              <span className="min-w-0 flex-1">
                {sentence} <span className="text-muted">{note}</span>
              </span>
              <span className="shrink-0 text-small text-faint">Built in</span>
            </li>
          ))}
        </ul>
        <p className="bg-panel px-3.5 py-2.5 text-muted">Everything else asks you.</p>
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
    </SettingsGroup>
  )
}

/** Hidden from screen readers, because each field has an accessible name. */
function RuleHeadings() {
  return (
    <div
      aria-hidden
      className={`grid gap-1.5 bg-panel py-1 pr-10.5 pl-8 text-small font-medium text-faint max-wide:hidden ${ruleColumns}`}
    >
      {['Effect', 'Action', 'Requester', 'Host', 'Up to $'].map((heading) => (
        <span key={heading} className="px-0.5">
          {heading}
        </span>
      ))}
    </div>
  )
}
