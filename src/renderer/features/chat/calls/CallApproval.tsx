import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useToolServerActions, useToolServers } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { useDecisionView } from '#renderer/ui/decisionContext.ts'
import { goTo } from '#renderer/ui/route.ts'
import { notify } from '#renderer/ui/toast.tsx'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { decideIntent, getIntent } from '#shared/contract/intents.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'
import { chatKeys } from '../data/keys.ts'

/**
 * Approval of a pending call. Calls that move money or sign are shown in full, as in Approvals, before they can be
 * approved.
 */
export function CallApproval({ call: { intent_id: id, note, tool } }: { call: ChatCall }) {
  const agent = useAgent()
  const [busy, setBusy] = useState(false)
  const [whole, setWhole] = useState(false)
  const Decision = useDecisionView()
  const { data: intent } = useQuery({
    queryKey: [...chatKeys.intents, id],
    queryFn: ({ signal }) => agent(getIntent, { intentId: id ?? '' }, { signal }),
    enabled: id !== null,
  })
  const allowAlways = useAlwaysAllowed(tool)
  if (id === null) return null
  const isTool = intent?.kind === 'tool.call'
  const review = () => goTo('approvals', id)
  const decide = async (approve: boolean, always = false) => {
    setBusy(true)
    try {
      if (always) await allowAlways?.()
      await agent(decideIntent, { intentId: id, approve })
    } catch (error) {
      notify.failed(error, { action: { label: 'Review', run: review } })
    } finally {
      setBusy(false)
    }
  }
  if (whole) {
    return (
      <div className="border-t border-line bg-raised p-4">
        <Decision intentId={id} />
      </div>
    )
  }
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line bg-caution-soft px-2.5 py-2">
      <div className="min-w-40 flex-1 break-words">
        <p>{note ?? 'This needs your approval.'}</p>
        {intent && !isTool && <p className="text-small text-muted">{intent.sentence}</p>}
      </div>
      <Button size="small" disabled={busy} onClick={() => void decide(false)}>
        Deny
      </Button>
      {isTool && (
        <Button size="small" onClick={review}>
          Review
        </Button>
      )}
      {isTool && allowAlways && (
        <Button size="small" disabled={busy} onClick={() => void decide(true, true)}>
          Always allow
        </Button>
      )}
      {isTool ? (
        <Button size="small" variant="primary" disabled={busy} onClick={() => void decide(true)}>
          Approve
        </Button>
      ) : (
        <Button size="small" variant="primary" onClick={() => setWhole(true)}>
          Review and approve
        </Button>
      )}
    </div>
  )
}

/**
 * Returns an action that allows this version of a third-party tool to run without approval from now on.
 * @returns undefined for other tools
 */
function useAlwaysAllowed(alias: string): (() => Promise<unknown>) | undefined {
  const { data: servers = [] } = useToolServers()
  const { agree } = useToolServerActions()
  const server = servers.find(({ name }) => name === parseServerName(alias))
  const tool = server?.tools.find((candidate) => candidate.alias === alias && candidate.enabled)
  return server && tool && (() => agree(server.id, [{ ...tool, ask: false }]))
}
