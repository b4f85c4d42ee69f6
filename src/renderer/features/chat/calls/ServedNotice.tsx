import { useToolServers } from '#renderer/api/useToolServers.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { goTo } from '#renderer/ui/route.ts'
import type { ChatCall } from '#shared/contract/chatTools.ts'
import { parseServerName } from '#shared/contract/toolServers.ts'

/** The server described this tool otherwise than the person allowed it, so the call did not run. */
export function ServedNotice({ call: { tool: alias } }: { call: ChatCall }) {
  const { data: servers = [] } = useToolServers()
  const server = servers.find(({ name }) => name === parseServerName(alias))
  const tool = server?.tools.find((it) => it.alias === alias)
  if (!server || tool?.changed_from == null) return null
  return (
    <div className="flex flex-wrap items-center gap-2 border-t border-line bg-caution-soft px-2.5 py-2">
      <p className="min-w-40 flex-1">{`“${server.name}” changed this tool. It is off until you look at the change.`}</p>
      <Button size="small" variant="primary" onClick={() => goTo('settings', 'tool-servers')}>
        Review change
      </Button>
    </div>
  )
}
