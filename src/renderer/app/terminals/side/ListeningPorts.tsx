import { ExternalLink } from 'lucide-react'
import { useListening, usePortActions, usePorts } from '#renderer/features/sandboxes/details/ports/usePorts.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { showErrorNotice } from '#renderer/ui/showErrorNotice.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'

type ListeningPortsProps = { sandbox: Sandbox; visible: boolean }

/** Suggests servers of a sandbox while its panel is closed. Opening one first assigns it a private address. */
export function ListeningPorts({ sandbox, visible }: ListeningPortsProps) {
  const listening = useListening(sandbox, visible)
  const { data: exposed } = usePorts(sandbox, visible)
  const actions = usePortActions(sandbox)
  const [first] = listening ?? []
  if (!listening || first === undefined) return null

  const open = (number: number) =>
    showErrorNotice(`Could not open port ${number}`, async () => {
      const present = exposed?.find(({ port }) => port === number)
      await actions.open(present ?? (await actions.expose({ port: number, visibility: 'private' })))
    })
  if (listening.length === 1) {
    return (
      <Button size="small" variant="ghost" icon={ExternalLink} onClick={() => void open(first)}>
        {first} listening · Open
      </Button>
    )
  }
  const items = listening.map((port) => ({
    label: `Open ${port}`,
    icon: ExternalLink,
    onSelect: () => void open(port),
  }))
  return (
    <Menu items={items} align="end">
      <Button size="small" variant="ghost" icon={ExternalLink}>
        {listening.length} ports listening
      </Button>
    </Menu>
  )
}
