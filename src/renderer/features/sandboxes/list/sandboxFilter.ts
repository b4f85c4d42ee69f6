import type { Sandbox } from '#shared/contract/sandboxes.ts'

/** With more of them a field to look for one stands above the list. */
export const filterFrom = 9

/** A shorter word may begin the id of any. */
const minId = 4

type Looked = Pick<Sandbox, 'id' | 'name' | 'status' | 'image' | 'runtime'>

/** Every word must be somewhere: in the name, the beginning of the id, the status, the image or the runtime. */
export function fits({ id, name, status, image, runtime }: Looked, written: string): boolean {
  const words = written.toLowerCase().split(/\s+/)
  const text = [name, status, image ?? '', runtime].join(' ').toLowerCase()
  return words.every((word) => text.includes(word) || (word.length >= minId && id.startsWith(word)))
}
