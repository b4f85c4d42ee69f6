import { ArrowDown } from 'lucide-react'
import { type Observable, useObservable } from './observable.ts'
import type { Place } from './readingPlace.ts'

type NewOutputPillProps = { place: Observable<Place>; onJump: () => void }

/** For who reads further up: something came, and one click leads there. */
export function NewOutputPill({ place, onJump }: NewOutputPillProps) {
  const news = useObservable(place) === 'news'
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-2.5 z-10 flex justify-center">
      <span role="status" className="sr-only">
        {news && 'New output below'}
      </span>
      {news && (
        <button
          type="button"
          onClick={onJump}
          className="animate-appear pointer-events-auto flex h-7 items-center gap-1.5 rounded-full bg-raised pr-3 pl-2.5 text-small font-medium text-accent shadow-popover hover:bg-control-hover"
        >
          <ArrowDown aria-hidden className="size-3.5" />
          New output
        </button>
      )}
    </div>
  )
}
