import { Bot } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { sanitizeLine } from '#shared/shownLine.ts'

type Typist = { conversationId: string; title: string; count: number }

const visibleMs = 10_000

/** Says that a model typed into this terminal, and leads to its chat. */
export function InputByNotice({ terminalId }: { terminalId: string }) {
  const [typist, setTypist] = useState<Typist>()
  useLiveEvent((event) => {
    if (event.type !== 'terminal.typed' || event.session_id !== terminalId) return
    const { conversation_id: conversationId, title } = event
    setTypist((before) => ({ conversationId, title: sanitizeLine(title, 60), count: (before?.count ?? 0) + 1 }))
  })
  useEffect(() => {
    if (!typist) return
    const timer = setTimeout(() => setTypist(undefined), visibleMs)
    return () => clearTimeout(timer)
  }, [typist])
  if (!typist) return null
  return (
    <a
      href={buildAddress('chat', typist.conversationId)}
      className="animate-appear absolute top-2 right-4 z-10 flex max-w-80 items-center gap-1.5 rounded-control border border-edge bg-raised px-2 py-1 text-small text-text shadow-popover hover:underline"
    >
      <Bot aria-hidden className="size-3.5 shrink-0 text-accent" />
      <span className="truncate">“{typist.title}” typed here</span>
    </a>
  )
}
