import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import { buildTabLabels } from '../sessions/tabLabels.ts'

export type MatchGroup = { id: string; title: string; matches: readonly TerminalMatch[] }

type GroupSources = { sandboxes: readonly Sandbox[]; listCachedTerminals: (sandboxId: string) => TerminalList }

/** By terminal, in the order in which they came; named as their tabs are. */
export function matchGroups(
  matches: readonly TerminalMatch[],
  { sandboxes, listCachedTerminals }: GroupSources,
): MatchGroup[] {
  const groups = new Map<string, TerminalMatch[]>()
  for (const match of matches) groups.set(match.session_id, [...(groups.get(match.session_id) ?? []), match])
  return [...groups].map(([id, own]) => {
    const sandboxId = own[0]?.sandbox_id ?? ''
    const name = buildTabLabels(listCachedTerminals(sandboxId)).get(id) ?? id
    const sandbox = sandboxes.find((it) => it.id === sandboxId)?.name
    return { id, title: sandbox === undefined ? name : `${sandbox} › ${name}`, matches: own }
  })
}
