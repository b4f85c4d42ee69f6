import type { ImportFormat } from '#shared/contract/chatLibrary.ts'

/** Parsed conversation of another program. */
export type ImportedConversation = {
  /** Id in the export. A conversation is imported only once. */
  sourceId: string
  title: string
  createdAtMs: number | undefined
  updatedAtMs: number | undefined
  systemPrompt: string
  nodes: ImportedNode[]
  /** Last message of the branch that was shown. */
  leafId: string | undefined
}

/** Message of an export. Nodes with the role `hidden` are skipped: their children are attached to their parent. */
export type ImportedNode = {
  id: string
  parentId: string | undefined
  role: 'user' | 'assistant' | 'hidden'
  text: string
  /** Reasoning of a hidden node, which belongs to the following assistant message. */
  reasoning: string
  model: string | undefined
  atMs: number | undefined
}

/** Export format of another program. */
export type ExportFormat = {
  name: ImportFormat
  isConversation(value: UnknownRecord): boolean
  /** @throws Error with a readable message if the conversation cannot be imported */
  read(value: UnknownRecord): ImportedConversation
}

export type UnknownRecord = Readonly<Record<string, unknown>>

export function toObject(value: unknown): UnknownRecord | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UnknownRecord) : undefined
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function toObjects(value: unknown): UnknownRecord[] {
  return toList(value).flatMap((item) => {
    const object = toObject(item)
    return object ? [object] : []
  })
}

/** Replaces lone surrogates, which databases reject. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value.toWellFormed() : ''
}

export function toId(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined
}

/** Parses seconds, milliseconds, microseconds or nanoseconds since 1970, or a date string. */
export function toTime(value: unknown): number | undefined {
  const ms =
    typeof value === 'number' ? toMilliseconds(value) : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(ms) && ms > 0 && ms < 4_102_444_800_000 ? Math.round(ms) : undefined
}

function toMilliseconds(value: number): number {
  if (value > 1e17) return value / 1e6
  if (value > 1e14) return value / 1e3
  return value > 1e11 ? value : value * 1e3
}
