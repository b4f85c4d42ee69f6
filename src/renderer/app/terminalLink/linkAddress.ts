import { SandboxId } from '#shared/ids.ts'
import type { TextStore } from '../../storage/textStore.ts'

/** Returns the sandbox id in the path of a terminal link, `/terminal/:id`. */
export function readLinkedSandbox({ pathname }: Pick<Location, 'pathname'>): SandboxId | undefined {
  return SandboxId.safeParse(pathname.match(/\/terminal\/([^/]+)\/?$/)?.[1]).data
}

/** Stores the token for reloads of this tab. Other tabs and later visits cannot read it. */
export function storeToken(
  store: Pick<TextStore, 'get' | 'set'>,
  sandboxId: SandboxId,
  token: string | undefined,
): string | undefined {
  const key = `steward.link.${sandboxId}`
  if (token !== undefined) store.set(key, token)
  return token ?? store.get(key) ?? undefined
}
