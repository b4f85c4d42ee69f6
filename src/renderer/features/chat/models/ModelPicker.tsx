import { Command } from 'cmdk'
import { Brain, Check, ChevronDown, Columns2, Image, KeyRound, Search } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactElement, useId, useState } from 'react'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { useLayers } from '#renderer/ui/Layers.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import { getProviderTitle } from '#shared/contract/families.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import { useModels } from '../data/useModels.ts'
import { formatContext, formatPrice } from '../money/amounts.ts'
import { formatModels, groupModels, hasProvider, isPriced } from './modelGroups.ts'

type ModelPickerProps = {
  chosen: readonly string[]
  onChange: (models: string[]) => void
  /** Trigger element. Defaults to a button that shows the selection. */
  children?: ReactElement
  /** Whether only one model can be selected. */
  single?: boolean
  open?: boolean
  onOpenChange?: (open: boolean) => void
}

/** Searchable list of models with prices and capabilities. Providers without a key offer to add one. */
export function ModelPicker({ chosen, onChange, children, single = false, ...controlled }: ModelPickerProps) {
  const [openHere, setOpenHere] = useState(false)
  const open = controlled.open ?? openHere
  const setOpen = controlled.onOpenChange ?? setOpenHere
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        {children ?? (
          <button
            type="button"
            aria-label={`Model: ${formatModels(chosen)}`}
            className="inline-flex h-7 min-w-0 max-w-64 items-center gap-1 rounded-control px-2 text-small text-muted hover:bg-hover hover:text-text aria-expanded:bg-selected"
          >
            <span className="truncate">{formatModels(chosen)}</span>
            <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          </button>
        )}
      </Popover.Trigger>
      <Popover.Portal container={useLayers()}>
        <Popover.Content
          align="start"
          side="top"
          sideOffset={6}
          collisionPadding={8}
          aria-label="Models"
          className="animate-appear z-50 flex max-h-[min(30rem,var(--radix-popover-content-available-height))] w-[min(30rem,calc(100vw-1rem))] flex-col overflow-hidden rounded-card bg-raised text-text shadow-popover outline-none"
        >
          <ModelList chosen={chosen} onChange={onChange} single={single} onDone={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

type ModelListProps = {
  chosen: readonly string[]
  onChange: (models: string[]) => void
  single: boolean
  onDone: () => void
}

function ModelList({ chosen, onChange, single, onDone }: ModelListProps) {
  const { data: models, error, isPending } = useModels()
  const [query, setQuery] = useState('')
  const [several, setSeveral] = useState(chosen.length > 1)
  const groups = groupModels(models ?? [], query)
  const present = chosen.filter((name) => models?.some(({ id }) => id === name) ?? true)
  const choose = (name: string) => {
    if (single || !several) {
      onChange([name])
      onDone()
      return
    }
    const next = present.includes(name) ? present.filter((it) => it !== name) : [...present, name]
    if (next.length > 0 && next.length <= chatLimits.models) onChange(next)
  }
  const full = several && present.length >= chatLimits.models
  return (
    <Command label="Models" shouldFilter={false} loop className="flex min-h-0 flex-1 flex-col">
      <div className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-3">
        <Search aria-hidden className="size-3.5 shrink-0 text-faint" />
        <Command.Input
          placeholder="Find a model"
          value={query}
          onValueChange={setQuery}
          className="h-full min-w-0 flex-1 bg-transparent outline-none"
        />
        <span aria-hidden className="text-small text-faint max-narrow:hidden">
          $ per million in / out
        </span>
      </div>
      <Command.List label="Models" className="min-h-0 flex-1 overflow-auto p-1">
        {isPending && <p className="px-2.5 py-4 text-muted">Loading models…</p>}
        {error && <p className="px-2.5 py-4 text-negative">{error.message}</p>}
        {models && groups.length === 0 && <p className="px-2.5 py-4 text-muted">No matching model.</p>}
        {groups.map(({ provider, available, models: members }) => (
          <Command.Group
            key={provider}
            heading={
              <span className="flex h-7 items-center justify-between px-2 text-small">
                <span className="font-medium text-faint">{getProviderTitle(provider)}</span>
                {!available && <span className="text-faint">No key yet</span>}
              </span>
            }
          >
            {members.map((model) => (
              <ModelRow
                key={model.id}
                model={model}
                isChosen={present.includes(model.id)}
                disabled={full && !present.includes(model.id)}
                onChoose={() => choose(model.id)}
              />
            ))}
            {!available && (
              <Command.Item
                value={`key ${provider}`}
                onSelect={() => {
                  onDone()
                  goTo('settings', 'models')
                }}
                className="flex h-8 select-none items-center gap-2 rounded-control px-2 text-accent aria-selected:bg-selected"
              >
                <KeyRound aria-hidden className="size-3.5 shrink-0" />
                Add a key for {getProviderTitle(provider)}
              </Command.Item>
            )}
          </Command.Group>
        ))}
      </Command.List>
      {!single && (
        <div className="flex shrink-0 items-center gap-2 border-t border-line px-3 py-2">
          <Columns2 aria-hidden className="size-3.5 shrink-0 text-muted" />
          <Checkbox
            label={`Compare up to ${chatLimits.models} models side by side`}
            checked={several}
            onChange={(next) => {
              setSeveral(next)
              if (!next && present[0] !== undefined && present.length > 1) onChange([present[0]])
            }}
          />
        </div>
      )}
    </Command>
  )
}

type ModelRowProps = { model: ListedModel; isChosen: boolean; disabled: boolean; onChoose: () => void }

function ModelRow({ model, isChosen, disabled, onChoose }: ModelRowProps) {
  const { id, available, context_window: context, images, reasoning, pricing } = model
  const facts = useId()
  const price = isPriced(model)
    ? `${formatPrice(pricing.input_per_million)} / ${formatPrice(pricing.output_per_million)}`
    : 'price unknown'
  return (
    <Command.Item
      value={id}
      disabled={disabled || !available}
      onSelect={onChoose}
      aria-describedby={facts}
      className="flex h-8 select-none items-center gap-2 rounded-control px-2 aria-disabled:opacity-60 aria-selected:bg-selected"
    >
      <Check aria-hidden className={joinClassNames('size-3.5 shrink-0 text-accent', !isChosen && 'invisible')} />
      <span className="min-w-0 flex-1 truncate">
        {id}
        {isChosen && <span className="sr-only"> (chosen)</span>}
      </span>
      <span id={facts} className="flex shrink-0 items-center gap-2 text-small text-muted tabular-nums">
        {reasoning && <Mark icon={Brain} label="Reasoning" />}
        {images && hasProvider(model) && <Mark icon={Image} label="Accepts images" />}
        <span title="Context" className="w-9 text-right">
          <span className="sr-only">Context </span>
          {formatContext(context)}
        </span>
        <span title="Input / output, per million tokens" className="w-24 text-right">
          <span className="sr-only">Per million tokens, input and output </span>
          {price}
        </span>
      </span>
    </Command.Item>
  )
}

function Mark({ icon: Icon, label }: { icon: typeof Brain; label: string }) {
  return (
    <span title={label}>
      <Icon aria-hidden className="size-3.5 text-faint" />
      <span className="sr-only">{label}. </span>
    </span>
  )
}
