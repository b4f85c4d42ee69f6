import { X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useUnsaved } from '#renderer/ui/unsaved/useUnsaved.ts'
import type { Conversation } from '#shared/contract/chats.ts'
import type { Changes } from '../data/useChatActions.ts'
import { formatCost, formatTokens } from '../money/amounts.ts'
import { BudgetSettings } from './BudgetSettings.tsx'
import { LimitFields } from './LimitFields.tsx'
import {
  type Faults,
  type SettingsDraft,
  toConversationChanges,
  toSettingsDraft,
  validateDraft,
} from './settingsDraft.ts'
import { ToolSettings } from './ToolSettings.tsx'

type ConversationSettingsProps = {
  conversation: Conversation
  /** Whether the dialog was opened to change the limits. */
  atLimits: boolean
  onChange: (changes: Changes) => Promise<unknown>
  onClose: () => void
}

const efforts = [
  { value: 'default', label: 'Model default' },
  { value: 'none', label: 'None' },
  { value: 'minimal', label: 'Minimal' },
  { value: 'low', label: 'Low' },
  { value: 'medium', label: 'Medium' },
  { value: 'high', label: 'High' },
  { value: 'xhigh', label: 'Extra high' },
  { value: 'max', label: 'Maximum' },
] as const

export function ConversationSettings({ conversation, atLimits, onChange, onClose }: ConversationSettingsProps) {
  const [draft, setDraft] = useState(() => toSettingsDraft(conversation))
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const isChanged = JSON.stringify(draft) !== JSON.stringify(toSettingsDraft(conversation))
  useUnsaved(isChanged, ['chat', conversation.id])
  const faults = validateDraft(draft)
  const limits = useRef<HTMLFieldSetElement>(null)
  useEffect(() => {
    if (!atLimits) return
    limits.current?.scrollIntoView({ block: 'center' })
    limits.current?.querySelector<HTMLElement>('input')?.focus()
  }, [atLimits])
  const edit = (part: Partial<SettingsDraft>) => setDraft((before) => ({ ...before, ...part }))

  const save = async () => {
    setTried(true)
    if (busy || Object.keys(faults).length > 0) return
    setBusy(true)
    setFailure(undefined)
    try {
      await onChange(toConversationChanges(draft))
      setTried(false)
    } catch (refusal) {
      setFailure(refusal)
    } finally {
      setBusy(false)
    }
  }
  const visibleFaults = tried
    ? faults
    : { ...faults, ...Object.fromEntries(Object.keys(faults).map((key) => [key, undefined])) }
  return (
    <section aria-label="Chat settings" className="flex size-full min-h-0 flex-col bg-panel">
      <header className="flex h-11 shrink-0 items-center justify-between border-b border-line pr-1.5 pl-3">
        <h3 className="font-semibold">Chat settings</h3>
        <IconButton label="Close settings" icon={X} onClick={onClose} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard */}
      <div tabIndex={0} className="min-h-0 flex-1 overflow-y-auto outline-offset-[-2px]">
        <form
          noValidate
          aria-label="Chat settings"
          onSubmit={(event) => {
            event.preventDefault()
            void save()
          }}
          className="flex flex-col gap-4 border-b border-line p-3"
        >
          <ModelFields draft={draft} onChange={edit} faults={visibleFaults} />
          <ToolSettings tools={draft.tools} onChange={(tools) => edit({ tools })} faults={visibleFaults} />
          <fieldset ref={limits} className="flex flex-col gap-3">
            <legend className="mb-1.5 font-medium">Spending limit for this chat</legend>
            <Checkbox
              label="Use custom limits"
              checked={draft.ownLimits}
              onChange={(ownLimits) => edit({ ownLimits })}
            />
            {draft.ownLimits && (
              <LimitFields
                limits={draft.limits}
                onChange={(limits) => edit({ limits })}
                faults={{ soft: visibleFaults.soft, hard: visibleFaults.hard }}
              />
            )}
          </fieldset>
          {failure !== undefined && <ErrorNotice error={failure} />}
          <div className="flex justify-end gap-2">
            <Button size="small" onClick={() => setDraft(toSettingsDraft(conversation))} disabled={!isChanged || busy}>
              Discard
            </Button>
            <Button size="small" type="submit" variant="primary" busy={busy} disabled={!isChanged}>
              Save
            </Button>
          </div>
        </form>
        <Spent conversation={conversation} />
        <BudgetSettings />
      </div>
    </section>
  )
}

type ModelFieldsProps = {
  draft: SettingsDraft
  onChange: (part: Partial<SettingsDraft>) => void
  faults: Faults
}

function ModelFields({ draft, onChange, faults }: ModelFieldsProps) {
  return (
    <>
      <TextAreaField
        label="System prompt"
        rows={5}
        placeholder="Instructions for the whole chat"
        value={draft.systemPrompt}
        onChange={(systemPrompt) => onChange({ systemPrompt })}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Temperature"
          inputMode="decimal"
          placeholder="Default"
          value={draft.temperature}
          onChange={(temperature) => onChange({ temperature })}
          error={faults.temperature}
        />
        <TextField
          label="Top P"
          inputMode="decimal"
          placeholder="Default"
          value={draft.topP}
          onChange={(topP) => onChange({ topP })}
          error={faults.topP}
        />
        <TextField
          label="Max tokens"
          inputMode="numeric"
          placeholder="Default"
          value={draft.maxTokens}
          onChange={(maxTokens) => onChange({ maxTokens })}
          error={faults.maxTokens}
        />
        <TextField
          label="Seed"
          inputMode="numeric"
          placeholder="None"
          value={draft.seed}
          onChange={(seed) => onChange({ seed })}
          error={faults.seed}
        />
      </div>
      <Select
        label="Reasoning effort"
        value={draft.effort}
        onChange={(effort) => onChange({ effort })}
        options={efforts}
      />
      <TextAreaField
        label="Stop sequences"
        rows={2}
        hint="One per line, at most 4."
        value={draft.stop}
        onChange={(stop) => onChange({ stop })}
        error={faults.stop}
      />
    </>
  )
}

function Spent({ conversation: { spend } }: { conversation: Conversation }) {
  const rows: [string, string][] = [
    ['Cost', `${spend.estimated ? '~' : ''}${formatCost(spend.cost_micro_usd)}`],
    ['Saved by caching', formatCost(Math.max(0, spend.saved_micro_usd))],
    ['Input tokens', formatTokens(spend.input_tokens)],
    ['Cached input tokens', formatTokens(spend.cached_tokens)],
    ['Output tokens', formatTokens(spend.output_tokens)],
    ['Responses', formatTokens(spend.answers)],
  ]
  return (
    <section aria-label="Spent in this chat" className="border-b border-line p-3">
      <h4 className="mb-1.5 font-medium">Spent in this chat</h4>
      <dl className="grid grid-cols-2 gap-x-3 gap-y-0.5 tabular-nums">
        {rows.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="text-right">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
