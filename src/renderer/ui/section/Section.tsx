import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'
import { usePersisted } from '../../storage/usePersisted.ts'
import { joinClassNames } from '../classNames.ts'

const storedFolds = persistValue('steward.details.folds', z.record(z.string(), z.boolean()), {})

type SectionProps = {
  /** Key under which the open state is stored. */
  id: string
  title: string
  /** Text beside the title, such as a count. */
  note?: ReactNode
  /** Buttons at the right, shown while the section is open. */
  actions?: ReactNode
  foldedAtFirst?: boolean
  /** Mounted only while the section is open, so that a collapsed section reads nothing. */
  children: ReactNode
}

export function Section({ id, title, note, actions, foldedAtFirst = false, children }: SectionProps) {
  const [open, setOpen] = useFold(id, !foldedAtFirst)
  const titleId = useId()
  return (
    <section aria-labelledby={titleId} className="border-b border-line">
      <header className="flex h-8 items-center pr-1.5">
        <h3 id={titleId} className="flex min-w-0 flex-1">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="flex h-8 min-w-0 flex-1 items-center gap-1.5 pl-2 text-left font-medium text-text hover:bg-hover focus-visible:-outline-offset-2"
          >
            <ChevronRight
              aria-hidden
              className={joinClassNames(
                'size-3.5 shrink-0 text-faint transition-transform duration-100',
                open && 'rotate-90',
              )}
            />
            <span className="truncate">{title}</span>
            {note !== undefined && <span className="text-small font-normal text-faint tabular-nums">{note}</span>}
          </button>
        </h3>
        {open && actions}
      </header>
      {open && <div className="px-3 pt-0.5 pb-3">{children}</div>}
    </section>
  )
}

/** Returns whether a section is open. The state is shared by all sandboxes. */
function useFold(id: string, openAtFirst: boolean): [open: boolean, setOpen: (open: boolean) => void] {
  const folds = usePersisted(storedFolds)
  return [folds[id] ?? openAtFirst, (open) => storedFolds.write({ ...storedFolds.read(), [id]: open })]
}
