import type { Tone } from '#renderer/ui/StatusDot.tsx'
import type { ExternalTool, ToolServer, UntrustedText } from '#shared/contract/toolServers.ts'

/** Returns the URL or command of a server, such as `https://mcp.example/mcp`. */
export function formatEndpoint({ place }: Pick<ToolServer, 'place'>): string {
  return place.kind === 'http' ? place.url : place.command
}

export function listChangedTools({ tools }: Pick<ToolServer, 'tools'>): readonly ExternalTool[] {
  return tools.filter(({ changed_from }) => changed_from !== null)
}

export function describeServerState(server: ToolServer): { tone: Tone; words: string } {
  const { enabled, fault, listed_at, tools } = server
  if (fault !== null) return { tone: 'negative', words: 'Not connected' }
  if (listChangedTools(server).length > 0) return { tone: 'caution', words: 'Needs your review' }
  if (listed_at === null) return { tone: 'neutral', words: enabled ? 'On, not tested' : 'Off, not tested' }
  if (!enabled) return { tone: 'neutral', words: 'Off' }
  const on = tools.filter((it) => it.enabled).length
  return { tone: on > 0 ? 'positive' : 'caution', words: on > 0 ? 'On' : 'On, all tools off' }
}

/** Formats a count such as `3 of 12 tools on`. */
export function describeToolCount({ tools }: Pick<ToolServer, 'tools'>): string {
  const on = tools.filter(({ enabled }) => enabled).length
  return `${on} of ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'} on`
}

const hintLabels = { reads: 'read-only', destroys: 'may delete', 'open-world': 'reaches other systems' } as const

/** Formats the hints of a tool, such as `The server says: read-only`. */
export function describeHints({ hints }: Pick<ExternalTool, 'hints'>): string {
  return hints.length === 0 ? '' : `The server says: ${hints.map((it) => hintLabels[it]).join(', ')}`
}

export type ChangedLine = { sign: '+' | '−' | ' '; text: string }

/** Returns the added and removed lines of a tool's text. */
export function diffLines(before: UntrustedText, after: UntrustedText): ChangedLine[] {
  return diffLineLists(listLines(before), listLines(after))
}

function listLines({ title, description, input_schema }: UntrustedText): string[] {
  return [
    ...(title === null ? [] : [`Title: ${title}`]),
    ...description.split('\n'),
    ...JSON.stringify(input_schema, null, 2).split('\n'),
  ]
}

/** Number of lines above which no diff is computed; all old and all new lines are returned instead. */
const maxLines = 800

/** Computes a diff by the longest common subsequence of lines. */
function diffLineLists(before: readonly string[], after: readonly string[]): ChangedLine[] {
  if (before.length > maxLines || after.length > maxLines) return [...toRemoved(before), ...come(after)]
  const lengths = before.map(() => new Uint16Array(after.length + 1))
  lengths.push(new Uint16Array(after.length + 1))
  const at = (a: number, b: number): number => lengths[a]?.[b] ?? 0
  for (let one = before.length - 1; one >= 0; one -= 1) {
    for (let other = after.length - 1; other >= 0; other -= 1) {
      const row = lengths[one]
      if (!row) continue
      const same = before[one] === after[other]
      row[other] = same ? at(one + 1, other + 1) + 1 : Math.max(at(one + 1, other), at(one, other + 1))
    }
  }
  const result: ChangedLine[] = []
  let [one, other] = [0, 0]
  while (one < before.length && other < after.length) {
    if (before[one] === after[other]) {
      result.push({ sign: ' ', text: before[one] ?? '' })
      one += 1
      other += 1
    } else if (at(one + 1, other) >= at(one, other + 1)) {
      result.push({ sign: '−', text: before[one] ?? '' })
      one += 1
    } else {
      result.push({ sign: '+', text: after[other] ?? '' })
      other += 1
    }
  }
  return [...result, ...toRemoved(before.slice(one)), ...come(after.slice(other))]
}

function toRemoved(lines: readonly string[]): ChangedLine[] {
  return lines.map((text) => ({ sign: '−', text }))
}

function come(lines: readonly string[]): ChangedLine[] {
  return lines.map((text) => ({ sign: '+', text }))
}
