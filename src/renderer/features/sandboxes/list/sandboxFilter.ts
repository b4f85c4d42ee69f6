import type { Sandbox } from '#shared/contract/sandboxes.ts'

/** Number of sandboxes from which a search field is shown. */
export const minSandboxesForFilter = 9

/** Minimum length of a query term matched against ids. A shorter one would match too many. */
const minIdLength = 4

type SearchableSandbox = Pick<Sandbox, 'id' | 'name' | 'status' | 'image' | 'runtime'>

/** Whether a sandbox matches a query. Each term must occur in the name, status, image or runtime, or start the id. */
export function matchesQuery({ id, name, status, image, runtime }: SearchableSandbox, written: string): boolean {
  const words = written.toLowerCase().split(/\s+/)
  const text = [name, status, image ?? '', runtime].join(' ').toLowerCase()
  return words.every((word) => text.includes(word) || (word.length >= minIdLength && id.startsWith(word)))
}
