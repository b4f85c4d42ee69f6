import { createPortToken, type ExposedPort } from '#shared/contract/ports.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { showErrorNotice } from '../showErrorNotice.ts'

/** Opens it in a tab of the browser; a private one with a token that no server sees. `path` begins with `/`. */
export function useOpenPort(): (sandbox: Pick<Sandbox, 'id'>, port: ExposedPort, path?: string) => Promise<void> {
  const agent = useAgent()
  return async ({ id }, { port, url, visibility }, path = '/') => {
    await showErrorNotice(`Port ${port} was not opened`, async () => {
      const address =
        visibility === 'public'
          ? url.replace(/\/$/, '') + path
          : `${(await agent(createPortToken, { id, port })).open_url}&to=${encodeURIComponent(path)}`
      window.open(address, '_blank', 'noopener')
    })
  }
}
