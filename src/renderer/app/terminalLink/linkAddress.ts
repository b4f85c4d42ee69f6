import { SandboxId } from '../../../shared/ids.ts'

/** The sandbox that the address of a terminal link names: `/terminal/:id`. */
export function linkedSandbox({ pathname }: Pick<Location, 'pathname'>): SandboxId | undefined {
  return SandboxId.safeParse(pathname.match(/\/terminal\/([^/]+)\/?$/)?.[1]).data
}

/** A reload of the tab finds the token here; another tab or a later visit does not. */
export function keptToken(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  sandboxId: SandboxId,
  given: string | undefined,
): string | undefined {
  const key = `steward.link.${sandboxId}`
  if (given !== undefined) storage.setItem(key, given)
  return given ?? storage.getItem(key) ?? undefined
}
