import { Pencil, RotateCcw, Trash2 } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { ZoneRow } from './zoneEdits.ts'

export const recordColumns =
  'grid grid-cols-[4rem_8rem_minmax(0,1fr)_5rem_4rem] max-narrow:grid-cols-[4.25rem_5rem_minmax(0,1fr)_4rem] items-center gap-3'

const words = { same: undefined, added: 'Added', changed: 'Changed', removed: 'Removed' } as const

type RecordRowProps = { row: ZoneRow; onEdit: () => void; onRemove: () => void; onRestore: () => void }

export function RecordRow({ row: { record, state }, onEdit, onRemove, onRestore }: RecordRowProps) {
  const { type, host, value, ttl, distance } = record
  const name = `${type} ${host}`
  const isRemoved = state === 'removed'
  return (
    <li
      data-state={state}
      className={joinClassNames(
        recordColumns,
        'min-h-9 border-b border-line py-1.5',
        state === 'added' && 'bg-positive-soft',
        state === 'changed' && 'bg-caution-soft',
        isRemoved && 'bg-negative-soft',
      )}
    >
      <span className="pl-1.5 font-medium">{type}</span>
      <span className={joinClassNames('truncate font-mono text-small', isRemoved && 'line-through')}>{host}</span>
      <span className="min-w-0">
        <span className={joinClassNames('block font-mono text-small break-all', isRemoved && 'line-through')}>
          {distance !== null && <span className="text-muted">{distance} </span>}
          {value}
        </span>
        {state !== 'same' && <span className="text-small text-muted">{words[state]}</span>}
      </span>
      <span className="text-small text-muted tabular-nums max-narrow:hidden">{ttl} s</span>
      <span className="flex justify-end">
        {state === 'changed' || isRemoved ? (
          <IconButton size="small" icon={RotateCcw} label={`Restore ${name}`} onClick={onRestore} />
        ) : (
          <IconButton size="small" icon={Pencil} label={`Edit ${name}`} onClick={onEdit} />
        )}
        {!isRemoved && <IconButton size="small" icon={Trash2} label={`Delete ${name}`} onClick={onRemove} />}
      </span>
    </li>
  )
}
