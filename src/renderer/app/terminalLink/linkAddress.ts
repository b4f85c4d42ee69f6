import { SandboxId } from '#shared/ids.ts'
import type { TextStore } from '../../ui/storage/textStore.ts'

/** The sandbox that the address of a terminal link names: `/terminal/:id`. */
export function linkedSandbox({ pathname }: Pick<Location, 'pathname'>): SandboxId | undefined {
  return SandboxId.safeParse(pathname.match(/\/terminal\/([^/]+)\/?$/)?.[1]).data
}

/** A reload of the tab finds the token here; another tab or a later visit does not. */
export function keptToken(
  store: Pick<TextStore, 'get' | 'set'>,
  sandboxId: SandboxId,
  given: string | undefined,
): string | undefined {
  const key = `steward.link.${sandboxId}`
  if (given !== undefined) store.set(key, given)
  return given ?? store.get(key) ?? undefined
}
