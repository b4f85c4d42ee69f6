import { SandboxId } from '#shared/ids.ts'
import type { TextStore } from '../../storage/textStore.ts'

/** The sandbox that the address of a terminal link names: `/terminal/:id`. */
export function readLinkedSandbox({ pathname }: Pick<Location, 'pathname'>): SandboxId | undefined {
  return SandboxId.safeParse(pathname.match(/\/terminal\/([^/]+)\/?$/)?.[1]).data
}

/** A reload of the tab finds the token here; another tab or a later visit does not. */
export function storeToken(
  store: Pick<TextStore, 'get' | 'set'>,
  sandboxId: SandboxId,
  token: string | undefined,
): string | undefined {
  const key = `steward.link.${sandboxId}`
  if (token !== undefined) store.set(key, token)
  return token ?? store.get(key) ?? undefined
}
