import { useQueries, useQueryClient } from '@tanstack/react-query'
import { listPorts } from '#shared/contract/ports.ts'
import {
  addSandboxDomain,
  listSandboxDomains,
  removeSandboxDomain,
  type SandboxDomain,
} from '#shared/contract/sandboxDomains.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { readAgain } from '../../api/readAgain.ts'
import { showErrorNotice } from '../showErrorNotice.ts'
import { notify } from '../toast.tsx'
import { useOpenPort } from './useOpenPort.ts'

export const sandboxDomainsKey = ['sandbox domains'] as const

export type NamedSandbox = Pick<Sandbox, 'id' | 'name'>

/** Domain name that points to a sandbox. */
export type SandboxName = { sandbox: NamedSandbox; name: SandboxDomain }

/** Returns known domains that point to these sandboxes, and updates them on events. */
export function useSandboxDomains(sandboxes: readonly NamedSandbox[], enabled = true): SandboxName[] {
  const agent = useAgent()
  const results = useQueries({
    queries: sandboxes.map(({ id }) => ({
      queryKey: [...sandboxDomainsKey, id],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await agent(listSandboxDomains, { id }, { signal })).domains,
      enabled,
    })),
  })
  return sandboxes.flatMap((sandbox, index) => (results[index]?.data ?? []).map((name) => ({ sandbox, name })))
}

/** Returns actions on domains that point to a sandbox. Errors are shown as notices. */
export function useSandboxDomainActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const openPort = useOpenPort()
  return {
    /**
     * Opens the name's URL if the service has a public address. Otherwise opens the URL of its port, which requires no
     * DNS and shares no cookies with sibling names.
     */
    async open({ sandbox, name }: SandboxName): Promise<void> {
      if (name.dns_target !== null) return void window.open(name.url, '_blank', 'noopener')
      const ports = await showErrorNotice(`Could not open ${name.domain}`, () => agent(listPorts, { id: sandbox.id }))
      const port = ports?.ports.find((it) => it.port === name.port)
      if (port) await openPort(sandbox, port)
      else if (ports) notify.done(`Port ${name.port} is not exposed`, { hint: 'Expose it in the sandbox details.' })
    },
    /** @returns whether the domain was removed */
    async remove({ sandbox, name }: SandboxName): Promise<boolean> {
      const { domain, port } = name
      const target = { id: sandbox.id, domain }
      const removed = await showErrorNotice(`Could not remove ${domain} from ${sandbox.name}`, () =>
        agent(removeSandboxDomain, target),
      )
      await readAgain(queryClient, [...sandboxDomainsKey, sandbox.id])
      if (!removed) return false
      const restore = async (): Promise<void> => {
        await showErrorNotice(`Could not add ${domain}`, () =>
          agent(addSandboxDomain, { ...target, ...(port && { port }) }),
        )
        await readAgain(queryClient, [...sandboxDomainsKey, sandbox.id])
      }
      notify.done(`Removed ${domain} from ${sandbox.name}`, {
        action: { label: 'Undo', run: () => void restore() },
      })
      return true
    },
  }
}
