import { useEffect, useRef, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import type { SandboxId } from '#shared/ids.ts'
import { type Bell, createBell } from '../view/bell.ts'
import { readPreferences } from '../view/preferences/preferencesStore.ts'

export type Marks = {
  unread: ReadonlySet<string>
  add(terminalId: string): void
}

/**
 * The service reports output once a second. Output reported this soon after a terminal was hidden was already visible.
 */
const outputGracePeriodMs = 1_500
/** Time after which a hidden terminal is detached and no longer reports its own bell. */
const detachDelayMs = 7_000

type MarksOptions = {
  sandboxId: SandboxId
  visibleIds: readonly string[]
  getLabel: (terminalId: string) => string
}

/** Tracks which hidden terminals of a sandbox have new output. */
export function useMarks({ sandboxId, visibleIds, getLabel }: MarksOptions): Marks {
  const [unread, setUnread] = useState<ReadonlySet<string>>(new Set())
  const leftAtMs = useRef(new Map<string, number>())
  const bells = useRef(new Map<string, Bell>())
  const written = visibleIds.join()
  const seen = [...unread].filter((id) => visibleIds.includes(id))
  if (seen.length > 0) setUnread(new Set([...unread].filter((id) => !seen.includes(id))))

  useEffect(() => {
    const left = leftAtMs.current
    return () => {
      for (const id of written.split(',')) left.set(id, performance.now())
    }
  }, [written])

  const add = (id: string) => {
    if (!visibleIds.includes(id)) setUnread((before) => (before.has(id) ? before : new Set([...before, id])))
  }
  useLiveEvent((event) => {
    if (event.type !== 'terminal.output' || event.sandbox_id !== sandboxId) return
    const id = event.session_id
    const leftMs = performance.now() - (leftAtMs.current.get(id) ?? Number.NEGATIVE_INFINITY)
    if (leftMs > outputGracePeriodMs) add(id)
    if (event.bell && leftMs > detachDelayMs && !visibleIds.includes(id)) ringing(id).ring()
  })

  function ringing(id: string): Bell {
    const present = bells.current.get(id)
    const current = present ?? createBell({ terminalId: id, label: () => getLabel(id), preferences: readPreferences })
    bells.current.set(id, current)
    return current
  }
  return { unread, add }
}
