import { useQuery } from '@tanstack/react-query'
import { listPorts } from '#shared/contract/ports.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { exposedPortsKey, useSandboxes } from '../../api/sandboxes/useSandboxes.ts'
import { Select } from '../Select.tsx'

/** `port` is undefined if the sandbox has no exposed port. */
export type SandboxPort = { sandboxId: string; port: number | undefined }

type SandboxPortFieldsProps = {
  value: SandboxPort | undefined
  onChange: (value: SandboxPort) => void
}

export function SandboxPortFields({ value, onChange }: SandboxPortFieldsProps) {
  const agent = useAgent()
  const { data: sandboxes = [], isPending } = useSandboxes()
  const ports = useQuery({
    queryKey: [...exposedPortsKey, value?.sandboxId],
    queryFn: async ({ signal }) => (await agent(listPorts, { id: value?.sandboxId ?? '' }, { signal })).ports,
    enabled: value !== undefined,
    staleTime: 0,
  })
  if (!isPending && sandboxes.length === 0) return <p className="text-muted">Create a sandbox first.</p>
  return (
    <div className="grid grid-cols-2 gap-3">
      <Select
        label="Sandbox"
        value={value?.sandboxId ?? ''}
        onChange={(sandboxId) => onChange({ sandboxId, port: undefined })}
        options={sandboxes.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <Select
        label="Exposed port"
        hint={ports.data?.length === 0 ? 'Expose a port of this sandbox first.' : undefined}
        value={value?.port === undefined ? '' : String(value.port)}
        disabled={!ports.data || ports.data.length === 0}
        onChange={(port) => value && onChange({ ...value, port: Number(port) })}
        options={(ports.data ?? []).map(({ port }) => ({ value: String(port), label: String(port) }))}
      />
    </div>
  )
}
