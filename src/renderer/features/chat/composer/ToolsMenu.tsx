import { Wrench } from 'lucide-react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { useToolServers } from '#renderer/api/useToolServers.ts'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import type { ChatTools } from '#shared/contract/chatTools.ts'

type ToolsMenuProps = {
  tools: ChatTools
  onTools: (tools: Partial<ChatTools>) => void
  /** Opens the profile and limits. Undefined if no chat exists yet. */
  onMore: (() => void) | undefined
}

/** Maximum number of listed sandboxes. Others can be selected by naming them in a message. */
const maxSandboxes = 12

/** Menu that selects whether models of this chat may call tools, and in which sandbox. */
export function ToolsMenu({ tools, onTools, onMore }: ToolsMenuProps) {
  const { data: sandboxes = [] } = useSandboxes()
  const { data: servers = [] } = useToolServers()
  const attached = sandboxes.find(({ id }) => id === tools.sandbox_id)
  const words = !tools.enabled ? 'Tools off' : attached ? `Tools: ${attached.name}` : 'Tools on'
  // Removed servers are not sent.
  const used = tools.servers.filter((id) => servers.some((it) => it.id === id))
  const offered = servers.filter(({ enabled, id }) => enabled || used.includes(id))
  const items: MenuItem[] = [
    { label: 'Off', checked: !tools.enabled, onSelect: () => onTools({ enabled: false }) },
    {
      label: 'On',
      checked: tools.enabled && tools.sandbox_id === null,
      onSelect: () => onTools({ enabled: true, sandbox_id: null }),
    },
    ...sandboxes.slice(0, maxSandboxes).map(({ id, name, short_id }) => ({
      label: sandboxes.some((sandbox) => sandbox.id !== id && sandbox.name === name)
        ? `In ${name} (${short_id})`
        : `In ${name}`,
      checked: tools.enabled && tools.sandbox_id === id,
      onSelect: () => onTools({ enabled: true, sandbox_id: id }),
    })),
    ...(offered.length > 0 ? (['separator'] as const) : []),
    ...offered.map(({ id, name }) => ({
      label: `Tools of ${name}`,
      toggles: true,
      checked: used.includes(id),
      disabled: !tools.enabled || tools.profile !== 'all',
      onSelect: () => onTools({ servers: used.includes(id) ? used.filter((it) => it !== id) : [...used, id] }),
    })),
    ...(onMore ? (['separator', { label: 'Profile and limits…', onSelect: onMore }] as const) : []),
  ]
  return (
    <Menu items={items} side="top">
      <button
        type="button"
        className={joinClassNames(
          'inline-flex h-7 max-w-44 items-center gap-1.5 rounded-control px-2 text-small hover:bg-hover aria-expanded:bg-hover',
          tools.enabled ? 'text-accent' : 'text-muted',
        )}
      >
        <Wrench aria-hidden className="size-3.5 shrink-0" />
        <span className="truncate">{words}</span>
      </button>
    </Menu>
  )
}
