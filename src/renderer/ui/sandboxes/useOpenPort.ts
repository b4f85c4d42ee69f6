import { createPortToken, type ExposedPort } from '#shared/contract/ports.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { showErrorNotice } from '../showErrorNotice.ts'

/**
 * Returns a function that opens a port in a browser tab. A private port is opened with a token in the URL fragment,
 * which browsers do not send to servers. `path` starts with `/`.
 */
export function useOpenPort(): (sandbox: Pick<Sandbox, 'id'>, port: ExposedPort, path?: string) => Promise<void> {
  const agent = useAgent()
  return async ({ id }, { port, url, visibility }, path = '/') => {
    await showErrorNotice(`Could not open port ${port}`, async () => {
      const address =
        visibility === 'public'
          ? url.replace(/\/$/, '') + path
          : `${(await agent(createPortToken, { id, port })).open_url}&to=${encodeURIComponent(path)}`
      window.open(address, '_blank', 'noopener')
    })
  }
}
