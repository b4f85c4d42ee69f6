import { GripVertical, Trash2, TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useLayoutEffect, useRef } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { describeRule } from '#shared/contract/intentLabels.ts'
import { type RuleDraft, toPolicyRule } from './policyDraft.ts'
import { RuleFields } from './RuleFields.tsx'

export type RuleDrag = {
  isDragged: boolean
  isTarget: boolean
  onStart: () => void
  onOver: () => void
  onEnd: () => void
}

type RuleRowProps = {
  rule: RuleDraft
  place: number
  count: number
  faults: { host?: string; amount?: string } | undefined
  warnings: readonly string[]
  onChange: (part: Partial<RuleDraft>) => void
  onRemove: () => void
  onMove: (place: number) => void
  drag: RuleDrag
}

export function RuleRow({ rule, place, count, faults, warnings, onChange, onRemove, onMove, drag }: RuleRowProps) {
  return (
    <li
      aria-label={`Rule ${place + 1}`}
      onDragOver={(event) => {
        event.preventDefault()
        drag.onOver()
      }}
      className={joinClassNames(
        'flex items-start gap-1.5 py-2.5 pr-2 pl-1.5',
        drag.isDragged && 'opacity-50',
        drag.isTarget && 'bg-accent-soft',
      )}
    >
      <MoveHandle place={place} count={count} onMove={onMove} drag={drag} />
      <div className="min-w-0 flex-1">
        <RuleFields rule={rule} faults={faults} onChange={onChange} />
        <p className="mt-1.5 text-small text-muted">{describeRule(toPolicyRule(rule))}</p>
        {warnings.map((warning) => (
          <p key={warning} className="mt-0.5 flex items-start gap-1.5 text-small text-caution">
            <TriangleAlert aria-hidden className="mt-0.5 size-3 shrink-0" />
            <span>
              <span className="font-semibold">Warning:</span> {warning}
            </span>
          </p>
        ))}
      </div>
      <IconButton label={`Remove rule ${place + 1}`} icon={Trash2} onClick={onRemove} className="mt-0.5" />
    </li>
  )
}

type MoveHandleProps = Pick<RuleRowProps, 'place' | 'count' | 'onMove' | 'drag'>

function MoveHandle({ place, count, onMove, drag }: MoveHandleProps) {
  const handle = useRef<HTMLButtonElement>(null)
  const moved = useRef(false)
  useLayoutEffect(() => {
    // Moving a row in the DOM drops the focus.
    if (moved.current && place >= 0) handle.current?.focus()
    moved.current = false
  }, [place])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = place + step
    if (next < 0 || next >= count) return
    moved.current = true
    onMove(next)
  }
  return (
    <button
      ref={handle}
      type="button"
      draggable
      title="Drag, or press ↑ and ↓"
      aria-label={`Move rule ${place + 1} of ${count}: drag, or press the up and down arrows`}
      onKeyDown={onKeyDown}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = 'move'
        event.dataTransfer.setData('text/plain', String(place + 1))
        drag.onStart()
      }}
      onDragEnd={drag.onEnd}
      className="mt-0.5 flex h-7 w-5 shrink-0 cursor-grab items-center justify-center rounded-small text-faint hover:bg-hover hover:text-text"
    >
      <GripVertical aria-hidden className="size-4" />
    </button>
  )
}
